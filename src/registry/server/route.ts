import { isDigest, isRepository, isTag } from '../../core/index.js';
import type { RequestSubject } from './http.js';
import { Refusal } from './refusal.js';

/** What a request is about, all of it judged. */
export type Route =
  | { readonly kind: 'ping' }
  | { readonly kind: 'catalog' }
  | { readonly kind: 'extensions'; readonly repository?: string }
  | { readonly kind: 'blob'; readonly repository: string; readonly digest: string }
  | { readonly kind: 'uploads'; readonly repository: string }
  | { readonly kind: 'upload'; readonly repository: string; readonly id: string }
  | { readonly kind: 'manifest'; readonly repository: string; readonly reference: string }
  | { readonly kind: 'tags'; readonly repository: string }
  | { readonly kind: 'referrers'; readonly repository: string; readonly digest: string };

export type ManifestRoute = Extract<Route, { kind: 'manifest' }>;

export interface Target {
  readonly route: Route;
  readonly query: URLSearchParams;
}

const longestTarget = 8192;

/**
 * Path and query of a request line → what is asked. Each component is decoded once, and the name that comes out of it follows the grammar or is
 * refused; nothing of a path is ever used as it came. Throws a Refusal.
 */
export function parseTarget(target: string): Target {
  if (target.length > longestTarget) throw new Refusal(414, 'UNSUPPORTED', `The address is longer than ${longestTarget} characters`);
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1));
  return { route: parsePath(path), query };
}

function parsePath(path: string): Route {
  const [root, version, ...parts] = path.split('/').map(decodeOnce);
  if (root !== '' || version !== 'v2') throw nothingHere();
  if (parts.length === 0 || (parts.length === 1 && parts[0] === '')) return { kind: 'ping' };
  if (parts.length === 1 && parts[0] === '_catalog') return { kind: 'catalog' };
  if (parts.slice(-3).join('/') === '_oci/ext/discover') return toExtensions(parts.slice(0, -3));
  return parseContent(parts);
}

/** Looked at from the end: a repository may have components such as `blobs`. */
function parseContent(parts: readonly string[]): Route {
  const [before = '', noun = '', last = ''] = parts.slice(-3);
  const lead = parts.slice(0, -2);
  if (before === 'blobs' && noun === 'uploads') {
    const repository = toRepository(parts.slice(0, -3));
    return last === '' ? { kind: 'uploads', repository } : { kind: 'upload', repository, id: last };
  }
  if (noun === 'blobs' && last === 'uploads') return { kind: 'uploads', repository: toRepository(lead) };
  if (noun === 'blobs') return { kind: 'blob', repository: toRepository(lead), digest: last };
  if (noun === 'manifests') return { kind: 'manifest', repository: toRepository(lead), reference: last };
  if (noun === 'referrers') return { kind: 'referrers', repository: toRepository(lead), digest: last };
  if (noun === 'tags' && last === 'list') return { kind: 'tags', repository: toRepository(lead) };
  throw nothingHere();
}

function toExtensions(lead: readonly string[]): Route {
  return lead.length === 0 ? { kind: 'extensions' } : { kind: 'extensions', repository: toRepository(lead) };
}

function toRepository(parts: readonly string[]): string {
  const repository = parts.join('/');
  // A slash that was encoded would make another name of it.
  if (isRepository(repository) && !parts.some((part) => part.includes('/'))) return repository;
  throw new Refusal(
    400,
    'NAME_INVALID',
    'A repository is written in lower case: a-z, 0-9 and single . _ __ - between them, in parts joined by /, at most 255 characters',
    { detail: { name: repository.slice(0, 300) } },
  );
}

function decodeOnce(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new Refusal(400, 'NAME_INVALID', 'The address holds a % that encodes nothing', { cause });
  }
}

function nothingHere(): Refusal {
  return new Refusal(404, 'UNSUPPORTED', 'There is nothing at this address: see the endpoints of the OCI distribution specification');
}

/** How a log and the metrics call it. */
export function toSubject(route: Route): RequestSubject {
  switch (route.kind) {
    case 'ping':
    case 'catalog':
      return { endpoint: route.kind };
    case 'extensions':
      return { endpoint: route.kind, ...(route.repository === undefined ? {} : { repository: route.repository }) };
    case 'blob':
    case 'referrers':
      return { endpoint: route.kind, repository: route.repository, reference: route.digest.slice(0, 200) };
    case 'uploads':
    case 'tags':
      return { endpoint: route.kind === 'uploads' ? 'upload' : 'tags', repository: route.repository };
    case 'upload':
      return { endpoint: 'upload', repository: route.repository, reference: route.id.slice(0, 200) };
    case 'manifest':
      return { endpoint: 'manifest', repository: route.repository, reference: route.reference.slice(0, 200) };
  }
}

/** Whether a manifest is asked for by digest; what is neither digest nor tag gives undefined. */
export function kindOfReference(reference: string): 'digest' | 'tag' | undefined {
  if (isDigest(reference)) return 'digest';
  return isTag(reference) ? 'tag' : undefined;
}

export function badDigest(reference: string): Refusal {
  return new Refusal(400, 'DIGEST_INVALID', 'A digest is sha256: with 64 or sha512: with 128 lower-case hex digits', {
    detail: { digest: reference.slice(0, 200) },
  });
}
