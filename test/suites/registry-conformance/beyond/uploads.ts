import { assertAnswer, assertHeader, assertRefusal, assertStatus, locationOf } from '../answer-checks.js';
import { type Bench } from '../bench.js';
import { assertStored, beginUpload, blobOf, finishUpload, pushBlob, pushStyles, sendChunk, uploadsOf } from '../push-blob.js';
import { digestOf, type SampleBlob, seededBytes } from '../sample.js';
import { withQuery } from '../wire.js';
import { type BeyondCell, pushImage, toBeyondCells } from './beyond-cell.js';

function freshBlob(seed: string, size = 3000): SampleBlob {
  const bytes = seededBytes(seed, size);
  return { digest: digestOf(bytes), bytes };
}

/** An upload with the first thousand bytes of the blob, and its place. */
async function beginWithChunk(bench: Bench, repository: string, { bytes }: SampleBlob): Promise<string> {
  const sent = await sendChunk(bench, 'PATCH', locationOf(await beginUpload(bench, repository)), bytes, 0, 1000);
  assertStatus(sent, 202);
  return locationOf(sent);
}

/** The upload stands at `size` bytes, and goes on from there to its end. */
async function checkGoesOn(bench: Bench, location: string, blob: SampleBlob, size = 1000): Promise<void> {
  const status = await bench.get(location);
  assertStatus(status, 204);
  assertHeader(status, 'range', `0-${size - 1}`);
  await assertStored(bench, await finishUpload(bench, locationOf(status), blob.digest, blob.bytes.subarray(size)), blob);
}

/** A PATCH that is refused leaves the upload as it was. */
function refusesPatch(headers: Readonly<Record<string, string>>, ...statuses: readonly number[]) {
  return async (bench: Bench, repository: string) => {
    const blob = freshBlob(repository);
    const location = await beginWithChunk(bench, repository, blob);
    assertRefusal(await bench.send('PATCH', location, { headers, body: blob.bytes.subarray(1000, 2000) }), statuses);
    await checkGoesOn(bench, location, blob);
  };
}

async function checkUnknown(bench: Bench, location: string): Promise<void> {
  const { digest, bytes } = freshBlob(location);
  for (const method of ['GET', 'DELETE']) assertRefusal(await bench.send(method, location), 404, 'BLOB_UPLOAD_UNKNOWN');
  assertRefusal(await bench.send('PATCH', location, { body: bytes }), 404, 'BLOB_UPLOAD_UNKNOWN');
  assertRefusal(await finishUpload(bench, location, digest, bytes), 404, 'BLOB_UPLOAD_UNKNOWN');
}

function isUnknown(id: string) {
  return (bench: Bench, repository: string) => checkUnknown(bench, `${uploadsOf(repository)}${id}`);
}

function beginsInstead(query: (repository: string) => string, ...statuses: readonly number[]) {
  return async (bench: Bench, repository: string) => {
    const answer = await bench.send('POST', `${uploadsOf(repository)}?${query(repository)}`);
    assertStatus(answer, ...statuses);
    if (answer.status === 202) assertStatus(await bench.get(locationOf(answer)), 204);
  };
}

const nowhere = encodeURIComponent(digestOf(seededBytes('nowhere', 10)));

export function listUploads(): BeyondCell[] {
  return [...listPlaces(), ...listPieces(), ...listEnds()];
}

function listPlaces(): BeyondCell[] {
  return toBeyondCells('upload places', {
    'an id that was never given': isUnknown('0123456789abcdef0123456789abcdef'),
    'an id that is none': isUnknown('no-such-upload'),
    'an id that climbs': isUnknown('%2E%2E%2F%2E%2E%2Fblobs'),
    'an id that is two dots': isUnknown('%2E%2E'),
    'an id with a zero byte': isUnknown('0123%00'),
    'an id of another repository': async (bench, repository) => {
      const blob = freshBlob(repository);
      const location = await beginWithChunk(bench, `${repository}/own`, blob);
      await pushImage(bench, `${repository}/foreign`);
      await checkUnknown(bench, location.replace('/own/', '/foreign/'));
      await checkGoesOn(bench, location, blob);
    },
    'an upload that is over': async (bench, repository) => {
      const blob = freshBlob(repository);
      const location = await beginWithChunk(bench, repository, blob);
      await checkGoesOn(bench, location, blob);
      await checkUnknown(bench, location);
    },
    'mount from a repository that is not there: an upload begins': beginsInstead((repository) => `mount=${nowhere}&from=${repository}/none`, 202),
    'mount from a repository that has it not: an upload begins': async (bench, repository) => {
      await pushImage(bench, `${repository}/source`);
      await beginsInstead(() => `mount=${nowhere}&from=${repository}/source`, 202)(bench, repository);
    },
    'mount from a name outside the grammar': beginsInstead(() => `mount=${nowhere}&from=..%2F..`, 202, 400),
    'mount of a digest that is none': beginsInstead(() => 'mount=sha256:0&from=a', 202, 400),
    'uploads without a slash at the end': async (bench, repository) => {
      const begun = await bench.send('POST', uploadsOf(repository).slice(0, -1));
      assertStatus(begun, 202);
      assertStatus(await bench.get(locationOf(begun)), 204);
    },
  });
}

function listPieces(): BeyondCell[] {
  return toBeyondCells('upload pieces', {
    'Content-Range longer than the body': refusesPatch({ 'content-range': '1000-2999' }, 400, 416),
    'Content-Range shorter than the body': refusesPatch({ 'content-range': '1000-1499' }, 400, 416),
    'Content-Range that ends before it begins': refusesPatch({ 'content-range': '1000-999' }, 400, 416),
    'Content-Range that is no range': refusesPatch({ 'content-range': 'a lot' }, 400, 416),
    'Content-Range below zero': refusesPatch({ 'content-range': '-1000-1999' }, 400, 416),
    'Content-Range beyond all numbers': refusesPatch({ 'content-range': '99999999999999999999-99999999999999999999' }, 400, 416),
    'a length that disagrees is a size that is wrong': async (bench, repository) => {
      const { bytes } = freshBlob(repository);
      const location = locationOf(await beginUpload(bench, repository));
      const answer = await bench.send('PATCH', location, { headers: { 'content-range': '0-1999' }, body: bytes.subarray(0, 1000) });
      assertRefusal(answer, [400, 416], 'SIZE_INVALID');
    },
    'a piece that came already is not taken again': async (bench, repository) => {
      const blob = freshBlob(repository);
      const location = await beginWithChunk(bench, repository, blob);
      assertRefusal(await sendChunk(bench, 'PATCH', location, blob.bytes, 0, 1000), 416);
      await checkGoesOn(bench, location, blob);
    },
    'a piece of nothing changes nothing': async (bench, repository) => {
      const blob = freshBlob(repository);
      const location = await beginWithChunk(bench, repository, blob);
      const sent = await bench.send('PATCH', location, { body: Buffer.alloc(0), streamed: true });
      assertStatus(sent, 202);
      await checkGoesOn(bench, locationOf(sent), blob);
    },
    'pieces with and without Content-Range go together': async (bench, repository) => {
      const blob = freshBlob(repository);
      const sent = await bench.send('PATCH', await beginWithChunk(bench, repository, blob), {
        body: blob.bytes.subarray(1000, 2000),
        streamed: true,
      });
      assertStatus(sent, 202);
      await checkGoesOn(bench, locationOf(sent), blob, 2000);
    },
    'the status of what has no byte yet': async (bench, repository) => {
      const status = await bench.get(locationOf(await beginUpload(bench, repository)));
      assertStatus(status, 204);
      assertAnswer(/^0-(0|-1)$/.test(status.headers.range ?? ''), status, 'a Range');
    },
  });
}

function listEnds(): BeyondCell[] {
  return toBeyondCells('upload ends', {
    'PUT without a digest: 400': async (bench, repository) => {
      assertRefusal(await bench.send('PUT', await beginWithChunk(bench, repository, freshBlob(repository))), 400, 'DIGEST_INVALID');
    },
    'PUT by an algorithm that nobody knows: 400': async (bench, repository) => {
      const location = await beginWithChunk(bench, repository, freshBlob(repository));
      assertRefusal(await finishUpload(bench, location, `md5:${'0'.repeat(32)}`), 400, 'DIGEST_INVALID');
    },
    'a digest in capitals: 400': async (bench, repository) => {
      const { digest, bytes } = freshBlob(repository);
      const target = withQuery(
        uploadsOf(repository),
        'digest',
        digest.replace(/:.*/, (hex) => hex.toUpperCase()),
      );
      assertRefusal(await bench.send('POST', target, { body: bytes }), 400, 'DIGEST_INVALID');
    },
    'digest-algorithm that nobody knows: 400': async (bench, repository) => {
      assertRefusal(await bench.send('POST', withQuery(uploadsOf(repository), 'digest-algorithm', 'md5')), 400);
    },
    'another algorithm at the end than was said at the beginning': async (bench, repository) => {
      const { bytes } = freshBlob(repository);
      for (const [said, meant] of [
        ['sha512', 'sha256'],
        ['sha256', 'sha512'],
      ] as const) {
        const begun = await bench.send('POST', withQuery(uploadsOf(`${repository}/${said}`), 'digest-algorithm', said));
        const sent = await bench.send('PATCH', locationOf(begun), { body: bytes });
        const digest = digestOf(bytes, meant);
        await assertStored(bench, await finishUpload(bench, locationOf(sent), digest), { digest, bytes });
      }
    },
    'one blob from eight at once, in every way': async (bench, repository) => {
      const blob = freshBlob(repository, 100_000);
      const pushes = Array.from({ length: 8 }, (_, at) => pushBlob(bench, repository, blob, pushStyles[at % pushStyles.length]!));
      for (const stored of await Promise.all(pushes)) await assertStored(bench, stored, blob);
    },
    'a blob that was refused can be pushed': async (bench, repository) => {
      const { digest, bytes } = freshBlob(repository);
      assertRefusal(await pushBlob(bench, repository, { digest, bytes: bytes.subarray(1) }, 'post put'), 400, 'DIGEST_INVALID');
      assertStatus(await bench.head(blobOf(repository, digest)), 404);
      await assertStored(bench, await pushBlob(bench, repository, { digest, bytes }, 'post put'), { digest, bytes });
    },
  });
}
