import { isSoundDigest } from './digests.js';
import { type Exchange } from './exchange.js';
import { parseManifestReferences } from './manifest-references.js';
import { type StoredManifest } from './manifest-storage.js';
import { type RegistryRoom } from './registry-room.js';

const indexType = 'application/vnd.oci.image.index.v1+json';

export function answerTags(exchange: Exchange, room: RegistryRoom, repository: string): void {
  if (!room.blobs.repositories().includes(repository)) return exchange.fail(404, 'NAME_UNKNOWN', 'repository name not known to registry');
  const { items, headers } = pageOfNames(exchange, room.manifests.tags(repository));
  exchange.json({ name: repository, tags: items }, headers);
}

export function answerCatalog(exchange: Exchange, room: RegistryRoom): void {
  const { items, headers } = pageOfNames(exchange, room.blobs.repositories());
  exchange.json({ repositories: items }, headers);
}

interface Page<T> {
  readonly items: readonly T[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What comes after `last`, at most `n`. Names are in the order of their bytes. */
function pageOfNames(exchange: Exchange, names: readonly string[]): Page<string> {
  const { query, path } = exchange.entry;
  const asked = query.get('n');
  const size = Math.min(asked === null ? Infinity : Number(asked), exchange.behaviour.tagsPageSize);
  const last = query.get('last') ?? '';
  const rest = names.filter((name) => name > last);
  const items = rest.slice(0, size);
  const isEnd = items.length === rest.length || items.length === 0;
  return { items, headers: isEnd ? {} : toLink(path, { n: String(size), last: items.at(-1) ?? '' }) };
}

function toLink(path: string, query: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { link: `<${path}?${new URLSearchParams(query).toString()}>; rel="next"` };
}

export function answerReferrers(exchange: Exchange, room: RegistryRoom, repository: string, digest: string): void {
  const { behaviour, entry } = exchange;
  if (!behaviour.referrers) return exchange.fail(404, 'UNSUPPORTED', 'there is no such page');
  if (!isSoundDigest(digest)) return exchange.fail(400, 'DIGEST_INVALID', 'the digest is malformed');
  const asked = behaviour.filtersReferrers ? entry.query.get('artifactType') : null;
  const found = room.manifests.list(repository).flatMap((manifest) => toReferrer(manifest, digest));
  const matching = asked === null ? found : found.filter(({ artifactType }) => artifactType === asked);
  const start = Number(entry.query.get('start') ?? 0);
  const manifests = matching.slice(start, start + behaviour.referrersPageSize);
  const next = start + manifests.length;
  const query = { ...(asked === null ? {} : { artifactType: asked }), start: String(next) };
  exchange.json(
    { schemaVersion: 2, mediaType: indexType, manifests },
    {
      'content-type': indexType,
      ...(asked === null ? {} : { 'oci-filters-applied': 'artifactType' }),
      ...(next < matching.length ? toLink(entry.path, query) : {}),
    },
  );
}

interface Referrer {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Of none or one. */
function toReferrer({ mediaType, digest, bytes }: StoredManifest, subject: string): Referrer[] {
  const references = parseManifestReferences(bytes);
  if (references?.subject !== subject) return [];
  const { artifactType, annotations } = references;
  const known = { mediaType, digest, size: bytes.length };
  return [{ ...known, ...(artifactType === undefined ? {} : { artifactType }), ...(annotations === undefined ? {} : { annotations }) }];
}
