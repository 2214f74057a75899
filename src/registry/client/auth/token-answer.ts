import { collect } from '../../../bytes/index.js';
import { createError, isJsonObject, isToolkitError, type JsonObject, parseJson } from '../../../core/index.js';
import type { HttpResponse } from '../../../http/index.js';

/** What a token service gave. */
export interface TokenAnswer {
  /** Fit for a header. */
  readonly token: string;
  /** In milliseconds, from when it was asked for. */
  readonly lifeMs: number;
  readonly refreshToken: string | undefined;
}

const answerBytes = 128 * 1024;

/** Services that say less mean this too. In seconds. (distribution, token authentication specification) */
const shortestLife = 60;

/** Reads the JSON of a successful answer. Throws `registry/bad-answer`, which never holds what was read. */
export async function readTokenAnswer(response: HttpResponse, host: string): Promise<TokenAnswer> {
  const answer = await readObject(response, host);
  const token = [answer['token'], answer['access_token']].find((value) => typeof value === 'string' && value !== '');
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw badAnswer(host, 'expected JSON with a `token` or `access_token` that fits into a header, found none');
  }
  const { expires_in: life, refresh_token: refreshToken } = answer;
  const seconds = typeof life === 'number' && Number.isFinite(life) ? Math.max(life, shortestLife) : shortestLife;
  return { token, lifeMs: seconds * 1000, refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined };
}

async function readObject(response: HttpResponse, host: string): Promise<JsonObject> {
  try {
    const bytes = await collect(response.body, answerBytes, 'the answer of a token service');
    const value = parseJson(bytes, 'answer of a token service', { bytes: answerBytes });
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (isToolkitError(error, 'bytes/limit')) throw badAnswer(host, `it is longer than ${answerBytes} bytes`);
    // The cause would quote what was read.
    if (!isToolkitError(error, 'core/bad-json')) throw error;
  } finally {
    response.drop();
  }
  throw badAnswer(host, 'expected a JSON object, found something else');
}

function badAnswer(host: string, reason: string): Error {
  return createError('registry/bad-answer', { message: `Cannot use the answer of the token service of "${host}": ${reason}`, where: host });
}
