import { createStreamHash, mapConcurrent, pump } from '../bytes/index.js';
import { type LinkedPart, splitDigest } from '../core/index.js';
import { showUrl } from '../http/index.js';
import type { OpsContext } from './context.js';
import { assertOnline, type FetchedLink, fetchLink, isOfThisMachine, toReason } from './fetch-link.js';

/** What one URL of a linked file really gives. */
export interface CheckedLink {
  readonly path: string;
  /** Without its query. */
  readonly url: string;
  readonly ok: boolean;
  /** Why not. */
  readonly reason?: string;
  /** After decoding, as far as they were read. */
  readonly bytes: number;
  /** The Content-Encoding, `identity` for none; absent when there was no answer. */
  readonly encoding?: string;
}

/** Fetches and hashes what each URL of each file gives, and keeps nothing. Throws `http/offline`, and what this machine is to blame for. */
export async function checkLinks(linked: readonly LinkedPart[], context: OpsContext): Promise<readonly CheckedLink[]> {
  if (linked.length > 0) assertOnline(linked, context);
  const all = linked.flatMap((part) => part.urls.map((url) => ({ part, url })));
  return mapConcurrent(all, context.concurrency, ({ part, url }) => checkLink(part, url, context));
}

async function checkLink({ path, digest }: LinkedPart, url: string, context: OpsContext): Promise<CheckedLink> {
  const { algorithm, hex } = splitDigest(digest);
  const about = { path, url: showUrl(url) };
  const counted = { bytes: 0 };
  let link: FetchedLink | undefined;
  try {
    link = await fetchLink(url, context.limits.linkedBytes, context);
    const found = await hash(link, algorithm, counted, context);
    const ok = found === hex;
    return { ...about, ok, ...(ok ? {} : { reason: `expected ${digest}, found ${algorithm}:${found}` }), ...counted, encoding: link.encoding };
  } catch (error) {
    if (isOfThisMachine(error)) throw error;
    return { ...about, ok: false, reason: toReason(error, url), ...counted, ...(link === undefined ? {} : { encoding: link.encoding }) };
  }
}

async function hash(
  { body, expectedBytes }: FetchedLink,
  algorithm: 'sha256' | 'sha512',
  counted: { bytes: number },
  { counters }: OpsContext,
): Promise<string> {
  const hashing = createStreamHash(algorithm, expectedBytes);
  async function* watched() {
    for await (const chunk of body) {
      counted.bytes += chunk.byteLength;
      yield chunk;
    }
  }
  try {
    await pump(watched(), hashing, undefined, counters);
    return await hashing.digest();
  } finally {
    hashing.drop();
  }
}
