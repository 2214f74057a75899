import { assertStatus, locationOf } from './answer-checks.js';
import { type Bench } from './bench.js';
import { finishUpload, uploadsOf } from './push-blob.js';
import { mediaTypes, type Sample, type SampleManifest } from './sample.js';
import { type Answer, withQuery } from './wire.js';

/** The two kinds of manifests that the samples have. */
export const acceptManifests = { accept: `${mediaTypes.index}, ${mediaTypes.image}` };

export function manifestOf(repository: string, reference: string): string {
  return `/v2/${repository}/manifests/${reference}`;
}

/** `length: 'unsaid'` sends it in chunked coding, as some clients do. */
export function putManifest(
  bench: Bench,
  target: string,
  { mediaType, bytes }: Pick<SampleManifest, 'mediaType' | 'bytes'>,
  length: 'said' | 'unsaid' = 'said',
): Promise<Answer> {
  return bench.send('PUT', target, { headers: { 'content-type': mediaType }, body: bytes, streamed: length === 'unsaid' });
}

/** Those that point at the manifest. */
export function tagsOf(sample: Sample, { digest }: SampleManifest): string[] {
  return [...sample.tags].flatMap(([tag, manifest]) => (manifest.digest === digest ? [tag] : []));
}

/** As clients do: mounted from where they are, else sent. */
export async function pushBlobs(bench: Bench, repository: string, sample: Sample, from?: string): Promise<void> {
  for (const { digest, bytes } of sample.blobs.values()) {
    const mount = from === undefined ? uploadsOf(repository) : withQuery(withQuery(uploadsOf(repository), 'mount', digest), 'from', from);
    const answer = await bench.send('POST', mount);
    assertStatus(answer, 201, 202);
    if (answer.status === 202) assertStatus(await finishUpload(bench, locationOf(answer), digest, bytes), 201);
  }
}

export type PutAnswers = readonly { readonly manifest: SampleManifest; readonly answer: Answer }[];

export interface PushTraits {
  readonly tagBy?: 'put' | 'params';
  readonly from?: string;
}

/**
 * Puts everything there: blobs, manifests by digest, tags by a second put, or by parameters of the first. Gives the answers to the puts by digest, which
 * have to be 201. `from`: a repository that has the blobs.
 */
export async function pushSample(bench: Bench, repository: string, sample: Sample, { tagBy = 'put', from }: PushTraits = {}): Promise<PutAnswers> {
  await pushBlobs(bench, repository, sample, from);
  const answers: { manifest: SampleManifest; answer: Answer }[] = [];
  for (const manifest of sample.manifests) {
    const tags = tagBy === 'params' ? tagsOf(sample, manifest) : [];
    const target = tags.reduce((before, tag) => withQuery(before, 'tag', tag), manifestOf(repository, manifest.digest));
    const answer = await putManifest(bench, target, manifest);
    assertStatus(answer, 201);
    answers.push({ manifest, answer });
  }
  if (tagBy === 'params') return answers;
  for (const [tag, manifest] of sample.tags) assertStatus(await putManifest(bench, manifestOf(repository, tag), manifest, 'unsaid'), 201);
  return answers;
}
