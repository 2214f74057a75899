import { type Bench } from './bench.js';
import { blobOf } from './push-blob.js';
import { acceptManifests, manifestOf, pushSample, type PushTraits } from './push-sample.js';
import { type Sample, type SampleManifest } from './sample.js';
import { type Answer } from './wire.js';

/** One deletion: what was answered to it, and what a HEAD said right after it. */
export interface Deletion {
  readonly answer: Answer;
  readonly after: Answer;
}

export interface ManifestDeletion extends Deletion {
  readonly manifest: SampleManifest;
  /** The list of what is attached to the subject, right after; undefined for a manifest without one. */
  readonly referrers: Answer | undefined;
}

export interface TagDeletion extends Deletion {
  /** HEAD of the manifest that the tag pointed at. */
  readonly manifest: Answer;
}

export interface SampleDeletion {
  readonly tags: readonly TagDeletion[];
  readonly manifests: readonly ManifestDeletion[];
  readonly blobs: readonly Deletion[];
}

/** Pushes everything, and takes it away piece by piece: tags, then manifests from the last to the first, then blobs. Nothing is judged. */
export async function deleteSample(bench: Bench, repository: string, sample: Sample, traits: PushTraits): Promise<SampleDeletion> {
  await pushSample(bench, repository, sample, traits);
  const tags: TagDeletion[] = [];
  for (const [tag, { digest }] of sample.tags) {
    const deletion = await deleteThere(bench, manifestOf(repository, tag));
    tags.push({ ...deletion, manifest: await bench.head(manifestOf(repository, digest), acceptManifests) });
  }
  const manifests: ManifestDeletion[] = [];
  for (const manifest of sample.manifests.toReversed()) {
    const deletion = await deleteThere(bench, manifestOf(repository, manifest.digest));
    const { subject } = manifest;
    const referrers = subject === undefined ? undefined : await bench.get(`/v2/${repository}/referrers/${subject}`);
    manifests.push({ ...deletion, manifest, referrers });
  }
  const blobs: Deletion[] = [];
  for (const { digest } of sample.blobs.values()) blobs.push(await deleteThere(bench, blobOf(repository, digest)));
  return { tags, manifests, blobs };
}

async function deleteThere(bench: Bench, target: string): Promise<Deletion> {
  const answer = await bench.send('DELETE', target);
  return { answer, after: await bench.head(target, acceptManifests) };
}
