import { collect, escapeForDisplay } from '../../bytes/index.js';
import { createError, type ErrorCode, isJsonObject, isToolkitError, type JsonObject, parseJson, type ToolkitError } from '../../core/index.js';
import type { HttpResponse } from '../../http/index.js';
import type { RegistryAddress } from './address.js';

/** Error documents and token answers are short; what is longer is not read. */
const errorBytes = 64 * 1024;
const shownCharacters = 300;

/** What a registry said with a status that was not wanted. */
export interface Refusal {
  readonly status: number;
  /** Codes of the specification, such as `MANIFEST_UNKNOWN`. */
  readonly codes: readonly string[];
  /** In its own words, cut and without control characters. */
  readonly said: string;
}

/** Reads the body of an unwanted answer: JSON of the specification, or the HTML of some proxy. Never throws for what it holds. */
export async function readRefusal(response: HttpResponse): Promise<Refusal> {
  const { status } = response;
  const errors = listErrors(await readBody(response));
  const said = errors.map(({ code, message, detail }) => [code, message ?? detail].filter((part) => typeof part === 'string').join(': ')).join('; ');
  return {
    status,
    codes: errors.flatMap(({ code }) => (typeof code === 'string' ? [code] : [])),
    said: escapeForDisplay(said.slice(0, shownCharacters)),
  };
}

async function readBody(response: HttpResponse): Promise<Uint8Array> {
  try {
    return await collect(response.body, errorBytes, 'an error message');
  } catch {
    return new Uint8Array(0);
  } finally {
    response.drop();
  }
}

function listErrors(bytes: Uint8Array): readonly JsonObject[] {
  try {
    const json = parseJson(bytes, 'error message', { bytes: errorBytes });
    const list = isJsonObject(json) ? json['errors'] : undefined;
    return Array.isArray(list) ? list.filter(isJsonObject).slice(0, 4) : [];
  } catch (error) {
    if (isToolkitError(error)) return [];
    throw error;
  }
}

const kinds: readonly { readonly statuses: readonly number[]; readonly code: ErrorCode; readonly reason: string }[] = [
  { statuses: [401], code: 'registry/login', reason: 'it asks for a login' },
  { statuses: [403], code: 'registry/denied', reason: 'this is not allowed' },
  { statuses: [404], code: 'registry/not-found', reason: 'it is not there' },
  { statuses: [405, 501], code: 'registry/unsupported', reason: 'this registry does not do that' },
  { statuses: [408, 425, 429, 503], code: 'registry/busy', reason: 'it is too busy' },
  { statuses: [413], code: 'registry/refused', reason: 'it is larger than this registry takes' },
  { statuses: [500, 502, 504], code: 'registry/interrupted', reason: 'it failed inside' },
];

/** `action` completes "Cannot …". */
export function toRefusalError(action: string, refusal: Refusal, { host, quirks }: RegistryAddress): ToolkitError {
  const { status, said } = refusal;
  const { code, reason } = kinds.find(({ statuses }) => statuses.includes(status)) ?? {
    code: status >= 400 && status < 500 ? ('registry/refused' as const) : ('registry/bad-answer' as const),
    reason: 'the answer is not one of those that were expected',
  };
  return createError(code, {
    message: `Cannot ${action}: ${host} answered ${status}, ${said === '' ? reason : said}`,
    hint: toHint(code, host, quirks.refusalHint),
    where: host,
  });
}

function toHint(code: ErrorCode, host: string, special: string | undefined): string | undefined {
  if (code === 'registry/login') return `Log in: \`modelport login ${host}\``;
  if (special !== undefined) return special;
  if (code === 'registry/denied') return `Ask for the right to do this, or log in as somebody else: \`modelport login ${host}\``;
  if (code === 'registry/not-found')
    return `\`modelport list ${host}/REPOSITORY\` shows what is there; a private repository hides from those who are not logged in`;
  if (code === 'registry/busy') return 'Run the same command again later: it goes on where it stopped';
  return undefined;
}

/** A login page with status 200 is no document of a registry. `action` completes "Cannot …". */
export function assertIsNoPage(contentType: string | undefined, bytes: Uint8Array, action: string): void {
  if (!/html/i.test(contentType ?? '') && bytes[0] !== 0x3c) return;
  throw createError('registry/bad-answer', {
    message: `Cannot ${action}: expected JSON, found a web page`,
    hint: 'The address is not that of a registry, or something between here and there asks for a login',
  });
}
