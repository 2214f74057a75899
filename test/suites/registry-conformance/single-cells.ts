import { assertRefusal, assertStatus, locationOf } from './answer-checks.js';
import { type Bench } from './bench.js';
import { type RunnableCell } from './cell.js';
import { beginUpload, finishUpload } from './push-blob.js';
import { manifestOf, pushBlobs, putManifest } from './push-sample.js';
import { listReferrers } from './read-checks.js';
import { type Algorithm, digestOf, Sample, seededBytes } from './sample.js';

const malformed = 'sha256:baddigeststring';
const unknown = digestOf(seededBytes('pushed by nobody', 64));

/** What a registry says where nothing is, and to digests that are wrong or none. */
export function listSingleCells(): RunnableCell[] {
  return [
    { data: 'registry', check: 'Ping', run: async (bench) => assertStatus(await bench.get('/v2/'), 200) },
    ...listEmptyCells(),
    ...listMalformedCells(),
    ...(['sha256', 'sha512'] as const).map((algorithm): RunnableCell => {
      return { data: `wrong manifest digest ${algorithm}`, check: 'Manifest put by digest', run: (bench) => checkWrongManifest(bench, algorithm) };
    }),
  ];
}

function listEmptyCells(): RunnableCell[] {
  const data = 'nothing pushed';
  const repository = 'conformance/nothing-pushed';
  const missing = (method: string, reference: string) => async (bench: Bench) =>
    assertRefusal(await bench.send(method, manifestOf(repository, reference)), 404);
  return [
    { data, check: 'Tag listing', run: async (bench) => assertStatus(await bench.get(`/v2/${repository}/tags/list`), 200, 404) },
    { data, check: 'Manifest get by digest', run: missing('GET', unknown) },
    { data, check: 'Manifest get by tag', run: missing('GET', 'no-such-tag') },
    { data, check: 'Manifest head by digest', run: missing('HEAD', unknown) },
    { data, check: 'Manifest head by tag', run: missing('HEAD', 'no-such-tag') },
    { data, check: 'Manifest delete', run: missing('DELETE', unknown) },
    { data, check: 'Tag delete', run: missing('DELETE', 'no-such-tag') },
    {
      data,
      check: 'Referrers',
      run: async (bench) => {
        const found = await listReferrers(bench, repository, unknown);
        if (found.length > 0) throw new Error(`Something is attached to what is not there: ${JSON.stringify(found)}`);
      },
    },
  ];
}

function listMalformedCells(): RunnableCell[] {
  const data = 'malformed digest';
  const repository = 'conformance/malformed-digest';
  const refused = (target: string, ...statuses: readonly number[]) => {
    return async (bench: Bench) => assertRefusal(await bench.get(target), statuses);
  };
  return [
    {
      data,
      check: 'Manifest put by digest',
      run: async (bench) => {
        const sample = await pushedSample(bench, repository, 'sha256');
        assertRefusal(await putManifest(bench, manifestOf(repository, malformed), sample.manifests[0]!), 400);
      },
    },
    { data, check: 'Manifest get by digest', run: refused(manifestOf(repository, malformed), 400, 404) },
    { data, check: 'Blob get', run: refused(`/v2/${repository}/blobs/${malformed}`, 400, 404) },
    { data, check: 'Referrers', run: refused(`/v2/${repository}/referrers/${malformed}`, 400) },
    {
      data,
      check: 'Blob post put',
      run: async (bench) => {
        const location = locationOf(await beginUpload(bench, repository));
        assertRefusal(await finishUpload(bench, location, malformed, Buffer.from('bytes')), 400, 'DIGEST_INVALID');
      },
    },
  ];
}

async function pushedSample(bench: Bench, repository: string, algorithm: Algorithm): Promise<Sample> {
  const sample = new Sample(repository, algorithm);
  sample.image();
  await pushBlobs(bench, repository, sample);
  return sample;
}

/** A manifest with some white space more than the one that was promised. */
async function checkWrongManifest(bench: Bench, algorithm: Algorithm): Promise<void> {
  const repository = `conformance/wrong-manifest-digest/${algorithm}`;
  const manifest = (await pushedSample(bench, repository, algorithm)).manifests[0]!;
  const other = { ...manifest, bytes: Buffer.concat([manifest.bytes, Buffer.from('  ')]) };
  assertRefusal(await putManifest(bench, manifestOf(repository, manifest.digest), other), 400, 'DIGEST_INVALID');
  for (const digest of [manifest.digest, digestOf(other.bytes, algorithm)]) {
    assertRefusal(await bench.get(manifestOf(repository, digest)), 404);
  }
}
