import type { ByteStream } from '../../core/index.js';
import type { TarBody, TarEntry, TarReadOptions } from './tar-entry.js';
import { TarParser } from './tar-parser.js';

export type { TarBody, TarEntry, TarReadOptions } from './tar-entry.js';

/**
 * Reads an uncompressed tar (ustar, pax, GNU) to the very end of the stream, so that checks below it run too. `onEntry` says
 * where the content goes; undefined skips it. Throws `bytes/bad-archive` for what is damaged, cut off or could be read in
 * two ways, and `bytes/limit`. Paths and links are for the caller to judge.
 */
export async function readTar(stream: ByteStream, options: TarReadOptions, onEntry: (entry: TarEntry) => TarBody | undefined): Promise<void> {
  const parser = new TarParser(options, onEntry);
  for await (const chunk of stream) parser.push(chunk);
  parser.finish();
}
