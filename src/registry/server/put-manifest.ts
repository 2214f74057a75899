import { createHash } from 'node:crypto';
import { collect, fromBytes } from '../../bytes/index.js';
import { type Descriptor, type Digest, isTag, isToolkitError, parseDigest, type RootList, splitDigest } from '../../core/index.js';
import { findSubject, isIndexType, isKindOfType, isManifestType, mediaTypes, type ParsedRoot, parseManifest } from '../../oci/index.js';
import { emptyAnswer } from './answers.js';
import { assertComplete, assertMeasured } from './assert-complete.js';
import { isNamed } from './blobs.js';
import type { RegistryResponse } from './http.js';
import { Refusal } from './refusal.js';
import { findTagged, withManifest } from './root-changes.js';
import type { Ask, RegistryRoom } from './room.js';
import { badDigest, kindOfReference, type ManifestRoute } from './route.js';

/** (distribution-spec 1.1 and main, end-7a and end-7b) */
export async function putManifest(room: RegistryRoom, ask: Ask, { repository, reference }: ManifestRoute): Promise<RegistryResponse> {
  const { promised, tags } = parseNames(room, ask, reference);
  const bytes = await readBody(room, ask);
  const digest = digestOf(bytes, promised);
  const parsed = parseSent(room, bytes, reference);
  const mediaType = decideMediaType(parsed, ask.request.headers['content-type']);
  const isKnown = (await room.views.of(repository)).manifests.has(digest);
  if (!isKnown) await assertComplete(room, repository, parsed);
  if (!isKnown) await assertMeasured(room, parsed);
  const descriptor: Descriptor = { mediaType, digest, size: bytes.byteLength };
  await keep(room, repository, { descriptor, bytes }, (roots) => {
    assertUnchanged(ask, tags, (tag) => findTagged(roots, repository, tag, room.index.placeOf));
    return withManifest(roots, repository, tags, descriptor, room.index.placeOf);
  });
  const subject = findSubject(parsed)?.digest;
  const headers = {
    Location: `/v2/${repository}/manifests/${digest}`,
    'Docker-Content-Digest': digest,
    ...(subject === undefined ? {} : { 'OCI-Subject': subject }),
    ...(ask.query.has('tag') ? { 'OCI-Tag': tags } : {}),
  };
  return emptyAnswer(201, headers, ask.subject);
}

type RootChange = Parameters<RootList['changeRoots']>[0];

/** Under a lease, so that nobody who prunes the store takes the manifest away before a root holds it. */
async function keep(room: RegistryRoom, repository: string, manifest: Manifest, change: RootChange): Promise<void> {
  const { store } = room;
  const { bytes, descriptor } = manifest;
  const lease = await store.lease();
  try {
    if (await isDamaged(room, descriptor)) await mend(store, repository, manifest);
    else await store.put({ kind: 'bytes', bytes }, { expected: descriptor });
    await store.changeRoots(change);
  } finally {
    lease.release();
  }
}

interface Manifest {
  readonly descriptor: Descriptor;
  readonly bytes: Uint8Array;
}

/** Wrong bytes of the right length. A store takes them for what they should be, and would not write anything. */
async function isDamaged({ shelf }: RegistryRoom, descriptor: Descriptor): Promise<boolean> {
  try {
    await shelf.findBytes(descriptor);
    return false;
  } catch (error) {
    if (error instanceof Refusal) return true;
    throw error;
  }
}

/** What is uploaded is written in any case. */
async function mend(store: RegistryRoom['store'], repository: string, { bytes, descriptor }: Manifest): Promise<void> {
  const upload = await store.beginUpload(repository, splitDigest(descriptor.digest).algorithm);
  await upload.append(fromBytes(bytes), bytes.byteLength);
  await upload.finish(descriptor.digest);
}

/** The digest that was promised, if any, and the tags to be set. */
function parseNames({ rules }: RegistryRoom, { query }: Ask, reference: string): { promised: Digest | undefined; tags: string[] } {
  const kind = kindOfReference(reference);
  if (kind === undefined && reference.includes(':')) throw badDigest(reference);
  const asked = query.get('digest');
  const promised = kind === 'digest' ? parseDigest(reference) : asked === null ? undefined : parseDigest(asked);
  const tags = [...new Set([...(kind === 'digest' ? [] : [reference]), ...query.getAll('tag')])];
  if (tags.length > rules.mostTagsAtOnce) {
    throw new Refusal(414, 'UNSUPPORTED', `At most ${rules.mostTagsAtOnce} tags are set at once, ${tags.length} were asked for`);
  }
  const wrong = tags.find((tag) => !isTag(tag));
  if (wrong === undefined) return { promised, tags };
  throw new Refusal(400, 'MANIFEST_INVALID', 'A tag is 1 to 128 of A-Z a-z 0-9 _ . - and begins with neither . nor -', {
    detail: { tag: wrong.slice(0, 200) },
  });
}

async function readBody({ limits: { manifestBytes } }: RegistryRoom, { request }: Ask): Promise<Uint8Array> {
  const tooLarge = new Refusal(413, 'SIZE_INVALID', `A manifest has at most ${manifestBytes} bytes here`);
  if (Number(request.headers['content-length'] ?? 0) > manifestBytes) throw tooLarge;
  try {
    return await collect(request.body, manifestBytes, 'the manifest');
  } catch (error) {
    throw isToolkitError(error, 'bytes/limit') ? tooLarge : error;
  }
}

/** Only here is a bad document the client's fault: those that the store holds are not. */
function parseSent({ limits }: RegistryRoom, bytes: Uint8Array, reference: string): ParsedRoot {
  try {
    return parseManifest(bytes, reference, limits);
  } catch (error) {
    if (!isToolkitError(error, 'oci/bad-manifest') && !isToolkitError(error, 'core/bad-json')) throw error;
    throw new Refusal(400, 'MANIFEST_INVALID', error.message, { cause: error });
  }
}

function digestOf(bytes: Uint8Array, promised: Digest | undefined): Digest {
  const { algorithm } = promised === undefined ? { algorithm: 'sha256' as const } : splitDigest(promised);
  const found = parseDigest(`${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`);
  if (promised === undefined || found === promised) return found;
  throw new Refusal(400, 'DIGEST_INVALID', 'The manifest hashes to another digest', { detail: { expected: promised, found } });
}

/** Header, document and content agree, so that no two readers take it for different things. (CVE-2021-41190) */
function decideMediaType(parsed: ParsedRoot, field: string | undefined): string {
  const said = field?.split(';')[0]?.trim().toLowerCase() ?? '';
  const own = parsed.kind === 'index' ? parsed.index.mediaType : parsed.manifest.mediaType;
  const mediaType = said === '' ? (own ?? (parsed.kind === 'index' ? mediaTypes.index : mediaTypes.manifest)) : said;
  if (own !== undefined && own !== mediaType) throw badType(`It says that it is ${own}, but was sent as ${mediaType}`);
  if (!isManifestType(mediaType) && !isIndexType(mediaType)) {
    throw badType(`It was sent as ${mediaType.slice(0, 200)}: OCI and Docker schema 2 manifests and indexes are taken`);
  }
  if (!isKindOfType(parsed.kind, mediaType)) throw badType(`It was sent as ${mediaType}, but its content is that of the other kind`);
  return mediaType;
}

function badType(message: string): Refusal {
  return new Refusal(400, 'MANIFEST_INVALID', message);
}

/** `If-Match` and `If-None-Match` let clients change a tag without overwriting what another one has just set. (RFC 9110, 13.1) */
function assertUnchanged({ request: { headers } }: Ask, tags: readonly string[], find: (tag: string) => Descriptor | undefined): void {
  if (headers['if-match'] === undefined && headers['if-none-match'] === undefined) return;
  for (const tag of tags) {
    const now = find(tag);
    const etag = now === undefined ? undefined : `"${now.digest}"`;
    const isExpected = headers['if-match'] === undefined || (etag !== undefined && isNamed(headers['if-match'], etag));
    const isFree = etag === undefined || !isNamed(headers['if-none-match'], etag);
    if (isExpected && isFree) continue;
    throw new Refusal(412, 'DENIED', now === undefined ? `There is no tag ${tag} yet` : `The tag ${tag} points to ${now.digest} now`);
  }
}
