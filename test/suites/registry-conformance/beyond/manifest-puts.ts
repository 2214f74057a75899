import { assertAnswer, assertHeader, assertRefusal, assertStatus, errorsOf } from '../answer-checks.js';
import { type Bench } from '../bench.js';
import { acceptManifests, manifestOf, pushBlobs, pushSample, putManifest } from '../push-sample.js';
import { checkManifest } from '../read-checks.js';
import { digestOf, mediaTypes, Sample, seededBytes, toDescriptor } from '../sample.js';
import { blobOf } from '../push-blob.js';
import { withQuery } from '../wire.js';
import { type BeyondCell, pushImage, toBeyondCells } from './beyond-cell.js';

/** Puts an image whose text was changed by `change`; its blobs are there. */
function refusesText(change: (text: string) => string | Uint8Array, code = 'MANIFEST_INVALID') {
  return async (bench: Bench, repository: string) => {
    const sample = new Sample(repository);
    const text = sample.image().bytes.toString('utf8');
    await pushBlobs(bench, repository, sample);
    const bytes = Buffer.from(change(text));
    assertRefusal(await putManifest(bench, manifestOf(repository, 'v1'), { mediaType: mediaTypes.image, bytes }), 400, code);
    assertRefusal(await bench.get(manifestOf(repository, 'v1')), 404);
    assertRefusal(await bench.get(manifestOf(repository, digestOf(bytes))), 404);
  };
}

function refusesTag(tag: string) {
  return async (bench: Bench, repository: string) => {
    const image = await pushImage(bench, repository, 'v1');
    assertRefusal(await putManifest(bench, manifestOf(repository, tag), image), [400, 404]);
    assertRefusal(await bench.get(manifestOf(repository, tag)), [400, 404]);
    assertRefusal(await putManifest(bench, withQuery(manifestOf(repository, image.digest), 'tag', decodeURIComponent(tag)), image), 400);
  };
}

const limit = 4 * 1024 * 1024;

/** Larger than any registry of ours takes; afterwards the registry is as usable as before. */
function refusesSize(length: 'said' | 'unsaid') {
  return async (bench: Bench, repository: string) => {
    const sample = new Sample(repository);
    const image = sample.image({ annotations: { 'org.example.large': 'A'.repeat(limit + 1) } });
    await pushBlobs(bench, repository, sample);
    assertRefusal(await putManifest(bench, manifestOf(repository, 'v1'), image, length), 413);
    assertStatus(await bench.get('/v2/'), 200);
    assertRefusal(await bench.get(manifestOf(repository, 'v1')), 404);
  };
}

/** The answer says which one is missing, for a program too. */
async function checkMissing(bench: Bench, repository: string, sample: Sample, digest: string): Promise<void> {
  const manifest = sample.manifests.at(-1)!;
  const answer = await putManifest(bench, manifestOf(repository, 'v1'), manifest);
  assertRefusal(answer, 400, 'MANIFEST_BLOB_UNKNOWN');
  assertAnswer(
    errorsOf(answer).some(({ detail }) => JSON.stringify(detail ?? '').includes(digest)),
    answer,
    `${digest} in a detail`,
  );
  assertRefusal(await bench.get(manifestOf(repository, 'v1')), 404);
}

/** (distribution-spec, Deleting manifests, Deleting blobs: what was deleted is 404.) */
async function checkDeletion(bench: Bench, target: string): Promise<void> {
  const deleted = await bench.send('DELETE', target);
  assertStatus(await bench.head(target), deleted.status === 202 ? 404 : 200);
}

function putsTags(count: number) {
  return async (bench: Bench, repository: string) => {
    const image = await pushImage(bench, repository);
    const tags = Array.from({ length: count }, (_, at) => `1.${at}`);
    const target = tags.reduce((before, tag) => withQuery(before, 'tag', tag), manifestOf(repository, image.digest));
    const answer = await putManifest(bench, target, image);
    assertStatus(answer, 201);
    assertHeader(answer, 'oci-tag', tags.join(', '));
    for (const tag of tags) await checkManifest(bench, 'HEAD', repository, tag, image);
  };
}

export function listManifestPuts(): BeyondCell[] {
  return [...listContents(), ...listReferences()];
}

function listContents(): BeyondCell[] {
  return toBeyondCells('manifest contents', {
    'parameters of the Content-Type mean nothing': async (bench, repository) => {
      const image = await pushImage(bench, repository);
      const mediaType = `${image.mediaType}; charset=utf-8`;
      assertStatus(await putManifest(bench, manifestOf(repository, 'v1'), { mediaType, bytes: image.bytes }), 201);
      await checkManifest(bench, 'GET', repository, 'v1', image);
    },
    'a Content-Type that is not the mediaType: 400': async (bench, repository) => {
      const { bytes } = await pushImage(bench, repository);
      assertRefusal(await putManifest(bench, manifestOf(repository, 'v1'), { mediaType: mediaTypes.index, bytes }), 400, 'MANIFEST_INVALID');
    },
    'layers and manifests in one: 400': refusesText((text) => text.replace('{', '{"manifests":[],')),
    'a key twice: 400': refusesText((text) => text.replace('{', '{"config":{},')),
    'a key twice, deep inside: 400': refusesText((text) => text.replace('"layers":[{', '"layers":[{"digest":"sha256:0",')),
    'a digest that is none: 400': refusesText((text) => text.replace(/"digest":"sha256:[^"]+"/, '"digest":"sha256:0"')),
    'a size below zero: 400': refusesText((text) => text.replace(/"size":\d+/, '"size":-1')),
    'text that is no JSON: 400': refusesText(() => 'hello'),
    'JSON that is no object: 400': refusesText(() => '[]'),
    'an empty body: 400': refusesText(() => ''),
    'bytes that are no UTF-8: 400': refusesText((text) =>
      Buffer.concat([Buffer.from(text.replace(/\}$/, ',"a":"')), Buffer.from([0xff, 0x22, 0x7d])]),
    ),
    'JSON a hundred thousand deep: 400': refusesText((text) => text.replace('{', `{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},`)),
    'more than 4 MiB, as Content-Length says: 413': refusesSize('said'),
    'more than 4 MiB without Content-Length: 413': refusesSize('unsaid'),
    'a config that is missing: 400, and which': async (bench, repository) => {
      const sample = new Sample(repository);
      const config = { mediaType: mediaTypes.config, digest: digestOf(seededBytes(repository, 9)), size: 9 };
      sample.image({ config });
      await pushBlobs(bench, repository, sample);
      await checkMissing(bench, repository, sample, config.digest);
    },
    'a layer that only another repository has: 400, and which': async (bench, repository) => {
      const sample = new Sample(repository);
      sample.image();
      await pushSample(bench, `${repository}/other`, sample);
      const [first, ...others] = [...sample.blobs.keys()];
      for (const digest of others) sample.blobs.delete(digest);
      await pushBlobs(bench, repository, sample);
      if (first === undefined) throw new Error('An image has blobs');
      await checkMissing(bench, repository, sample, others[0]!);
    },
    'a child of an index that is missing: 400, and which': async (bench, repository) => {
      const sample = new Sample(repository);
      const child = toDescriptor(sample.image());
      sample.index([child]);
      await checkMissing(bench, repository, sample, child.digest);
    },
  });
}

function listReferences(): BeyondCell[] {
  return toBeyondCells('manifest references', {
    'ten tags in one put, all of them said': putsTags(10),
    'fifty tags in one put, all of them said': putsTags(50),
    'more tags than a request may name: refused, and none is set': async (bench, repository) => {
      const image = await pushImage(bench, repository);
      const tags = Array.from({ length: 1500 }, (_, at) => `1.${at}`);
      const target = `${manifestOf(repository, image.digest)}?tag=${tags.join('&tag=')}`;
      assertRefusal(await putManifest(bench, target, image), [400, 414, 431]);
      assertRefusal(await bench.get(manifestOf(repository, '1.0')), 404);
    },
    'the same manifest twice': async (bench, repository) => {
      const image = await pushImage(bench, repository, 'v1');
      for (const reference of ['v1', image.digest]) assertStatus(await putManifest(bench, manifestOf(repository, reference), image), 201);
      await checkManifest(bench, 'GET', repository, 'v1', image);
    },
    'a manifest that two repositories have is deleted in one': async (bench, repository) => {
      const sample = new Sample(repository);
      const image = sample.image();
      for (const name of [repository, `${repository}/other`]) await pushSample(bench, name, sample);
      assertStatus(await bench.send('DELETE', manifestOf(repository, image.digest)), 202);
      assertRefusal(await bench.get(manifestOf(repository, image.digest)), 404);
      await checkManifest(bench, 'GET', `${repository}/other`, image.digest, image);
    },
    'a child of an index is deleted: gone at once, or refused and still there': async (bench, repository) => {
      const sample = new Sample(repository);
      sample.tag('v1', sample.fullIndex());
      await pushSample(bench, repository, sample);
      await checkDeletion(bench, manifestOf(repository, sample.manifests[0]!.digest));
      await checkManifest(bench, 'GET', repository, 'v1', sample.manifests.at(-1)!);
    },
    'a blob that a manifest names is deleted: gone at once, or refused and still there': async (bench, repository) => {
      const sample = new Sample(repository);
      sample.tag('v1', sample.image());
      await pushSample(bench, repository, sample);
      for (const digest of sample.blobs.keys()) await checkDeletion(bench, blobOf(repository, digest));
      await checkManifest(bench, 'GET', repository, 'v1', sample.manifests[0]!);
    },
    'children of an index outlive it': async (bench, repository) => {
      const sample = new Sample(repository);
      const index = sample.fullIndex();
      await pushSample(bench, repository, sample);
      assertStatus(await bench.send('DELETE', manifestOf(repository, index.digest)), 202);
      for (const child of sample.manifests.slice(0, -1)) await checkManifest(bench, 'GET', repository, child.digest, child);
    },
    'a tag that was deleted is set again': async (bench, repository) => {
      await pushImage(bench, repository, 'v1');
      assertStatus(await bench.send('DELETE', manifestOf(repository, 'v1')), 202);
      const other = await pushImage(bench, repository, 'v1', 'v2');
      await checkManifest(bench, 'GET', repository, 'v1', other);
    },
    'a manifest that was deleted is put again': async (bench, repository) => {
      const image = await pushImage(bench, repository, 'v1');
      assertStatus(await bench.send('DELETE', manifestOf(repository, image.digest)), 202);
      assertStatus(await putManifest(bench, manifestOf(repository, 'v1'), image), 201);
      await checkManifest(bench, 'GET', repository, image.digest, image);
    },
    'a manifest of another repository is not there': async (bench, repository) => {
      const { digest } = await pushImage(bench, `${repository}/other`, 'v1');
      for (const reference of [digest, 'v1']) assertRefusal(await bench.get(manifestOf(repository, reference)), 404);
    },
    'an Accept without its type does not hide it': async (bench, repository) => {
      const image = await pushImage(bench, repository, 'v1');
      assertStatus(await bench.get(manifestOf(repository, 'v1')), 200);
      assertStatus(await bench.get(manifestOf(repository, image.digest), { accept: '*/*' }), 200);
      assertStatus(await bench.get(manifestOf(repository, image.digest), acceptManifests), 200);
    },
    'a tag that begins with a dash: refused': refusesTag('-v1'),
    'a tag that begins with a dot: refused': refusesTag('.v1'),
    'a tag of 129 characters: refused': refusesTag('v'.repeat(129)),
    'a tag with a space: refused': refusesTag('v%201'),
    'a tag with a slash: refused': refusesTag('v%2F1'),
    'a tag that climbs: refused': refusesTag('%2E%2E'),
    'a tag of 128 characters': async (bench, repository) => {
      const image = await pushImage(bench, repository, 'v'.repeat(128));
      await checkManifest(bench, 'GET', repository, 'v'.repeat(128), image);
    },
  });
}
