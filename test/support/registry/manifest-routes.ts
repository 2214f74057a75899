import { digestOfBytes, isSoundDigest } from './digests.js';
import { type Exchange } from './exchange.js';
import { parseManifestReferences } from './manifest-references.js';
import { type StoredManifest } from './manifest-storage.js';
import { type RegistryRoom, toDigestHeader } from './registry-room.js';
import { toUrl } from './to-url.js';

const readLimit = 64 * 1024 * 1024;
const tag = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/** GET, HEAD, PUT and DELETE of a manifest by tag or digest. */
export async function answerManifest(exchange: Exchange, room: RegistryRoom, repository: string, reference: string): Promise<void> {
  if (!isSoundDigest(reference) && !tag.test(reference)) return exchange.fail(400, 'TAG_INVALID', 'neither a tag nor a digest');
  if (exchange.entry.method === 'PUT') return putManifest(exchange, room, repository, reference);
  const found = room.manifests.find(repository, reference);
  if (exchange.entry.method === 'DELETE') return deleteManifest(exchange, room, reference, found);
  if (found === undefined) return exchange.fail(404, 'MANIFEST_UNKNOWN', 'manifest unknown');
  sendManifest(exchange, found);
}

/** Who names types but not this one gets nothing, as with Docker's registry. */
function sendManifest(exchange: Exchange, { digest, mediaType, bytes }: StoredManifest): void {
  const accepted = (exchange.header('accept') ?? '*/*').split(',').map((type) => type.split(';')[0]?.trim());
  if (!accepted.includes(mediaType) && !accepted.includes('*/*')) {
    return exchange.fail(404, 'MANIFEST_UNKNOWN', `a manifest of type ${mediaType} is here, but the Accept header does not name it`);
  }
  const type = exchange.behaviour.manifestContentType.get(digest) ?? mediaType;
  exchange.answer(200, { 'content-type': type, etag: `"${digest}"`, ...toDigestHeader(exchange, digest) }, bytes);
}

function deleteManifest(exchange: Exchange, room: RegistryRoom, reference: string, found: StoredManifest | undefined): void {
  const { deletes } = exchange.behaviour;
  const isTag = !isSoundDigest(reference);
  if (deletes === false || (deletes === 'by-digest' && isTag)) return exchange.fail(405, 'UNSUPPORTED', 'deleting is disabled');
  if (found === undefined) return exchange.fail(404, 'MANIFEST_UNKNOWN', 'manifest unknown');
  if (isTag) room.manifests.untag(found.repository, reference);
  else room.manifests.remove(found);
  exchange.answer(202);
}

async function putManifest(exchange: Exchange, room: RegistryRoom, repository: string, reference: string): Promise<void> {
  const { behaviour, entry } = exchange;
  const isTooLarge = Number(exchange.header('content-length') ?? 0) > behaviour.manifestLimit;
  const bytes = isTooLarge ? undefined : await exchange.collect(Math.min(behaviour.manifestLimit, readLimit));
  if (bytes === undefined) return exchange.fail(413, 'MANIFEST_INVALID', `a manifest may have ${behaviour.manifestLimit} bytes`);
  const type = exchange.header('content-type')?.split(';')[0]?.trim() ?? '';
  const references = parseManifestReferences(bytes);
  if (references === undefined) return exchange.fail(400, 'MANIFEST_INVALID', 'this is no manifest');
  if (type === '' || (references.mediaType ?? type) !== type) {
    return exchange.fail(400, 'MANIFEST_INVALID', `the Content-Type is "${type}", the manifest says "${references.mediaType ?? ''}"`);
  }
  const digest = digestOfBytes(bytes, isSoundDigest(reference) ? reference.split(':')[0] : 'sha256');
  if (isSoundDigest(reference) && digest !== reference) return exchange.fail(400, 'DIGEST_INVALID', `the manifest is ${digest}`);
  const missing = [
    ...references.blobs.filter((blob) => !isSoundDigest(blob) || room.blobs.find(repository, blob) === undefined),
    ...references.manifests.filter((child) => !isSoundDigest(child) || room.manifests.find(repository, child) === undefined),
  ];
  if (missing.length > 0) return exchange.fail(400, 'MANIFEST_BLOB_UNKNOWN', `blob unknown to registry: ${missing.join(' ')}`);
  const condition = exchange.header('if-match');
  const before = room.manifests.find(repository, reference)?.digest;
  const isStale = (condition !== undefined && condition !== `"${before}"`) || (exchange.header('if-none-match') === '*' && before !== undefined);
  if (isStale) return exchange.fail(412, 'MANIFEST_INVALID', 'somebody else was here in the meantime');
  const tags = isSoundDigest(reference) ? entry.query.getAll('tag').filter((name) => tag.test(name)) : [reference];
  room.manifests.put(repository, digest, type, bytes);
  for (const name of tags) room.manifests.tag(repository, name, digest);
  exchange.answer(201, {
    location: toUrl(exchange, `/v2/${repository}/manifests/${digest}`),
    ...toDigestHeader(exchange, digest),
    ...(references.subject !== undefined && behaviour.referrers ? { 'oci-subject': references.subject } : {}),
    ...(isSoundDigest(reference) && tags.length > 0 ? { 'oci-tag': tags.join(', ') } : {}),
  });
}
