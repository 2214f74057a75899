import { assertAnswer, assertBody, assertRefusal, assertStatus } from '../answer-checks.js';
import { type Bench } from '../bench.js';
import { acceptManifests, manifestOf } from '../push-sample.js';
import { checkManifest } from '../read-checks.js';
import { Sample, type SampleManifest } from '../sample.js';
import { type Answer } from '../wire.js';
import { type BeyondCell, pushImage, toBeyondCells } from './beyond-cell.js';

/** The tag of the entity at an address; strong, as bytes never differ. (RFC 9110, 8.8.3) */
async function entityTagAt(bench: Bench, target: string): Promise<string> {
  const answer = await bench.get(target, acceptManifests);
  assertStatus(answer, 200);
  const { etag } = answer.headers;
  assertAnswer(etag !== undefined && /^"[^"]+"$/.test(etag), answer, 'an ETag in quotes');
  return etag;
}

function isUnchanged(condition: (etag: string) => string, method = 'GET') {
  return async (bench: Bench, repository: string) => {
    await pushImage(bench, repository, 'v1');
    const etag = await entityTagAt(bench, manifestOf(repository, 'v1'));
    const headers = { ...acceptManifests, 'if-none-match': condition(etag) };
    const answer = await bench.send(method, manifestOf(repository, 'v1'), { headers });
    assertStatus(answer, 304);
    assertBody(answer, Buffer.alloc(0));
  };
}

function putIf(bench: Bench, target: string, { mediaType, bytes }: SampleManifest, condition: Readonly<Record<string, string>>): Promise<Answer> {
  return bench.send('PUT', target, { headers: { 'content-type': mediaType, ...condition }, body: bytes });
}

/** A repository with the tag `v1`, and another manifest that may be put in its place. */
async function pushTwo(bench: Bench, repository: string): Promise<{ readonly first: SampleManifest; readonly second: SampleManifest }> {
  const first = await pushImage(bench, repository, 'v1');
  return { first, second: await pushImage(bench, repository) };
}

export function listConditions(): BeyondCell[] {
  return toBeyondCells('conditions', {
    'If-None-Match with the ETag: 304': isUnchanged((etag) => etag),
    'If-None-Match with the ETag to HEAD: 304': isUnchanged((etag) => etag, 'HEAD'),
    'If-None-Match with a list that has the ETag: 304': isUnchanged((etag) => `"other", ${etag}`),
    'If-None-Match with the ETag as a weak one: 304': isUnchanged((etag) => `W/${etag}`),
    'If-None-Match with another ETag: 200': async (bench, repository) => {
      await pushImage(bench, repository, 'v1');
      assertStatus(await bench.get(manifestOf(repository, 'v1'), { ...acceptManifests, 'if-none-match': '"other"' }), 200);
    },
    'If-Match with the ETag: the tag moves': async (bench, repository) => {
      const { second } = await pushTwo(bench, repository);
      const target = manifestOf(repository, 'v1');
      assertStatus(await putIf(bench, target, second, { 'if-match': await entityTagAt(bench, target) }), 201);
      await checkManifest(bench, 'GET', repository, 'v1', second);
    },
    'If-Match with an old ETag: 412, and the tag stays': async (bench, repository) => {
      const { first, second } = await pushTwo(bench, repository);
      const target = manifestOf(repository, 'v1');
      const before = await entityTagAt(bench, target);
      assertStatus(await putIf(bench, target, second, {}), 201);
      assertRefusal(await putIf(bench, target, first, { 'if-match': before }), 412);
      await checkManifest(bench, 'GET', repository, 'v1', second);
    },
    'If-Match where nothing is: 412': async (bench, repository) => {
      const { first } = await pushTwo(bench, repository);
      assertRefusal(await putIf(bench, manifestOf(repository, 'v2'), first, { 'if-match': '*' }), 412);
      assertRefusal(await bench.get(manifestOf(repository, 'v2')), 404, 'MANIFEST_UNKNOWN');
    },
    'If-None-Match: * where something is: 412': async (bench, repository) => {
      const { first, second } = await pushTwo(bench, repository);
      assertRefusal(await putIf(bench, manifestOf(repository, 'v1'), second, { 'if-none-match': '*' }), 412);
      await checkManifest(bench, 'GET', repository, 'v1', first);
    },
    'If-None-Match: * where nothing is: it is put': async (bench, repository) => {
      const { second } = await pushTwo(bench, repository);
      assertStatus(await putIf(bench, manifestOf(repository, 'v2'), second, { 'if-none-match': '*' }), 201);
    },
    'of eight who put with the same If-Match, one wins': async (bench, repository) => {
      const { first } = await pushTwo(bench, repository);
      const target = manifestOf(repository, 'v1');
      const condition = { 'if-match': await entityTagAt(bench, target) };
      const rivals = Array.from({ length: 8 }, (_, at) => rivalOf(first, at));
      const answers = await Promise.all(rivals.map((rival) => putIf(bench, target, rival, condition)));
      const won = rivals.filter((_, at) => answers[at]?.status === 201);
      for (const answer of answers) assertStatus(answer, 201, 412);
      assertAnswer(won.length === 1, answers[0]!, `one 201 among eight and not ${won.length}`);
      await checkManifest(bench, 'GET', repository, 'v1', won[0]!);
    },
  });
}

/** The same image with another annotation. */
function rivalOf({ bytes }: SampleManifest, at: number): SampleManifest {
  const { config, layers } = JSON.parse(bytes.toString('utf8')) as Required<Pick<Parameters<Sample['image']>[0] & object, 'config' | 'layers'>>;
  return new Sample('rival').image({ config, layers, annotations: { 'org.example.rival': String(at) } });
}
