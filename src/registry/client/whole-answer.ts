import { collect } from '../../bytes/index.js';
import type { ApiCall, Connection } from './connection.js';
import { type HttpResponse, isPassingError, toDelay, wait } from '../../http/index.js';

const nothing = new Uint8Array(0);

/** An answer with all of its bytes; those of another status than 200 are left. */
export interface WholeAnswer extends Pick<HttpResponse, 'headers' | 'status' | 'url'> {
  readonly bytes: Uint8Array;
}

/**
 * Asks, and reads the answer to its end, at most `limit` bytes (`bytes/limit`). One that breaks off in its midst is asked for again. `what`
 * names it in errors.
 */
export async function fetchWhole(connection: Connection, call: ApiCall, limit: number, what: string): Promise<WholeAnswer> {
  const { retry } = connection;
  for (let attempt = 1; ; attempt++) {
    const response = await connection.call(call);
    try {
      const { headers, status, url } = response;
      return { headers, status, url, bytes: status === 200 ? await collect(response.body, limit, what) : nothing };
    } catch (error) {
      if (attempt >= retry.attempts || !isPassingError(error, true)) throw error;
      await wait(toDelay(attempt + 1, retry), call.signal);
    } finally {
      response.drop();
    }
  }
}
