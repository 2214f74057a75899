import { isDeepStrictEqual } from 'node:util';
import { assertAnswer, assertStatus } from '../answer-checks.js';
import { manifestOf, pushSample, putManifest } from '../push-sample.js';
import { listReferrers, referrersIn } from '../read-checks.js';
import { mediaTypes, Sample, type SampleDescriptor, toDescriptor } from '../sample.js';
import { type BeyondCell, pushImage, toBeyondCells } from './beyond-cell.js';

function assertDigests(found: readonly SampleDescriptor[], ...expected: readonly string[]): void {
  const digests = found.map(({ digest }) => digest).sort();
  if (!isDeepStrictEqual(digests, expected.toSorted())) throw new Error(`Attached are ${digests.join(' ')} and not ${expected.join(' ')}`);
}

/** The tag under which a client lists what is attached where it thinks that the registry does not. (distribution-spec, Referrers tag schema) */
function fallbackTag(digest: string): string {
  const [algorithm = '', encoded = ''] = digest.split(':');
  return `${algorithm.slice(0, 32)}-${encoded.slice(0, 64)}`;
}

export function listAttached(): BeyondCell[] {
  return toBeyondCells('referrers', {
    'what is listed under the fallback tag is listed, once': async (bench, repository) => {
      const sample = new Sample(repository);
      const subject = toDescriptor(sample.image());
      const attached = ['a', 'b'].map((type) => toDescriptor(sample.image({ artifactType: `application/vnd.example.${type}`, subject })));
      sample.tag(fallbackTag(subject.digest), sample.index(attached));
      await pushSample(bench, repository, sample);
      assertDigests(await listReferrers(bench, repository, subject.digest), ...attached.map(({ digest }) => digest));
    },
    'without a filter none was applied': async (bench, repository) => {
      const { digest } = await pushImage(bench, repository);
      const answer = await bench.get(`/v2/${repository}/referrers/${digest}`);
      assertDigests(referrersIn(answer));
      assertAnswer(answer.headers['oci-filters-applied'] === undefined, answer, 'no oci-filters-applied');
    },
    'a filter that nothing passes was applied all the same': async (bench, repository) => {
      const sample = new Sample(repository);
      const subject = toDescriptor(sample.image());
      sample.image({ artifactType: mediaTypes.exhibit, subject });
      await pushSample(bench, repository, sample);
      assertDigests(await listReferrers(bench, repository, subject.digest, mediaTypes.otherExhibit));
    },
    'an index without an artifactType has none in the list': async (bench, repository) => {
      const sample = new Sample(repository);
      const subject = toDescriptor(sample.image());
      const { digest } = sample.index([], { subject });
      await pushSample(bench, repository, sample);
      const found = await listReferrers(bench, repository, subject.digest);
      assertDigests(found, digest);
      if (found.some(({ artifactType }) => artifactType !== undefined)) throw new Error(`There is an artifactType: ${JSON.stringify(found)}`);
    },
    'what another repository attached is not listed': async (bench, repository) => {
      const sample = new Sample(repository);
      const subject = sample.image();
      sample.image({ artifactType: mediaTypes.exhibit, subject: toDescriptor(subject) });
      await pushSample(bench, `${repository}/other`, sample);
      assertDigests(await listReferrers(bench, repository, subject.digest));
    },
    'what was attached before its subject came is listed after': async (bench, repository) => {
      const sample = new Sample(repository);
      const subject = sample.image();
      const attached = sample.image({ artifactType: mediaTypes.exhibit, subject: toDescriptor(subject) });
      await pushSample(bench, `${repository}/other`, sample);
      const late = { blobs: sample.blobs, manifests: [attached], tags: new Map() };
      await pushSample(bench, repository, Object.assign(new Sample('late'), late));
      assertDigests(await listReferrers(bench, repository, subject.digest), attached.digest);
      assertStatus(await putManifest(bench, manifestOf(repository, 'v1'), subject), 201);
      assertDigests(await listReferrers(bench, repository, subject.digest), attached.digest);
    },
    'what is attached to what is attached is listed for it': async (bench, repository) => {
      const sample = new Sample(repository);
      const subject = sample.image();
      const first = sample.image({ artifactType: mediaTypes.exhibit, subject: toDescriptor(subject) });
      const second = sample.image({ artifactType: mediaTypes.otherExhibit, subject: toDescriptor(first) });
      await pushSample(bench, repository, sample);
      assertDigests(await listReferrers(bench, repository, subject.digest), first.digest);
      assertDigests(await listReferrers(bench, repository, first.digest), second.digest);
    },
  });
}
