import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { toIoError } from '../../bytes/index.js';
import type { OpsContext } from '../context.js';
import { toAbsolute } from '../paths.js';

export interface LogFile {
  readonly stream: NodeJS.WritableStream;
  /** What was written is in the file when it resolves. */
  readonly close: () => Promise<void>;
}

/** The log goes to the end of a file, or to a stream that somebody else closes. One that cannot be written any more does not stop the server. */
export async function openLogFile(target: string | NodeJS.WritableStream, context: OpsContext): Promise<LogFile> {
  if (typeof target !== 'string') return { stream: target, close: async () => {} };
  const path = toAbsolute(target, context);
  // It says who asked for what.
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  try {
    await once(stream, 'open');
  } catch (error) {
    throw toIoError(error, 'write to', path);
  }
  stream.on('error', (error) => {
    const { message } = toIoError(error, 'write to', path);
    context.announce([{ level: 'warning', code: 'registry/access-log', message: `${message}; requests are served, and not logged any more` }]);
  });
  return {
    stream,
    close: async () => {
      if (stream.destroyed) return;
      stream.end();
      await finished(stream).catch(() => {});
    },
  };
}
