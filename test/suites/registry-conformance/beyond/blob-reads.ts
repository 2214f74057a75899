import { assertAnswer, assertBody, assertHeader, assertRefusal, assertStatus } from '../answer-checks.js';
import { type Bench } from '../bench.js';
import { assertStored, blobOf, pushBlob } from '../push-blob.js';
import { checkBlobGet } from '../read-checks.js';
import { digestOf, type SampleBlob, seededBytes } from '../sample.js';
import { type BeyondCell, toBeyondCells } from './beyond-cell.js';

async function pushBytes(bench: Bench, repository: string, size = 1000): Promise<SampleBlob> {
  const bytes = seededBytes(repository, size);
  const blob = { digest: digestOf(bytes), bytes };
  await assertStored(bench, await pushBlob(bench, repository, blob, 'post put'), blob);
  return blob;
}

/** A range that cannot be taken for one is as if it were not there. (RFC 9110, 14.2) */
function ignores(range: string) {
  return async (bench: Bench, repository: string) => {
    const { digest, bytes } = await pushBytes(bench, repository);
    const answer = await bench.get(blobOf(repository, digest), { range });
    assertStatus(answer, 200);
    assertHeader(answer, 'content-length', String(bytes.length));
    assertBody(answer, bytes);
  };
}

export function listBlobReads(): BeyondCell[] {
  return toBeyondCells('blob reads', {
    'several ranges get the whole': ignores('bytes=0-9,20-29'),
    'a range in another unit gets the whole': ignores('items=0-9'),
    'a range of letters gets the whole': ignores('bytes=a-b'),
    'a range of nothing gets the whole': ignores('bytes=-'),
    'a range means nothing to HEAD': async (bench, repository) => {
      const { digest, bytes } = await pushBytes(bench, repository);
      const answer = await bench.head(blobOf(repository, digest), { range: 'bytes=0-9' });
      assertStatus(answer, 200);
      assertHeader(answer, 'content-length', String(bytes.length));
      assertHeader(answer, 'accept-ranges', 'bytes');
    },
    'a range beyond the end says how long the blob is': async (bench, repository) => {
      const { digest, bytes } = await pushBytes(bench, repository);
      const answer = await bench.get(blobOf(repository, digest), { range: 'bytes=1000-' });
      assertRefusal(answer, 416);
      assertHeader(answer, 'content-range', `bytes */${bytes.length}`);
    },
    'a suffix that is longer than the blob gets all of it': async (bench, repository) => {
      const { digest, bytes } = await pushBytes(bench, repository);
      const answer = await bench.get(blobOf(repository, digest), { range: 'bytes=-5000' });
      assertStatus(answer, 206, 200);
      assertBody(answer, bytes);
    },
    'a suffix of nothing cannot be had': async (bench, repository) => {
      const { digest } = await pushBytes(bench, repository);
      assertRefusal(await bench.get(blobOf(repository, digest), { range: 'bytes=-0' }), 416);
    },
    'a blob of another repository is not there': async (bench, repository) => {
      const { digest } = await pushBytes(bench, `${repository}/other`);
      assertRefusal(await bench.get(blobOf(repository, digest)), 404, 'BLOB_UNKNOWN');
      assertRefusal(await bench.send('DELETE', blobOf(repository, digest)), 404, 'BLOB_UNKNOWN');
    },
    'a blob that one repository deletes stays in another': async (bench, repository) => {
      const blob = await pushBytes(bench, repository);
      const again = await pushBlob(bench, `${repository}/other`, blob, 'post only');
      await assertStored(bench, again, blob);
      assertStatus(await bench.send('DELETE', blobOf(repository, blob.digest)), 202);
      await checkBlobGet(bench, `${repository}/other`, blob);
    },
    'a blob of a megabyte comes whole to eight at once': async (bench, repository) => {
      const blob = await pushBytes(bench, repository, 2 ** 20);
      await Promise.all(Array.from({ length: 8 }, () => checkBlobGet(bench, repository, blob)));
    },
    'a blob is no manifest': async (bench, repository) => {
      const { digest } = await pushBytes(bench, repository);
      assertRefusal(await bench.get(`/v2/${repository}/manifests/${digest}`), 404);
    },
    'what it is, a browser must not guess': async (bench, repository) => {
      const { digest } = await pushBytes(bench, repository);
      const answer = await bench.get(blobOf(repository, digest));
      assertAnswer(answer.headers['content-type'] === 'application/octet-stream', answer, 'content-type: application/octet-stream');
    },
  });
}
