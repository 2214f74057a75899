import { type Descriptor, type Digest, parseDigest, splitDigest } from '../../core/index.js';
import { mediaTypes, parseManifest } from '../../oci/index.js';
import { bytesAnswer } from './answers.js';
import type { RegistryResponse } from './http.js';
import { toPage } from './pages.js';
import type { Ask, ReadingRoom, RegistryRoom } from './room.js';

/** Of a manifest of 4 MiB, with room for what is around them. */
const pageBytes = 3 * 1024 * 1024;

/** What is attached to a manifest, which need not be there: an image index, in pages. (distribution-spec 1.1, end-12) */
export async function answerReferrers(
  room: RegistryRoom,
  { query, subject }: Ask,
  { repository, digest }: { readonly repository: string; readonly digest: string },
): Promise<RegistryResponse> {
  const target = parseDigest(digest);
  await room.mirror?.fetchReferrers(repository, target);
  const wanted = query.getAll('artifactType').filter((type) => type !== '');
  const all = await listReferrers(room, repository, target);
  const found = wanted.length === 0 ? all : all.filter(({ artifactType }) => artifactType !== undefined && wanted.includes(artifactType));
  const path = `/v2/${repository}/referrers/${target}`;
  const { entries, headers } = toPage(found, (referrer) => referrer.digest, query, path, fittingCount(found, room.rules.pageEntries));
  const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: entries };
  const filtered = wanted.length === 0 ? {} : { 'OCI-Filters-Applied': 'artifactType' };
  return bytesAnswer(200, Buffer.from(JSON.stringify(index)), { 'Content-Type': mediaTypes.index, ...filtered, ...headers }, subject);
}

/** In order of their digests, each once. */
async function listReferrers(room: ReadingRoom, repository: string, target: Digest): Promise<Descriptor[]> {
  const view = await room.views.of(repository);
  const found = new Map((view.referrers.get(target) ?? []).map((referrer) => [referrer.digest, referrer]));
  for (const descriptor of await readFallback(room, repository, target)) {
    const known = view.manifests.get(descriptor.digest);
    if (known !== undefined && !found.has(descriptor.digest)) found.set(descriptor.digest, { ...descriptor, size: known.size });
  }
  return [...found.values()].sort((a, b) => (a.digest < b.digest ? -1 : 1));
}

/** What a client keeps in a tag because it once found no referrers here. (distribution-spec 1.1, Referrers Tag Schema) */
async function readFallback({ index, shelf, limits }: ReadingRoom, repository: string, target: Digest): Promise<readonly Descriptor[]> {
  const { algorithm, hex } = splitDigest(target);
  const root = index
    .current()
    .find(repository)
    ?.tags.get(`${algorithm.slice(0, 32)}-${hex.slice(0, 64)}`);
  const bytes = root === undefined ? undefined : await shelf.findBytes(root);
  if (bytes === undefined) return [];
  const parsed = parseManifest(bytes, target, limits);
  return parsed.kind === 'index' ? parsed.index.manifests : [];
}

/** Annotations may be long: no page is larger than clients take. */
function fittingCount(referrers: readonly Descriptor[], most: number): number {
  const largest = Math.max(1, ...referrers.map((referrer) => JSON.stringify(referrer).length));
  return Math.max(1, Math.min(most, Math.floor(pageBytes / largest)));
}
