import { createError, type Limits, parseJson } from '../../core/index.js';
import { assertIsNoPage } from './answer.js';
import type { ApiCall, Connection } from './connection.js';
import { fetchWhole } from './whole-answer.js';

/** Whoever has more than this many pages has a fault. */
const mostPages = 10_000;

interface Page {
  readonly json: unknown;
  readonly link: string | undefined;
  readonly url: string;
}

/** Undefined for an answer that is accepted without being one. */
async function readPage(connection: Connection, call: ApiCall, limits: Limits): Promise<Page | undefined> {
  const { host } = connection.address;
  const { status, headers, url, bytes } = await fetchWhole(connection, call, limits.manifestBytes, `the answer of ${host}`);
  if (status !== 200) return undefined;
  assertIsNoPage(headers['content-type'], bytes, call.action);
  const json = parseJson(bytes, `${host}${call.target.split('?')[0] ?? ''}`, { bytes: limits.manifestBytes, depth: limits.jsonDepth });
  return { json, link: headers['link'], url };
}

/**
 * All pages of a list, one after the other, each as its JSON; ends at once where the first answer is an accepted 404. A list that leads
 * elsewhere, or to a page it gave before, throws `registry/bad-answer`.
 */
export async function* readPages(connection: Connection, call: ApiCall, limits: Limits): AsyncGenerator<unknown, void, undefined> {
  const seen = new Set<string>();
  for (let target: string | undefined = call.target; target !== undefined;) {
    if (seen.has(target) || seen.size >= mostPages) {
      throw createError('registry/bad-answer', {
        message: `Cannot ${call.action}: the pages of ${connection.address.host} go in a circle`,
        where: connection.address.host,
      });
    }
    seen.add(target);
    const page: Page | undefined = await readPage(connection, { ...call, target }, limits);
    if (page === undefined) return;
    yield page.json;
    target = findNext(page.link, page.url, connection);
  }
}

/** `Link: <…>; rel="next"`, of this registry only. (RFC 8288; distribution-spec 1.1, Listing Tags) */
function findNext(link: string | undefined, requested: string, { address }: Connection): string | undefined {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(link ?? '')?.[1];
  if (target === undefined || !URL.canParse(target, requested)) return undefined;
  const url = new URL(target, requested);
  if (url.hostname === new URL(address.origin).hostname) return `${url.pathname}${url.search}`;
  throw createError('registry/bad-answer', {
    message: `Cannot go on with the list of ${address.host}: its next page lies on another host, ${url.host}`,
    where: address.host,
  });
}
