import { assertAnswer, assertBody, assertHeader, assertStatus, jsonOf } from './answer-checks.js';
import { type Bench } from './bench.js';
import { blobOf } from './push-blob.js';
import { acceptManifests, manifestOf } from './push-sample.js';
import { mediaTypes, type SampleBlob, type SampleDescriptor, type SampleManifest } from './sample.js';
import { type Answer } from './wire.js';

export async function checkBlobGet(bench: Bench, repository: string, { digest, bytes }: SampleBlob): Promise<void> {
  const answer = await bench.get(blobOf(repository, digest));
  assertStatus(answer, 200);
  assertHeader(answer, 'content-length', String(bytes.length));
  assertBody(answer, bytes);
  bench.assertDigest(answer, digest);
}

export async function checkBlobHead(bench: Bench, repository: string, { digest, bytes }: SampleBlob): Promise<void> {
  const answer = await bench.head(blobOf(repository, digest));
  assertStatus(answer, 200);
  assertHeader(answer, 'content-length', String(bytes.length));
  assertBody(answer, Buffer.alloc(0));
  bench.assertDigest(answer, digest);
}

/** `start` and `end` as the field of the answer has them, both included. */
export async function checkBlobRange(
  bench: Bench,
  repository: string,
  { digest, bytes }: SampleBlob,
  range: string,
  [start, end]: readonly [number, number],
): Promise<void> {
  const answer = await bench.get(blobOf(repository, digest), { range });
  assertStatus(answer, 206);
  const said = answer.headers['content-range'];
  const isRight = said === `bytes ${start}-${end}/${bytes.length}` || said === `bytes ${start}-${end}/*`;
  assertAnswer(isRight, answer, `content-range: bytes ${start}-${end}/${bytes.length} and not ${String(said)}`);
  assertHeader(answer, 'content-length', String(end - start + 1));
  assertBody(answer, bytes.subarray(start, end + 1));
}

/** GET or HEAD by tag or digest. `digest`: the one that a header may say, of the canonical algorithm for a tag that was put. */
export async function checkManifest(
  bench: Bench,
  method: 'GET' | 'HEAD',
  repository: string,
  reference: string,
  { mediaType, digest, bytes }: SampleManifest,
): Promise<void> {
  const answer = await bench.send(method, manifestOf(repository, reference), { headers: acceptManifests });
  assertManifest(bench, answer, { mediaType, digest, bytes });
}

/** The very bytes that were put, under the type with which they were put. */
export function assertManifest(bench: Bench, answer: Answer, { mediaType, digest, bytes }: Omit<SampleManifest, 'subject'>): void {
  assertStatus(answer, 200);
  assertHeader(answer, 'content-type', mediaType);
  assertHeader(answer, 'content-length', String(bytes.length));
  assertBody(answer, answer.method === 'HEAD' ? Buffer.alloc(0) : bytes);
  bench.assertDigest(answer, digest);
}

/** What is attached to a manifest, the form of the list checked. (distribution-spec, Listing referrers) */
export async function listReferrers(bench: Bench, repository: string, subject: string, artifactType?: string): Promise<readonly SampleDescriptor[]> {
  const target = `/v2/${repository}/referrers/${subject}`;
  const answer = await bench.get(artifactType === undefined ? target : `${target}?artifactType=${encodeURIComponent(artifactType)}`);
  if (artifactType !== undefined) {
    const filters = String(answer.headers['oci-filters-applied'] ?? '').split(',');
    assertAnswer(
      filters.some((filter) => filter.trim() === 'artifactType'),
      answer,
      'oci-filters-applied: artifactType',
    );
  }
  return referrersIn(answer);
}

export function referrersIn(answer: Answer): readonly SampleDescriptor[] {
  assertStatus(answer, 200);
  assertHeader(answer, 'content-type', mediaTypes.index);
  const { schemaVersion, mediaType, manifests } = jsonOf(answer);
  assertAnswer(schemaVersion === 2 && mediaType === mediaTypes.index && Array.isArray(manifests), answer, 'an image index');
  return manifests as readonly SampleDescriptor[];
}

/** The tags of a repository from one answer, after `last`. */
export async function listTags(bench: Bench, repository: string, query = ''): Promise<readonly string[]> {
  return tagsIn(await bench.get(`/v2/${repository}/tags/list${query}`), repository);
}

export function tagsIn(answer: Answer, repository: string): readonly string[] {
  assertStatus(answer, 200);
  const { name, tags } = jsonOf(answer);
  assertAnswer(name === repository && Array.isArray(tags), answer, `the tags of ${repository}`);
  return tags as readonly string[];
}
