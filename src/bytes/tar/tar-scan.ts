import type { RandomAccess } from '../../core/index.js';
import type { TarEntry, TarReadOptions } from './tar-entry.js';
import { TarParser } from './tar-parser.js';

/** Small entries are cheaper to read through than to jump over, large ones are not. */
const windowBytes = 64 * 1024;

/**
 * Lists an uncompressed tar without reading the contents of its large entries: same strictness as `readTar`, apart from what
 * only reading every byte can show.
 */
export async function scanTar(access: RandomAccess, options: TarReadOptions): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  const parser = new TarParser(options, (entry) => {
    entries.push(entry);
    return undefined;
  });
  for (let position = 0; position < access.size;) {
    const window = await access.read(position, Math.min(windowBytes, access.size - position));
    parser.push(window);
    position += window.byteLength;
    const hop = Math.min(parser.skippable, access.size - position);
    parser.hop(hop);
    position += hop;
  }
  parser.finish();
  return entries;
}
