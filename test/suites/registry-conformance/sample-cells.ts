import { isDeepStrictEqual } from 'node:util';
import { assertAnswer, assertHeader, assertStatus, locationOf } from './answer-checks.js';
import { type Bench } from './bench.js';
import { type Check, type ConformanceVersion, type RunnableCell } from './cell.js';
import { deleteSample, type SampleDeletion } from './delete-sample.js';
import { assertStored, beginUpload, blobOf, pushBlob, type PushStyle, uploadsOf } from './push-blob.js';
import { acceptManifests, manifestOf, pushBlobs, pushSample, type PutAnswers, putManifest, tagsOf } from './push-sample.js';
import { assertManifest, checkBlobGet, checkBlobHead, checkBlobRange, checkManifest, listReferrers, listTags, referrersIn } from './read-checks.js';
import { type Sample, type SampleBlob } from './sample.js';
import { listSampleKinds, makeSample, type SampleKind } from './sample-kinds.js';
import { withQuery } from './wire.js';

/** Every check that has something to do with one kind of content, for every kind. */
export function listSampleCells(version: ConformanceVersion): RunnableCell[] {
  return listSampleKinds(version).flatMap((kind) => {
    const trials = new SampleTrials(kind, makeSample(kind));
    return trials.list(version).map(([check, run]): RunnableCell => ({ data: kind.name, check, run }));
  });
}

type Trial = readonly [check: Check, run: (bench: Bench) => Promise<void>];

class SampleTrials {
  readonly #tagBy: 'put' | 'params';

  constructor(
    private readonly kind: SampleKind,
    private readonly sample: Sample,
  ) {
    this.#tagBy = kind.tagParams === true ? 'params' : 'put';
  }

  list(version: ConformanceVersion): Trial[] {
    const { blobs, tags, referrers } = this.sample;
    return [
      ['Tag listing', (bench) => this.#listTags(bench)],
      ...(tags.size > 0 ? this.#tagTrials(version) : []),
      ...(blobs.size > 0 ? this.#blobTrials(version) : []),
      ...this.#manifestTrials(),
      ...(referrers.size > 0 ? this.#referrerTrials() : []),
    ];
  }

  #tagTrials(version: ConformanceVersion): Trial[] {
    const { tags } = this.sample;
    const putsByTag: Trial = ['Manifest put by tag', (bench) => this.#putByTag(bench)];
    const putsWithParams: Trial = ['Manifest put with tag params', (bench) => this.#putWithTagParams(bench)];
    return [
      ['Tag delete', (bench) => this.#deleteTags(bench)],
      ['Tag delete atomic', async (bench) => (await this.#deleted(bench)).tags.forEach(({ after }) => assertStatus(after, 404))],
      // A tag that was set by a parameter names a digest of any algorithm, one that is put a sha256.
      ...(this.#tagBy === 'put' ? [putsByTag] : []),
      ...(version === 'dev' ? [putsWithParams] : []),
      ...(['GET', 'HEAD'] as const).map((method): Trial => {
        const check = method === 'GET' ? 'Manifest get by tag' : 'Manifest head by tag';
        return [check, (bench) => this.#read(bench, [...tags], (at, [tag, manifest]) => checkManifest(bench, method, at, tag, manifest))];
      }),
    ];
  }

  #blobTrials(version: ConformanceVersion): Trial[] {
    const blobs = [...this.sample.blobs.values()];
    const pushed = (style: PushStyle) => (bench: Bench) => this.#pushBlobs(bench, style);
    const cancels: Trial = ['Blob upload cancel', (bench) => this.#cancelUploads(bench)];
    return [
      ...(version === 'dev' ? [cancels] : []),
      ['Blob push', (bench) => this.#read(bench, blobs, (at, blob) => checkBlobHead(bench, at, blob))],
      ['Blob post only', pushed('post only')],
      ['Blob post put', pushed('post put')],
      ['Blob chunked', pushed('chunked')],
      ['Blob streaming', pushed('streaming')],
      ['Blob mount', (bench) => this.#mountBlobs(bench, 'from')],
      ['Blob anonymous mount', (bench) => this.#mountBlobs(bench, 'anywhere')],
      ['Blob get', (bench) => this.#read(bench, blobs, (at, blob) => checkBlobGet(bench, at, blob))],
      ['Blob get range', (bench) => this.#read(bench, blobs, (at, blob) => checkRanges(bench, at, blob))],
      ['Blob head', (bench) => this.#read(bench, blobs, (at, blob) => checkBlobHead(bench, at, blob))],
      ['Blob delete', async (bench) => (await this.#deleted(bench)).blobs.forEach(({ answer }) => assertStatus(answer, 202))],
      ['Blob delete atomic', async (bench) => (await this.#deleted(bench)).blobs.forEach(({ after }) => assertStatus(after, 404))],
    ];
  }

  #manifestTrials(): Trial[] {
    const { manifests } = this.sample;
    const read = (method: 'GET' | 'HEAD') => (bench: Bench) =>
      this.#read(bench, manifests, (at, manifest) => checkManifest(bench, method, at, manifest.digest, manifest));
    return [
      ['Manifest put by digest', (bench) => this.#putByDigest(bench)],
      ['Manifest get by digest', read('GET')],
      ['Manifest head by digest', read('HEAD')],
      ['Manifest delete', async (bench) => (await this.#deleted(bench)).manifests.forEach(({ answer }) => assertStatus(answer, 202))],
      ['Manifest delete atomic', (bench) => this.#deleteManifestsAtOnce(bench)],
    ];
  }

  #referrerTrials(): Trial[] {
    return [
      ['Manifest put with subject', (bench) => this.#putWithSubject(bench)],
      ['Referrers', (bench) => this.#listReferrers(bench)],
    ];
  }

  #repository(purpose: string): string {
    return `conformance/${this.kind.name.replaceAll(' ', '-')}/${purpose}`;
  }

  /** What is read by many cells and changed by none. */
  #pushed(bench: Bench): Promise<PutAnswers> {
    return bench.once(this.#repository('kept'), () => pushSample(bench, this.#repository('kept'), this.sample, { tagBy: this.#tagBy }));
  }

  async #deleted(bench: Bench): Promise<SampleDeletion> {
    await this.#pushed(bench);
    const traits = { tagBy: this.#tagBy, from: this.#repository('kept') };
    return bench.once(this.#repository('deleted'), () => deleteSample(bench, this.#repository('deleted'), this.sample, traits));
  }

  async #read<T>(bench: Bench, items: readonly T[], check: (repository: string, item: T) => Promise<void>): Promise<void> {
    await this.#pushed(bench);
    for (const item of items) await check(this.#repository('kept'), item);
  }

  async #listTags(bench: Bench): Promise<void> {
    await this.#pushed(bench);
    const repository = this.#repository('kept');
    const expected = [...this.sample.tags.keys()].sort();
    assertList(await listTags(bench, repository), expected);
    for (const [at, tag] of expected.entries()) assertList(await listTags(bench, repository, `?last=${tag}`), expected.slice(at + 1));
  }

  async #deleteTags(bench: Bench): Promise<void> {
    for (const { answer, manifest } of (await this.#deleted(bench)).tags) {
      assertStatus(answer, 202);
      assertStatus(manifest, 200);
    }
  }

  async #cancelUploads(bench: Bench): Promise<void> {
    for (const { digest, bytes } of this.sample.blobs.values()) {
      const begun = await beginUpload(bench, this.#repository('cancelled'), digest);
      const sent = await bench.send('PATCH', locationOf(begun), { body: bytes, streamed: true });
      assertStatus(sent, 202);
      assertStatus(await bench.send('DELETE', locationOf(sent)), 204);
      assertStatus(await bench.get(locationOf(sent)), 404);
      assertStatus(await bench.send('PUT', withQuery(locationOf(sent), 'digest', digest)), 404);
      assertStatus(await bench.head(blobOf(this.#repository('cancelled'), digest)), 404);
    }
  }

  async #pushBlobs(bench: Bench, style: PushStyle): Promise<void> {
    const repository = this.#repository(style.replace(' ', '-'));
    for (const blob of this.sample.blobs.values()) {
      await assertStored(bench, await pushBlob(bench, repository, blob, style), blob);
      await checkBlobHead(bench, repository, blob);
    }
  }

  async #mountBlobs(bench: Bench, source: 'from' | 'anywhere'): Promise<void> {
    await this.#pushed(bench);
    const repository = this.#repository(`mounted-${source}`);
    for (const blob of this.sample.blobs.values()) {
      const mount = withQuery(uploadsOf(repository), 'mount', blob.digest);
      const mounted = await bench.send('POST', source === 'from' ? withQuery(mount, 'from', this.#repository('kept')) : mount);
      await assertStored(bench, mounted, blob);
      await checkBlobGet(bench, repository, blob);
    }
  }

  async #putByDigest(bench: Bench): Promise<void> {
    for (const { manifest, answer } of await this.#pushed(bench)) {
      bench.assertDigest(answer, manifest.digest);
      assertManifest(bench, await bench.get(locationOf(answer), acceptManifests), manifest);
    }
  }

  async #putByTag(bench: Bench): Promise<void> {
    await this.#pushed(bench);
    const repository = this.#repository('tagged');
    await pushBlobs(bench, repository, this.sample, this.#repository('kept'));
    for (const manifest of this.sample.manifests) {
      const tags = tagsOf(this.sample, manifest);
      for (const reference of tags.length === 0 ? [manifest.digest] : tags) {
        const answer = await putManifest(bench, manifestOf(repository, reference), manifest, 'unsaid');
        assertStatus(answer, 201);
        bench.assertDigest(answer, manifest.digest);
        if (manifest.subject !== undefined) assertHeader(answer, 'oci-subject', manifest.subject);
        assertManifest(bench, await bench.get(locationOf(answer), acceptManifests), manifest);
      }
    }
  }

  async #putWithTagParams(bench: Bench): Promise<void> {
    await this.#pushed(bench);
    const repository = this.#repository('tag-params');
    await pushSample(bench, repository, this.sample, { tagBy: 'params', from: this.#repository('kept') });
    for (const [tag, manifest] of this.sample.tags) {
      const target = withQuery(withQuery(manifestOf(repository, manifest.digest), 'tag', tag), 'tag', `${tag}-again`);
      const answer = await putManifest(bench, target, manifest, 'unsaid');
      assertStatus(answer, 201);
      const accepted = String(answer.headers['oci-tag'] ?? '').split(/\s*,\s*/);
      assertAnswer(isDeepStrictEqual(accepted, [tag, `${tag}-again`]), answer, `oci-tag: ${tag}, ${tag}-again and not ${accepted.join(', ')}`);
      for (const name of accepted) await checkManifest(bench, 'GET', repository, name, manifest);
    }
  }

  async #deleteManifestsAtOnce(bench: Bench): Promise<void> {
    for (const { after, manifest, referrers } of (await this.#deleted(bench)).manifests) {
      assertStatus(after, 404);
      if (referrers === undefined) continue;
      const isListed = referrersIn(referrers).some(({ digest }) => digest === manifest.digest);
      assertAnswer(!isListed, referrers, `a list without ${manifest.digest}`);
    }
  }

  async #putWithSubject(bench: Bench): Promise<void> {
    for (const { manifest, answer } of await this.#pushed(bench)) {
      if (manifest.subject !== undefined) assertHeader(answer, 'oci-subject', manifest.subject);
    }
  }

  async #listReferrers(bench: Bench): Promise<void> {
    await this.#pushed(bench);
    const repository = this.#repository('kept');
    for (const [subject, expected] of this.sample.referrers) {
      const byDigest = (list: typeof expected) => list.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
      assertList(byDigest([...(await listReferrers(bench, repository, subject))]), byDigest(expected));
      for (const type of new Set(expected.map(({ artifactType }) => artifactType))) {
        const found = await listReferrers(bench, repository, subject, type);
        assertList(byDigest([...found]), byDigest(expected.filter(({ artifactType }) => artifactType === type)));
      }
    }
  }
}

function assertList(found: readonly unknown[], expected: readonly unknown[]): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`The list is ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`);
}

/** From the start, to the end, and from the end; what a range goes beyond the end is cut. */
async function checkRanges(bench: Bench, repository: string, blob: SampleBlob): Promise<void> {
  const end = blob.bytes.length - 1;
  await checkBlobRange(bench, repository, blob, 'bytes=0-0', [0, 0]);
  await checkBlobRange(bench, repository, blob, 'bytes=1-', [1, end]);
  await checkBlobRange(bench, repository, blob, 'bytes=-1', [end, end]);
  await checkBlobRange(bench, repository, blob, `bytes=1-${end + 1000}`, [1, end]);
}
