import { createHash } from 'node:crypto';
import { collect } from '../../bytes/index.js';
import { type Descriptor, type Digest, isTag, isToolkitError, parseDigest, type RootList, splitDigest } from '../../core/index.js';
import { children, findSubject, isIndexType, isKindOfType, isManifestType, mediaTypes, type ParsedRoot, parseManifest } from '../../oci/index.js';
import { emptyAnswer } from './answers.js';
import { isNamed } from './blobs.js';
import type { RegistryResponse } from './http.js';
import { toFacts } from './manifest-shelf.js';
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
  if (!isKnown) await assertShallow(room, parsed);
  const descriptor: Descriptor = { mediaType, digest, size: bytes.byteLength };
  await keep(room, descriptor, bytes, (roots) => {
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
async function keep({ store }: RegistryRoom, { digest, size }: Descriptor, bytes: Uint8Array, change: RootChange): Promise<void> {
  const lease = await store.lease();
  try {
    await store.put({ kind: 'bytes', bytes }, { expected: { digest, size } });
    await store.changeRoots(change);
  } finally {
    lease.release();
  }
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

/**
 * Everything that it names is in the repository, but for its subject and for layers that may not be given away; and it stays there until the manifest
 * names it, whatever else is deleted meanwhile.
 */
async function assertComplete(room: RegistryRoom, repository: string, parsed: ParsedRoot): Promise<void> {
  const foreign = listForeign(parsed);
  const missing: Digest[] = [];
  for (const [position, descriptor] of children(parsed).entries()) {
    const found = await claimChild(room, repository, descriptor);
    if (found === undefined && !foreign.has(position)) missing.push(descriptor.digest);
    if (found !== undefined && found.size !== descriptor.size) {
      throw new Refusal(400, 'MANIFEST_INVALID', `The blob ${found.digest} has ${found.size} bytes, the manifest says ${descriptor.size}`);
    }
  }
  if (missing.length === 0) return;
  throw new Refusal(
    400,
    'MANIFEST_BLOB_UNKNOWN',
    `The manifest names ${missing.length === 1 ? 'a blob' : 'blobs'} that the repository does not have`,
    {
      detail: missing.slice(0, 100).map((digest) => ({ digest })),
    },
  );
}

/** Whoever walks through it, a collector too, goes down so far and no further. Each level is looked at once, however many ways lead there. */
async function assertShallow({ shelf, limits: { indexDepth } }: RegistryRoom, parsed: ParsedRoot): Promise<void> {
  let level: readonly Descriptor[] = toFacts(parsed).manifests;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > indexDepth) throw new Refusal(400, 'MANIFEST_INVALID', `Indexes are nested at most ${indexDepth} levels deep here`);
    const below = new Map<Digest, Descriptor>();
    for (const descriptor of level) for (const child of (await shelf.findFacts(descriptor))?.manifests ?? []) below.set(child.digest, child);
    level = [...below.values()];
  }
}

async function claimChild({ store, views }: RegistryRoom, repository: string, { digest }: Descriptor): Promise<Descriptor | undefined> {
  if (!store.hasClaim(repository, digest)) {
    const view = await views.of(repository);
    if (!view.blobs.has(digest) && !view.manifests.has(digest)) return undefined;
    await store.claim(repository, digest);
  }
  return store.touch(digest) ? store.findBlob(digest) : undefined;
}

/** Positions among the children. (OCI image-spec, layer.md, Non-Distributable Layers) */
function listForeign({ kind, json }: ParsedRoot): ReadonlySet<number> {
  const layers = kind === 'manifest' && Array.isArray(json['layers']) ? (json['layers'] as readonly { mediaType?: unknown; urls?: unknown }[]) : [];
  const isForeign = ({ mediaType, urls }: { mediaType?: unknown; urls?: unknown }) =>
    /[.]nondistributable[.]|[.]foreign[.]/.test(String(mediaType)) || (Array.isArray(urls) && urls.length > 0);
  // The config is the first child.
  return new Set(layers.flatMap((layer, position) => (isForeign(layer) ? [position + 1] : [])));
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
