import { assertRefusal, assertStatus, locationOf } from './answer-checks.js';
import { type Bench } from './bench.js';
import { type Check, type ConformanceVersion, type RunnableCell } from './cell.js';
import {
  assertStored,
  beginUpload,
  blobOf,
  type ChunkTraits,
  finishUpload,
  minimumChunk,
  pushBlob,
  pushChunked,
  type PushStyle,
  pushStyles,
  uploadsOf,
} from './push-blob.js';
import { checkBlobGet, checkBlobHead, checkBlobRange } from './read-checks.js';
import { type Algorithm, digestOf, type SampleBlob, seededBytes } from './sample.js';
import { type Answer, withQuery } from './wire.js';

type Trial = readonly [check: Check, trial: string | undefined, run: (bench: Bench, repository: string, algorithm: Algorithm) => Promise<void>];

const checkOfStyle = {
  'post only': 'Blob post only',
  'post put': 'Blob post put',
  chunked: 'Blob chunked',
  streaming: 'Blob streaming',
} as const satisfies Record<PushStyle, Check>;

/** Blobs by themselves, by each algorithm: every way to push one, right and wrong, every range, and contents that are easily forgotten. */
export function listBlobCells(version: ConformanceVersion): RunnableCell[] {
  return (['sha256', 'sha512'] as const).flatMap((algorithm) => [
    ...toCells(`blobs ${algorithm}`, algorithm, listPlainTrials(version)),
    ...toCells(`empty blob ${algorithm}`, algorithm, listKnownTrials(Buffer.alloc(0))),
    ...toCells(`empty JSON ${algorithm}`, algorithm, listKnownTrials(Buffer.from('{}'))),
    ...toCells(`wrong digest ${algorithm}`, algorithm, listWrongTrials()),
  ]);
}

/** Every trial has a repository of its own. */
function toCells(data: string, algorithm: Algorithm, trials: readonly Trial[]): RunnableCell[] {
  return trials.map(([check, trial, run], at) => {
    const repository = `conformance/${data.toLowerCase().replaceAll(' ', '-')}/${at}`;
    return { data, check, ...(trial === undefined ? {} : { trial }), run: (bench) => run(bench, repository, algorithm) };
  });
}

function toBlob(bytes: Buffer, algorithm: Algorithm): SampleBlob {
  return { digest: digestOf(bytes, algorithm), bytes };
}

function freshBlob(repository: string, algorithm: Algorithm, size = 512): SampleBlob {
  return toBlob(seededBytes(repository, size), algorithm);
}

/** There, whole, gone at a word. */
async function checkLifeOf(bench: Bench, repository: string, stored: Answer, blob: SampleBlob): Promise<void> {
  await assertStored(bench, stored, blob);
  await checkBlobHead(bench, repository, blob);
  await checkBlobGet(bench, repository, blob);
  assertStatus(await bench.send('DELETE', blobOf(repository, blob.digest)), 202);
  assertStatus(await bench.head(blobOf(repository, blob.digest)), 404);
}

function listPlainTrials(version: ConformanceVersion): Trial[] {
  const cancel: Trial = ['Blob upload cancel', undefined, (bench, repository, algorithm) => checkCancel(bench, repository, algorithm)];
  return [
    ...(version === 'dev' ? [cancel] : []),
    ...pushStyles.map((style): Trial => [checkOfStyle[style], style === 'chunked' ? 'small' : undefined, (...at) => checkPush(...at, style)]),
    chunkTrial('in three chunks', {}),
    chunkTrial('with the last chunk in the PUT', { putsLast: true }),
    chunkTrial('with chunks out of order', { strays: true }),
    chunkTrial('with chunks out of order and the last in the PUT', { putsLast: true, strays: true }),
    ['Blob mount', 'of what is there', (...at) => checkMount(...at, 'from')],
    ['Blob mount', 'of what is nowhere', (...at) => checkMountOfNothing(...at, 'from')],
    ['Blob anonymous mount', 'of what is there', (...at) => checkMount(...at, 'anywhere')],
    ['Blob anonymous mount', 'of what is nowhere', (...at) => checkMountOfNothing(...at, 'anywhere')],
    ['Blob get', 'of what is not there', (bench, repository, algorithm) => checkMissing(bench, 'GET', repository, algorithm)],
    ['Blob head', 'of what is not there', (bench, repository, algorithm) => checkMissing(bench, 'HEAD', repository, algorithm)],
    ['Blob delete', 'of what is not there', (bench, repository, algorithm) => checkMissing(bench, 'DELETE', repository, algorithm)],
    ...listRangeTrials(),
  ];
}

async function checkPush(bench: Bench, repository: string, algorithm: Algorithm, style: PushStyle): Promise<void> {
  const blob = freshBlob(repository, algorithm);
  await checkLifeOf(bench, repository, await pushBlob(bench, repository, blob, style), blob);
}

function chunkTrial(trial: string, traits: ChunkTraits): Trial {
  return [
    'Blob chunked',
    trial,
    async (bench, repository, algorithm) => {
      const blob = freshBlob(repository, algorithm, await sizeOfThreeChunks(bench, repository));
      await checkLifeOf(bench, repository, await pushChunked(bench, repository, blob, traits), blob);
    },
  ];
}

/** The smallest blob that the registry takes in three chunks of equal size but for the last. */
async function sizeOfThreeChunks(bench: Bench, repository: string): Promise<number> {
  return Math.max(1024, minimumChunk(await beginUpload(bench, repository))) * 3 - 5;
}

async function checkMount(bench: Bench, repository: string, algorithm: Algorithm, source: 'from' | 'anywhere'): Promise<void> {
  const blob = freshBlob(repository, algorithm);
  const other = `${repository}/source`;
  await assertStored(bench, await pushBlob(bench, other, blob, 'post put'), blob);
  await checkLifeOf(bench, repository, await bench.send('POST', mountOf(repository, blob, source)), blob);
  await checkBlobGet(bench, other, blob);
}

/** An upload begins instead, and takes the blob. */
async function checkMountOfNothing(bench: Bench, repository: string, algorithm: Algorithm, source: 'from' | 'anywhere'): Promise<void> {
  const blob = freshBlob(repository, algorithm);
  const begun = await bench.send('POST', mountOf(repository, blob, source));
  assertStatus(begun, 202);
  await checkLifeOf(bench, repository, await finishUpload(bench, locationOf(begun), blob.digest, blob.bytes), blob);
}

function mountOf(repository: string, { digest }: SampleBlob, source: 'from' | 'anywhere'): string {
  const mount = withQuery(uploadsOf(repository), 'mount', digest);
  return source === 'from' ? withQuery(mount, 'from', `${repository}/source`) : mount;
}

async function checkCancel(bench: Bench, repository: string, algorithm: Algorithm): Promise<void> {
  const { digest, bytes } = freshBlob(repository, algorithm);
  const location = locationOf(await beginUpload(bench, repository, digest));
  assertStatus(await bench.send('DELETE', location), 204);
  assertRefusal(await bench.get(location), 404, 'BLOB_UPLOAD_UNKNOWN');
  assertRefusal(await finishUpload(bench, location, digest, bytes), 404, 'BLOB_UPLOAD_UNKNOWN');
}

async function checkMissing(bench: Bench, method: string, repository: string, algorithm: Algorithm): Promise<void> {
  assertStatus(await bench.send(method, blobOf(repository, freshBlob(repository, algorithm).digest)), 404);
}

const rangedSize = 2048;

function listRangeTrials(): Trial[] {
  const satisfied: readonly (readonly [string, readonly [number, number]])[] = [
    ['500-1499', [500, 1499]],
    ['500-', [500, rangedSize - 1]],
    ['-500', [rangedSize - 500, rangedSize - 1]],
    ['2000-5000', [2000, rangedSize - 1]],
  ];
  const within = satisfied.map(([range, span]): Trial => [
    'Blob get range',
    range,
    async (bench, repository, algorithm) => checkBlobRange(bench, repository, await pushRanged(bench, repository, algorithm), `bytes=${range}`, span),
  ]);
  const beyond = ['500-0', '5000-10000'].map((range): Trial => [
    'Blob get range',
    range,
    async (bench, repository, algorithm) => {
      const { digest } = await pushRanged(bench, repository, algorithm);
      assertStatus(await bench.get(blobOf(repository, digest), { range: `bytes=${range}` }), 416);
    },
  ]);
  return [...within, ...beyond];
}

async function pushRanged(bench: Bench, repository: string, algorithm: Algorithm): Promise<SampleBlob> {
  const blob = freshBlob(repository, algorithm, rangedSize);
  await assertStored(bench, await pushBlob(bench, repository, blob, 'post put'), blob);
  return blob;
}

/** Content that many repositories have: pushed in every way, mounted, read, deleted. */
function listKnownTrials(bytes: Buffer): Trial[] {
  const pushed = (style: PushStyle) => async (bench: Bench, repository: string, algorithm: Algorithm) => {
    const blob = toBlob(bytes, algorithm);
    await checkLifeOf(bench, repository, await pushBlob(bench, repository, blob, style), blob);
  };
  const mounted = (source: 'from' | 'anywhere') => async (bench: Bench, repository: string, algorithm: Algorithm) => {
    const blob = toBlob(bytes, algorithm);
    await assertStored(bench, await pushBlob(bench, `${repository}/source`, blob, 'post put'), blob);
    await checkLifeOf(bench, repository, await bench.send('POST', mountOf(repository, blob, source)), blob);
  };
  const twice: Trial = [
    'Blob push',
    'again after it was deleted',
    async (bench, repository, algorithm) => {
      await pushed('post put')(bench, repository, algorithm);
      await pushed('streaming')(bench, repository, algorithm);
    },
  ];
  return [
    ...pushStyles.map((style): Trial => [checkOfStyle[style], undefined, pushed(style)]),
    twice,
    ['Blob mount', undefined, mounted('from')],
    ['Blob anonymous mount', undefined, mounted('anywhere')],
  ];
}

/** The bytes are others than the digest says: refused, and kept under neither digest. */
function listWrongTrials(): Trial[] {
  const wrong = (push: (bench: Bench, repository: string, blob: SampleBlob) => Promise<Answer>): Trial[2] => {
    return async (bench, repository, algorithm) => {
      const promised = freshBlob(repository, algorithm, await sizeOfThreeChunks(bench, repository));
      const bytes = Buffer.concat([promised.bytes, Buffer.from('and more')]);
      assertRefusal(await push(bench, repository, { digest: promised.digest, bytes }), 400, 'DIGEST_INVALID');
      for (const digest of [promised.digest, digestOf(bytes, algorithm)]) assertStatus(await bench.head(blobOf(repository, digest)), 404);
    };
  };
  return [
    ...pushStyles.map((style): Trial => [
      checkOfStyle[style],
      style === 'chunked' ? 'ended by an empty PUT' : undefined,
      wrong((bench, repository, blob) => pushBlob(bench, repository, blob, style)),
    ]),
    ['Blob chunked', 'with the last chunk in the PUT', wrong((bench, repository, blob) => pushChunked(bench, repository, blob, { putsLast: true }))],
  ];
}
