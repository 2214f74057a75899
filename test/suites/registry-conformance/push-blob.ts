import { assertAnswer, assertBody, assertHeader, assertStatus, locationOf } from './answer-checks.js';
import { type Bench } from './bench.js';
import { mediaTypes, type SampleBlob } from './sample.js';
import { type Answer, withQuery } from './wire.js';

/** The ways to push a blob that the specification knows. */
export const pushStyles = ['post only', 'post put', 'chunked', 'streaming'] as const;
export type PushStyle = (typeof pushStyles)[number];

const asBytes = { 'content-type': mediaTypes.bytes };

export function uploadsOf(repository: string): string {
  return `/v2/${repository}/blobs/uploads/`;
}

export function blobOf(repository: string, digest: string): string {
  return `/v2/${repository}/blobs/${digest}`;
}

/** POST: the upload that was begun. In `dev` the registry is told when the digest will not be sha256. */
export async function beginUpload(bench: Bench, repository: string, digest = 'sha256:'): Promise<Answer> {
  const algorithm = digest.slice(0, digest.indexOf(':'));
  const isTold = bench.version === 'dev' && algorithm !== 'sha256';
  const begun = await bench.send('POST', isTold ? withQuery(uploadsOf(repository), 'digest-algorithm', algorithm) : uploadsOf(repository));
  assertStatus(begun, 202);
  return begun;
}

/** Sends the blob, and gives the last answer unjudged, so that a digest may also be a wrong one; the answers before it have to be right. */
export async function pushBlob(bench: Bench, repository: string, blob: SampleBlob, style: PushStyle): Promise<Answer> {
  switch (style) {
    case 'post only':
      return bench.send('POST', withQuery(uploadsOf(repository), 'digest', blob.digest), { headers: asBytes, body: blob.bytes });
    case 'post put':
      return finishUpload(bench, locationOf(await beginUpload(bench, repository, blob.digest)), blob.digest, blob.bytes);
    case 'chunked':
      return pushChunked(bench, repository, blob);
    case 'streaming':
      return pushStreamed(bench, repository, blob);
  }
}

/** PUT, with the whole blob or with nothing more. */
export function finishUpload(bench: Bench, location: string, digest: string, body?: Uint8Array): Promise<Answer> {
  return bench.send('PUT', withQuery(location, 'digest', digest), { headers: asBytes, ...(body === undefined ? {} : { body }) });
}

async function pushStreamed(bench: Bench, repository: string, { digest, bytes }: SampleBlob): Promise<Answer> {
  const begun = await beginUpload(bench, repository, digest);
  const sent = await bench.send('PATCH', locationOf(begun), { headers: asBytes, body: bytes, streamed: true });
  assertStatus(sent, 202);
  return finishUpload(bench, locationOf(sent), digest);
}

export interface ChunkTraits {
  /** The last chunk comes with the PUT. */
  readonly putsLast?: boolean;
  /** Before each chunk one is sent that does not come next. */
  readonly strays?: boolean;
}

/** In three pieces, or fewer when the registry wants larger ones. */
export async function pushChunked(bench: Bench, repository: string, blob: SampleBlob, traits: ChunkTraits = {}): Promise<Answer> {
  const { digest, bytes } = blob;
  const begun = await beginUpload(bench, repository, digest);
  const length = Math.max(Math.floor(bytes.length / 3) + 1, minimumChunk(begun));
  let location = locationOf(begun);
  for (let start = 0; start < bytes.length; start += length) {
    if (traits.strays === true) location = await stray(bench, location, blob, { start, length, ...traits });
    const isLast = start + length >= bytes.length;
    if (traits.putsLast === true && isLast) return sendChunk(bench, 'PUT', withQuery(location, 'digest', digest), bytes, start, length);
    const sent = await sendChunk(bench, 'PATCH', location, bytes, start, length);
    assertStatus(sent, 202);
    assertHeader(sent, 'range', `0-${Math.min(start + length, bytes.length) - 1}`);
    location = locationOf(sent);
  }
  return finishUpload(bench, location, digest);
}

/** What a registry wants a chunk to have at least, the last one excepted. */
export function minimumChunk({ headers }: Answer): number {
  return Number(headers['oci-chunk-min-length'] ?? 0);
}

/** A range of both ends included, without a unit. (distribution-spec, Pushing a blob in chunks) */
export function sendChunk(bench: Bench, method: string, target: string, bytes: Buffer, start: number, length: number): Promise<Answer> {
  const body = bytes.subarray(start, start + length);
  return bench.send(method, target, { headers: { ...asBytes, 'content-range': `${start}-${start + body.length - 1}` }, body });
}

/** Sends the chunk after the next one, or the first again: refused, and the upload stands where it stood. Gives its place as the registry says it. */
async function stray(
  bench: Bench,
  location: string,
  { digest, bytes }: SampleBlob,
  { start, length, putsLast }: ChunkTraits & { readonly start: number; readonly length: number },
): Promise<string> {
  const wrong = start + length < bytes.length ? start + length : 0;
  const puts = putsLast === true && wrong + length >= bytes.length;
  const target = puts ? withQuery(location, 'digest', digest) : location;
  assertStatus(await sendChunk(bench, puts ? 'PUT' : 'PATCH', target, bytes, wrong, length), 416);
  const status = await bench.get(location);
  assertStatus(status, 204);
  const { range = '' } = status.headers;
  assertAnswer(start === 0 ? /^0-\d+$/.test(range) : range === `0-${start - 1}`, status, `a range of ${start} bytes and not ${range}`);
  return locationOf(status);
}

/** The answer to the last request of a push says where the blob is, and there it is. */
export async function assertStored(bench: Bench, stored: Answer, { digest, bytes }: SampleBlob): Promise<void> {
  assertStatus(stored, 201);
  bench.assertDigest(stored, digest);
  const there = await bench.get(locationOf(stored));
  assertStatus(there, 200);
  assertBody(there, bytes);
}
