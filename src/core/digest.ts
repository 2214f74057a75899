import { createError } from './error.js';

/** Hash algorithms that the OCI descriptor grammar registers and that we compute, with the length of their hex form. */
export const digestAlgorithms = { sha256: 64, sha512: 128 } as const;

export type DigestAlgorithm = keyof typeof digestAlgorithms;

/** `algorithm:hex` in lower case, already judged: safe to use in a path or a URL. (OCI image-spec, descriptor.md, Digests) */
export type Digest = `${DigestAlgorithm}:${string}`;

const grammar = /^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** True only for a digest of a known algorithm, of the right length, in lower case. */
export function isDigest(value: unknown): value is Digest {
  return typeof value === 'string' && grammar.test(value);
}

/** Text → digest. Throws `core/bad-digest`; to be called before any path or URL is built from it. */
export function parseDigest(text: string, where?: string): Digest {
  if (isDigest(text)) return text;
  throw createError('core/bad-digest', {
    message: `Cannot use the digest ${JSON.stringify(text.slice(0, 160))}: expected sha256: with 64 or sha512: with 128 lower-case hex digits`,
    hint: 'Copy the whole digest, for example from `modelport list --json`',
    where,
  });
}

export function splitDigest(digest: Digest): { algorithm: DigestAlgorithm; hex: string } {
  const colon = digest.indexOf(':');
  return { algorithm: digest.slice(0, colon) as DigestAlgorithm, hex: digest.slice(colon + 1) };
}
