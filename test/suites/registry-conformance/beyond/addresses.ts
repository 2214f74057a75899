import { assertAnswer, assertRefusal, assertStatus } from '../answer-checks.js';
import { type Bench } from '../bench.js';
import { blobOf, uploadsOf } from '../push-blob.js';
import { manifestOf } from '../push-sample.js';
import { checkManifest, listTags } from '../read-checks.js';
import { digestOf, mediaTypes } from '../sample.js';
import { type BeyondCell, pushImage, toBeyondCells } from './beyond-cell.js';

/** As they stand on the request line. */
const wrongNames = [
  'Upper',
  '-dash-first',
  'dash-last-',
  'dot..dot',
  'three___lines',
  '_line-first',
  'a//b',
  '/a',
  'a/',
  'a/./b',
  '..',
  'a/../b',
  '%2e%2e',
  'a/%2e%2e/b',
  '%252e%252e',
  'a%2f..%2fb',
  'a%2fb',
  'a%5cb',
  'a%00',
  'a%0ab',
  'a%zz',
  '%c0%ae%c0%ae',
  'caf%c3%a9',
  'a b'.replace(' ', '%20'),
  'a'.repeat(256),
  `${'a/'.repeat(150)}a`,
];

async function refuseEverywhere(bench: Bench, name: string): Promise<void> {
  const digest = digestOf(Buffer.from(name));
  const body = Buffer.from('{"schemaVersion":2,"manifests":[]}');
  const answers = [
    await bench.get(`/v2/${name}/tags/list`),
    await bench.get(manifestOf(name, 'v1')),
    await bench.send('PUT', manifestOf(name, 'v1'), { headers: { 'content-type': mediaTypes.index }, body }),
    await bench.send('DELETE', manifestOf(name, 'v1')),
    await bench.get(blobOf(name, digest)),
    await bench.send('POST', uploadsOf(name)),
    await bench.get(`${uploadsOf(name)}0123456789abcdef0123456789abcdef`),
    await bench.get(`/v2/${name}/referrers/${digest}`),
  ];
  for (const answer of answers) assertRefusal(answer, [400, 404]);
}

async function methodsOf(bench: Bench, method: string, target: string): Promise<readonly string[]> {
  const answer = await bench.send(method, target);
  assertRefusal(answer, 405, 'UNSUPPORTED');
  const { allow } = answer.headers;
  assertAnswer(allow !== undefined, answer, 'an Allow');
  return allow.split(/\s*,\s*/);
}

function refusesMethod(method: string, allowed: readonly string[], target: (repository: string) => string) {
  return async (bench: Bench, repository: string) => {
    await pushImage(bench, repository, 'v1');
    const methods = await methodsOf(bench, method, target(repository));
    const missing = allowed.filter((one) => !methods.includes(one));
    if (missing.length > 0 || methods.includes(method)) throw new Error(`Allow has ${methods.join(', ')} and not ${allowed.join(', ')}`);
  };
}

const digest = digestOf(Buffer.from('any'));

export function listAddresses(): BeyondCell[] {
  return [
    ...toBeyondCells('names', Object.fromEntries(wrongNames.map((name) => [shown(name), (bench: Bench) => refuseEverywhere(bench, name)]))),
    ...toBeyondCells('names like hosts', Object.fromEntries(namesLikeHosts.map((name) => [name, (bench: Bench) => checkNameLikeHost(bench, name)]))),
    ...listPaths(),
    ...listMethods(),
  ];
}

function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 4)}… of ${name.length} characters` : name;
}

/** The grammar of a repository allows them; whoever keeps names in one list with hosts has to tell them apart. */
const namesLikeHosts = ['beyond.example/models', 'beyond.example', 'localhost/beyond', 'beyond.127.0.0.1/a.b/c__d/e-f--g'];

async function checkNameLikeHost(bench: Bench, name: string): Promise<void> {
  const image = await pushImage(bench, name, 'v1');
  for (const reference of ['v1', image.digest]) await checkManifest(bench, 'GET', name, reference, image);
  const tags = await listTags(bench, name);
  if (tags.length !== 1 || tags[0] !== 'v1') throw new Error(`${name} has the tags ${tags.join(' ')}`);
  const answer = await bench.get(`/v2/_catalog?n=1&last=${encodeURIComponent(name.slice(0, -1))}`);
  assertAnswer(answer.body.includes(`"${name}"`), answer, `${name} in the catalog`);
  assertStatus(await bench.send('DELETE', manifestOf(name, 'v1')), 202);
  assertRefusal(await bench.get(manifestOf(name, 'v1')), 404);
}

function listPaths(): BeyondCell[] {
  return toBeyondCells('paths', {
    'no wrong name has made a repository': async (bench) => {
      await refuseEverywhere(bench, 'a%2fb');
      const answer = await bench.get('/v2/_catalog?n=1000');
      const found = JSON.parse(answer.body.toString('utf8')) as { readonly repositories: readonly string[] };
      const made = found.repositories.filter((name) => !/^(localhost\/)?beyond/.test(name));
      assertAnswer(made.length === 0, answer, `no repository like ${made.join(', ')}`);
    },
    'names that look like endpoints': async (bench, repository) => {
      for (const tail of ['blobs', 'blobs/uploads', 'manifests', 'tags/list', 'referrers', 'v2']) {
        const name = `${repository}/${tail}`;
        const image = await pushImage(bench, name, 'uploads');
        await checkManifest(bench, 'GET', name, 'uploads', image);
        const tags = await listTags(bench, name);
        if (tags.length !== 1) throw new Error(`${name} has the tags ${tags.join(' ')}`);
      }
    },
    'a name and a digest in percent coding': async (bench, repository) => {
      const image = await pushImage(bench, repository, 'v1');
      const coded = `/v2/${repository.replace('beyond', '%62eyond')}/manifests/${image.digest.replace(':', '%3A')}`;
      assertStatus(await bench.get(coded), 200);
    },
    'GET and HEAD of the root, with and without its slash': async (bench) => {
      for (const target of ['/v2/', '/v2']) {
        for (const method of ['GET', 'HEAD']) assertStatus(await bench.send(method, target), 200);
      }
    },
    'what is no address of a registry: 404': async (bench) => {
      for (const target of ['/', '/v1/', '/v2/_catalog/more', '/v2/a', '/v2/a/b', '/v2/a/tags', '/v2/a/tags/lists', '/favicon.ico', '//', '/..']) {
        assertRefusal(await bench.get(target), [400, 404]);
      }
    },
    'an address of 10,000 characters: refused': async (bench, repository) => {
      assertRefusal(await bench.get(`/v2/${repository}/tags/list?last=${'a'.repeat(10_000)}`), [400, 414, 431]);
    },
  });
}

function listMethods(): BeyondCell[] {
  return toBeyondCells('methods', {
    'POST to the root': refusesMethod('POST', ['GET', 'HEAD'], () => '/v2/'),
    'PATCH of a manifest': refusesMethod('PATCH', ['GET', 'HEAD', 'PUT', 'DELETE'], (repository) => manifestOf(repository, 'v1')),
    'PUT of a blob': refusesMethod('PUT', ['GET', 'HEAD', 'DELETE'], (repository) => blobOf(repository, digest)),
    'GET of uploads': refusesMethod('GET', ['POST'], uploadsOf),
    'POST to an upload': refusesMethod('POST', ['GET', 'PATCH', 'PUT', 'DELETE'], (repository) => `${uploadsOf(repository)}0123`),
    'DELETE of tags': refusesMethod('DELETE', ['GET'], (repository) => `/v2/${repository}/tags/list`),
    'PUT of referrers': refusesMethod('PUT', ['GET'], (repository) => `/v2/${repository}/referrers/${digest}`),
    'DELETE of the catalog': refusesMethod('DELETE', ['GET'], () => '/v2/_catalog'),
    'OPTIONS of a manifest': refusesMethod('OPTIONS', ['GET', 'HEAD', 'PUT', 'DELETE'], (repository) => manifestOf(repository, 'v1')),
  });
}
