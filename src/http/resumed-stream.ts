import type { ByteStream } from '../core/index.js';
import type { FileRequests } from './file-requests.js';
import { isPassingError } from './retry.js';

/** Bytes that are on their way; `drop` gives up the rest. */
export interface OpenBody {
  readonly body: ByteStream;
  drop(): void;
}

/** Less is no progress: a server that breaks off after each byte is not asked for ever. */
const progressBytes = 64 * 1024;

/**
 * What `ask` gives from byte `start` on. Where it breaks off, `ask` is asked for the rest, as often as `requests` may try; tries that brought
 * something are not counted.
 */
export async function* resumedStream(ask: (position: number) => Promise<OpenBody>, start: number, requests: FileRequests): ByteStream {
  let position = start;
  for (let failures = 0; ;) {
    const before = position;
    const answer = await ask(position);
    try {
      for await (const chunk of answer.body) {
        position += chunk.byteLength;
        yield chunk;
      }
      return;
    } catch (error) {
      failures = position - before >= progressBytes ? 1 : failures + 1;
      if (!isPassingError(error, true) || failures >= requests.retry.attempts) throw requests.toError(error);
    } finally {
      answer.drop();
    }
    await requests.pause(failures + 1);
  }
}
