import type { Digest } from '../../core/index.js';

/** Paths of the distribution specification. `repository` and `digest` were judged by their grammars, so nothing is escaped. */
export const endpoint = {
  catalog: (query: string) => `/v2/_catalog${query}`,
  tags: (repository: string, query: string) => `/v2/${repository}/tags/list${query}`,
  manifest: (repository: string, reference: string) => `/v2/${repository}/manifests/${reference}`,
  blob: (repository: string, digest: Digest) => `/v2/${repository}/blobs/${digest}`,
  uploads: (repository: string, query = '') => `/v2/${repository}/blobs/uploads/${query}`,
  referrers: (repository: string, digest: Digest, query: string) => `/v2/${repository}/referrers/${digest}${query}`,
} as const;

/** Adds a parameter to a URL that may carry some already: those of the registry stay as they are. */
export function withParameter(url: string, name: string, value: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}
