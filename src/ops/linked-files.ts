import { createError, type LinkedPart } from '../core/index.js';
import { showUrl } from '../http/index.js';
import type { FileCache } from '../store/index.js';
import type { OpsContext } from './context.js';
import { assertOnline, fetchLink, isOfThisMachine, namedLinks, toReason } from './fetch-link.js';
import { openCacheOf, openProven, type ProvenFile } from './proven-cache.js';

export { checkLinks } from './check-links.js';

export interface LinkedOptions {
  /** After decoding; `limits.linkedBytes` by default. */
  readonly maxBytes?: number;
}

/**
 * The bytes of a linked file: from the cache, else from the first of its URLs that gives them. None can be read before all of them were
 * hashed. Throws `http/offline`, `http/link-failed` with the reason of each URL, `bytes/limit`.
 */
export async function openLinked(linked: LinkedPart, context: OpsContext, options: LinkedOptions = {}): Promise<ProvenFile> {
  const { limits } = context;
  const maxBytes = Math.min(options.maxBytes ?? limits.linkedBytes, limits.linkedBytes);
  const file = await openProven(linked, (cache) => fetchAny(linked, cache, maxBytes, context), context);
  if (file.size > maxBytes) throw tooLarge(linked, file.size, maxBytes);
  return file;
}

/**
 * Several of them, by path; what the first one lacks stops all. Without the network the error names every file that is not here. Throws as
 * `openLinked`.
 */
export async function openAllLinked(linked: readonly LinkedPart[], context: OpsContext): Promise<ReadonlyMap<string, ProvenFile>> {
  if (context.network.offline === true) {
    const cache = openCacheOf(context);
    const missing = linked.filter(({ digest }) => cache.find(digest) === undefined);
    if (missing.length > 0) assertOnline(missing, context);
  }
  const files = new Map<string, ProvenFile>();
  for (const part of linked) files.set(part.path, await openLinked(part, context));
  return files;
}

/** A longer list is made to keep us busy, or to send us at somebody. */
const mostTried = 100;

async function fetchAny(linked: LinkedPart, cache: FileCache, maxBytes: number, context: OpsContext): Promise<string> {
  assertOnline([linked], context);
  const reasons: string[] = [];
  for (const url of linked.urls.slice(0, mostTried)) {
    const item = context.progress.start('fetch', linked.path);
    try {
      const { body, expectedBytes } = await fetchLink(url, maxBytes, context, item);
      const path = await cache.receive(linked.digest, body, { expectedBytes, counters: context.counters });
      item.done();
      cache.trim(context.limits.linkCacheBytes);
      return path;
    } catch (error) {
      item.done('failed');
      if (isOfThisMachine(error)) throw error;
      reasons.push(`${showUrl(url)}: ${toReason(error, url)}`);
    }
  }
  const left = linked.urls.length - mostTried;
  throw linkFailed(linked, left > 0 ? [...reasons, `${left} more URLs were not tried`] : reasons);
}

function linkFailed({ path, digest }: LinkedPart, reasons: readonly string[]): Error {
  const more = reasons.length > namedLinks ? [`and ${reasons.length - namedLinks} more`] : [];
  const why = reasons.length === 0 ? 'there is no URL for it' : [...reasons.slice(0, namedLinks), ...more].join('; ');
  return createError('http/link-failed', {
    message: `Cannot fetch the linked file ${JSON.stringify(path)} (${digest}): ${why}`,
    hint: 'Ask whoever made the package for another URL, or for a carton that holds the file itself',
    where: path,
  });
}

function tooLarge({ path }: LinkedPart, size: number, limit: number): Error {
  return createError('bytes/limit', {
    message: `Cannot use the linked file ${JSON.stringify(path)}: ${size} bytes, at most ${limit} are allowed`,
    where: path,
  });
}
