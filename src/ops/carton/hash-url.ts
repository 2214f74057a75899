import { createStreamHash } from '../../bytes/index.js';
import { type Digest, parseDigest } from '../../core/index.js';
import type { OpsContext } from '../context.js';
import { fetchLink } from '../fetch-link.js';

/** The digest of what a URL serves, decoded; nothing is kept. */
export async function hashUrl(url: string, context: OpsContext): Promise<Digest> {
  const { body, expectedBytes } = await fetchLink(url, context.limits.linkedBytes, context);
  const hash = createStreamHash('sha256', expectedBytes);
  try {
    for await (const chunk of body) await hash.update(chunk);
    return parseDigest(`sha256:${await hash.digest()}`);
  } finally {
    hash.drop();
  }
}
