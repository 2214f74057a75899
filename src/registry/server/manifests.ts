import type { Descriptor, Digest } from '../../core/index.js';
import { emptyAnswer } from './answers.js';
import { isNamed } from './blobs.js';
import type { RegistryResponse } from './http.js';
import { putManifest } from './put-manifest.js';
import { Refusal } from './refusal.js';
import { withoutManifest, withoutTag } from './root-changes.js';
import type { Ask, ReadingRoom, RegistryRoom } from './room.js';
import { badDigest, kindOfReference, type ManifestRoute } from './route.js';
import { unknownName } from './tags.js';

/** (distribution-spec 1.1, end-3, end-7 and end-9) */
export async function answerManifest(room: RegistryRoom, ask: Ask, route: ManifestRoute): Promise<RegistryResponse> {
  switch (ask.request.method) {
    case 'PUT':
      return putManifest(room, ask, route);
    case 'DELETE':
      return deleteManifest(room, ask, route);
    default:
      return sendManifest(room, ask, route);
  }
}

async function sendManifest(room: RegistryRoom, { request, query, subject }: Ask, route: ManifestRoute): Promise<RegistryResponse> {
  const mirrored = await room.mirror?.findManifest(route.repository, route.reference, query.get('ns'));
  const descriptor = mirrored?.descriptor ?? (await findManifest(room, route));
  const bytes = descriptor === undefined ? undefined : await room.shelf.findBytes(descriptor);
  if (descriptor === undefined || bytes === undefined) throw unknownManifest(room, route);
  const etag = `"${descriptor.digest}"`;
  const headers = {
    'Content-Type': descriptor.mediaType,
    'Docker-Content-Digest': descriptor.digest,
    ETag: etag,
    ...mirrored?.headers,
  };
  if (isNamed(request.headers['if-none-match'], etag)) return emptyAnswer(304, headers, subject);
  return { status: 200, headers: { ...headers, 'Content-Length': String(bytes.byteLength) }, body: bytes, subject };
}

/** By tag, or by the digest of anything that the repository shows. */
export async function findManifest(room: ReadingRoom, { repository, reference }: ManifestRoute): Promise<Descriptor | undefined> {
  const roots = room.index.current().find(repository);
  switch (kindOfReference(reference)) {
    case 'tag':
      return roots?.tags.get(reference);
    case 'digest':
      return roots?.manifests.get(reference as Digest) ?? (await room.views.of(repository)).manifests.get(reference as Digest);
    case undefined:
      if (reference.includes(':')) throw badDigest(reference);
      return undefined;
  }
}

function unknownManifest(room: ReadingRoom, { repository, reference }: ManifestRoute): Refusal {
  if (room.index.current().find(repository) === undefined) return unknownName(repository);
  return new Refusal(404, 'MANIFEST_UNKNOWN', 'The repository has no such manifest', {
    detail: { name: repository, reference: reference.slice(0, 200) },
  });
}

async function deleteManifest(room: RegistryRoom, { subject }: Ask, route: ManifestRoute): Promise<RegistryResponse> {
  const { repository, reference } = route;
  const found = await findManifest(room, route);
  if (found === undefined) throw unknownManifest(room, route);
  const isTag = kindOfReference(reference) === 'tag';
  if (!isTag) await assertUnlisted(room, repository, found.digest);
  const { placeOf } = room.index;
  await room.store.changeRoots((roots) =>
    isTag ? withoutTag(roots, repository, reference, placeOf) : withoutManifest(roots, repository, found.digest, placeOf),
  );
  return emptyAnswer(202, {}, subject);
}

/** What an index lists would still be shown, or be missing from it. */
async function assertUnlisted(room: ReadingRoom, repository: string, digest: Digest): Promise<void> {
  const index = (await room.views.of(repository)).listed.get(digest);
  if (index === undefined) return;
  throw new Refusal(405, 'UNSUPPORTED', `The index ${index} lists this manifest: delete that first`, { detail: { digest, index } });
}
