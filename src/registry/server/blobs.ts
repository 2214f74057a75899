import { type Descriptor, type Digest, parseDigest } from '../../core/index.js';
import { emptyAnswer } from './answers.js';
import { parseByteRange } from './byte-range.js';
import type { RegistryRequest, RegistryResponse } from './http.js';
import { Refusal } from './refusal.js';
import type { Ask, ReadingRoom, RegistryRoom, ServedBlob } from './room.js';

interface BlobRoute {
  readonly repository: string;
  readonly digest: string;
}

/** (distribution-spec 1.1, end-2 and end-10) */
export async function answerBlob(room: RegistryRoom, ask: Ask, { repository, digest: text }: BlobRoute): Promise<RegistryResponse> {
  const digest = parseDigest(text);
  if (ask.request.method === 'DELETE') return deleteBlob(room, ask, repository, digest);
  const here = await findServed(room, repository, digest);
  if (here !== undefined) room.mirror?.count('hit');
  const blob = here ?? (await room.mirror?.findBlob(repository, digest));
  if (blob === undefined) throw unknownBlob(digest);
  return sendBlob(ask, digest, blob);
}

async function findServed(room: ReadingRoom, repository: string, digest: Digest): Promise<ServedBlob | undefined> {
  const found = await findBlob(room, repository, digest);
  if (found === undefined) return undefined;
  // Who is told that it is there does not send it.
  room.store.touch(digest);
  // Not hashed again: who pulls does that, and what rots on the disk is found by a scrub.
  return { size: found.size, open: (start, end) => room.store.open(found, { start, end }) };
}

/**
 * A blob that a repository shows, as it lies in the store. One that was cut off there is as good as gone: who finds it missing sends it again, which
 * mends it.
 */
export async function findBlob(room: ReadingRoom, repository: string, digest: Digest): Promise<Descriptor | undefined> {
  const named = (await room.views.of(repository)).blobs.get(digest);
  if (named === undefined && !room.store.hasClaim(repository, digest)) return undefined;
  const found = await room.store.findBlob(digest);
  if (found === undefined || named === undefined || found.size === named.size) return found;
  room.announce({
    level: 'error',
    code: 'bytes/size-mismatch',
    message: `Cannot serve the blob ${digest} of ${repository}: expected ${named.size} bytes, found ${found.size}`,
    hint: 'Push the package again, or set damaged blobs aside with `modelport registry scrub`',
  });
  return undefined;
}

/** Shown by any repository at all; for who may read them all. */
export async function findBlobAnywhere(room: ReadingRoom, digest: Digest): Promise<Descriptor | undefined> {
  const found = await room.store.findBlob(digest);
  if (found === undefined) return undefined;
  for (const repository of new Set([...room.store.listClaimants(), ...room.index.current().names()])) {
    if ((await findBlob(room, repository, digest)) !== undefined) return found;
  }
  return undefined;
}

function sendBlob({ request, subject }: Ask, digest: Digest, blob: ServedBlob): RegistryResponse {
  const { size } = blob;
  const etag = `"${digest}"`;
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Docker-Content-Digest': digest,
    'Accept-Ranges': 'bytes',
    ETag: etag,
    // What a digest names never changes.
    'Cache-Control': 'max-age=31536000, immutable',
  };
  if (isNamed(request.headers['if-none-match'], etag)) return emptyAnswer(304, headers, subject);
  const range = isRangeMeant(request, etag) ? parseByteRange(request.headers['range'], size) : { kind: 'whole' as const };
  if (range.kind === 'unsatisfiable') {
    throw new Refusal(416, 'RANGE_INVALID', `The blob is ${size} bytes long`, { headers: { 'Content-Range': `bytes */${size}` } });
  }
  const [start, end] = range.kind === 'part' ? [range.start, range.end] : [0, size];
  const length = { ...headers, 'Content-Length': String(end - start) };
  const body = () => blob.open(start, end);
  if (range.kind === 'whole') return { status: 200, headers: length, body, subject };
  return { status: 206, headers: { ...length, 'Content-Range': `bytes ${start}-${end - 1}/${size}` }, body, subject };
}

/** HEAD says how long the whole is. `If-Range`: the part only of what the client has begun to fetch. */
function isRangeMeant({ method, headers }: RegistryRequest, etag: string): boolean {
  const condition = headers['if-range'];
  return method === 'GET' && (condition === undefined || condition === etag);
}

/** Whether `If-Match` or `If-None-Match` names an entity. (RFC 9110, 13.1) */
export function isNamed(field: string | undefined, etag: string): boolean {
  return field !== undefined && field.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}

async function deleteBlob(room: RegistryRoom, { subject }: Ask, repository: string, digest: Digest): Promise<RegistryResponse> {
  const user = (await room.views.of(repository)).blobs.get(digest)?.user;
  if (user !== undefined && (await room.store.findBlob(digest)) !== undefined) {
    throw new Refusal(405, 'UNSUPPORTED', `The manifest ${user} needs this blob: delete that first`, { detail: { digest, manifest: user } });
  }
  if (!(await room.store.dropClaim(repository, digest))) throw unknownBlob(digest);
  return emptyAnswer(202, {}, subject);
}

function unknownBlob(digest: Digest): Refusal {
  return new Refusal(404, 'BLOB_UNKNOWN', 'The repository has no such blob', { detail: { digest } });
}
