import type { ServerResponse } from 'node:http';
import { sizeMismatch } from '../../../bytes/index.js';
import { type ByteStream, createError } from '../../../core/index.js';
import type { RegistryResponse } from '../http.js';
import type { Interruption } from './interruption.js';
import type { PeerWatch } from './peer-watch.js';

export interface Outgoing {
  readonly response: ServerResponse;
  readonly watch: PeerWatch;
  /** Comes when the client is gone. */
  readonly gone: Interruption;
  /** The connection is not used again. */
  readonly isLast: boolean;
  /** Nothing has to be done between the last byte and the end. */
  readonly endsAtOnce: boolean;
  readonly method: string;
}

/** At a time, so that a slow reader is seen to make progress. (measured: as fast as a megabyte) */
const writeBytes = 64 * 1024;

/**
 * Sends head and body. Ending the response is left to the caller, except for a small one that ends at once. What is thrown before the head is sent can still be answered; when `headersSent` the
 * only thing left is to cut the connection, so that nobody takes the body for whole. Resolves when the system has taken all, or the client is gone.
 */
export async function sendResponse(outgoing: Outgoing, answer: RegistryResponse): Promise<void> {
  const { body } = answer;
  const length = lengthOf(answer);
  if (body === undefined || outgoing.method === 'HEAD') sendHead(outgoing, answer);
  else if (typeof body === 'function') await sendStream(outgoing, answer, await body(), length);
  else await sendBytes(outgoing, answer, body, length);
}

function sendHead({ response, isLast }: Outgoing, { status, headers }: RegistryResponse): void {
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [name, value] : value.flatMap((each) => [name, each]),
  );
  response.writeHead(status, isLast ? [...fields, 'Connection', 'close'] : fields);
}

function lengthOf({ headers }: RegistryResponse): number | undefined {
  const length = headers['Content-Length'];
  return length === undefined ? undefined : Number(length);
}

async function sendBytes(outgoing: Outgoing, answer: RegistryResponse, body: Uint8Array, length: number | undefined): Promise<void> {
  if (length !== undefined && length !== body.byteLength) throw sizeMismatch('an answer', length, String(body.byteLength));
  sendHead(outgoing, answer);
  if (outgoing.endsAtOnce && body.byteLength <= writeBytes) outgoing.response.end(body);
  else if (body.byteLength > 0) await write(outgoing, body);
}

/** A chunk is with the system before the second next one is asked for. */
async function sendStream(outgoing: Outgoing, answer: RegistryResponse, stream: ByteStream, length: number | undefined): Promise<void> {
  const { gone } = outgoing;
  const iterator = stream[Symbol.asyncIterator]();
  let before: Promise<unknown> = Promise.resolve();
  let size = 0;
  try {
    // The first step opens what is behind it, and may fail.
    let step = await gone.wait(iterator.next());
    sendHead(outgoing, answer);
    for (; step !== undefined && step.done !== true; step = await gone.wait(iterator.next())) {
      size += step.value.byteLength;
      if (length !== undefined && size > length) throw sizeMismatch('an answer', length, `at least ${size}`);
      await before;
      if (step.value.byteLength > 0) before = write(outgoing, step.value);
    }
    await before;
    if (step === undefined) throw createError('registry/interrupted', { message: 'Cannot send the body: the client went away before its end' });
    if (length !== undefined && size < length) throw sizeMismatch('an answer', length, String(size));
  } finally {
    // Not awaited: a source that hangs would keep the connection.
    void Promise.resolve(iterator.return?.()).catch(() => {});
    await before;
  }
}

/** Failing shows in the connection being gone. One promise for all pieces: they are many. */
async function write({ response, watch, gone }: Outgoing, bytes: Uint8Array): Promise<void> {
  let done = 0;
  const taken = new Promise<true>((resolve) => {
    const writeNext = () => {
      if (done >= bytes.byteLength || gone.isOver) return resolve(true);
      const piece = bytes.subarray(done, done + writeBytes);
      done += piece.byteLength;
      watch.expect(piece.byteLength);
      response.write(piece, () => {
        watch.progress(piece.byteLength);
        writeNext();
      });
    };
    writeNext();
  });
  await gone.wait(taken);
  watch.rest();
}
