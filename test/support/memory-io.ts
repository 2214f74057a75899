import { Readable, Writable } from 'node:stream';
import type { CliIo, OutputStream } from '../../src/cli/index.js';

/** A stream that keeps what is written to it, and may pretend to be a terminal. */
export interface MemoryStream extends OutputStream {
  text(): string;
}

export function createMemoryStream(terminal?: { readonly columns?: number; readonly rows?: number }): MemoryStream {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const facts = terminal === undefined ? {} : { isTTY: true, columns: 80, rows: 24, ...terminal };
  return Object.assign(stream, facts, { text: () => Buffer.concat(chunks).toString('utf8') });
}

export interface MemoryIo extends CliIo {
  readonly stdout: MemoryStream;
  readonly stderr: MemoryStream;
}

/** A world for one call of the program, with nothing of this machine in it. */
export function createMemoryIo(given: Partial<MemoryIo> = {}): MemoryIo {
  return {
    stdin: Readable.from([]),
    stdout: createMemoryStream(),
    stderr: createMemoryStream(),
    env: {},
    cwd: process.cwd(),
    signal: new AbortController().signal,
    ...given,
  };
}
