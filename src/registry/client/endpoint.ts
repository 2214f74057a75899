import { type Digest, parseDigest } from '../../core/index.js';
import { assertName } from './grammar.js';

/**
 * Paths of the distribution specification. What is put into them is judged here by its grammar, wherever it comes from, so nothing has to
 * be escaped. Throws `core/bad-reference` and `core/bad-digest`.
 */
export const endpoint = {
  catalog: (query: string) => `/v2/_catalog${query}`,
  tags: (repository: string, query: string) => `${pathOf(repository)}/tags/list${query}`,
  manifest: (repository: string, reference: string) => `${pathOf(repository)}/manifests/${toReference(reference)}`,
  blob: (repository: string, digest: Digest) => `${pathOf(repository)}/blobs/${parseDigest(digest)}`,
  uploads: (repository: string, query = '') => `${pathOf(repository)}/blobs/uploads/${query}`,
  referrers: (repository: string, digest: Digest, query: string) => `${pathOf(repository)}/referrers/${parseDigest(digest)}${query}`,
} as const;

function pathOf(repository: string): string {
  return `/v2/${assertName(repository, 'repository')}`;
}

function toReference(text: string): string {
  return text.includes(':') ? parseDigest(text) : assertName(text, 'tag');
}

/** Adds a parameter to a URL that may carry some already: those of the registry stay as they are. */
export function withParameter(url: string, name: string, value: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}
