import { isDeepStrictEqual } from 'node:util';
import { assertAnswer, assertHeader, assertRefusal, assertStatus, jsonOf } from '../answer-checks.js';
import { type Bench } from '../bench.js';
import { manifestOf } from '../push-sample.js';
import { checkManifest, listTags, tagsIn } from '../read-checks.js';
import { type Answer } from '../wire.js';
import { type BeyondCell, pushImage, toBeyondCells } from './beyond-cell.js';

/** In the order of their bytes. */
const tags = ['0.1', 'B', 'Z9', '_x', 'a', 'b', 'v1.0', 'v1.0-rc'];

function assertTags(found: readonly string[], expected: readonly string[]): void {
  if (!isDeepStrictEqual(found, expected)) throw new Error(`The tags are ${found.join(' ')} and not ${expected.join(' ')}`);
}

/** Pages from `target` on, as Link leads; more than `limit` are an endless list. (RFC 8288) */
async function followPages(bench: Bench, target: string, limit: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let next: string | undefined = target; next !== undefined;) {
    const page = await bench.get(next);
    assertStatus(page, 200);
    answers.push(page);
    assertAnswer(answers.length <= limit, page, `an end of the list after ${limit} pages`);
    next = nextOf(page);
  }
  return answers;
}

function nextOf(page: Answer): string | undefined {
  const { link } = page.headers;
  if (link === undefined) return undefined;
  const match = /^<([^>]+)>;\s*rel="?next"?$/.exec(String(link));
  assertAnswer(match !== null, page, `a Link with rel="next" and not ${String(link)}`);
  return new URL(match[1]!, page.url).href;
}

function listsAll(query: string, expected: readonly string[]) {
  return async (bench: Bench, repository: string) => {
    await pushImage(bench, repository, ...tags.toReversed());
    const answer = await bench.get(`/v2/${repository}/tags/list${query}`);
    assertTags(tagsIn(answer, repository), expected);
    assertAnswer(answer.headers.link === undefined, answer, 'no Link');
  };
}

function pages(size: number) {
  return async (bench: Bench, repository: string) => {
    await pushImage(bench, repository, ...tags);
    const answers = await followPages(bench, `/v2/${repository}/tags/list?n=${size}`, Math.ceil(tags.length / size) + 1);
    const found = answers.map((answer) => tagsIn(answer, repository));
    assertTags(found.flat(), tags);
    assertAnswer(
      found.every((page) => page.length <= size),
      answers[0]!,
      `at most ${size} tags a page`,
    );
  };
}

function refusesCount(count: string) {
  return async (bench: Bench, repository: string) => {
    await pushImage(bench, repository, 'v1');
    for (const target of [`/v2/${repository}/tags/list?n=${count}`, `/v2/_catalog?n=${count}`]) assertRefusal(await bench.get(target), 400);
  };
}

async function checkCatalog(bench: Bench, repository: string): Promise<void> {
  const own = ['a', 'b/c', 'b-d', 'z'].map((name) => `${repository}/${name}`);
  for (const name of own) await pushImage(bench, name, 'v1');
  const answers = await followPages(bench, '/v2/_catalog?n=2', 500);
  const found = answers.flatMap((answer) => repositoriesIn(answer, 2));
  assertAnswer(isDeepStrictEqual(found, [...new Set(found)].sort()), answers[0]!, 'every repository once, in the order of bytes');
  assertAnswer(
    own.every((name) => found.includes(name)),
    answers[0]!,
    `${own.join(', ')} among ${found.length} repositories`,
  );
  const rest = await followPages(bench, `/v2/_catalog?n=100&last=${encodeURIComponent(own[1]!)}`, 500);
  const after = rest.flatMap((answer) => repositoriesIn(answer, 100));
  assertAnswer(
    after.every((name) => name > own[1]!),
    rest[0]!,
    `what comes after ${own[1]}`,
  );
}

function repositoriesIn(answer: Answer, limit: number): readonly string[] {
  const { repositories } = jsonOf(answer);
  assertAnswer(Array.isArray(repositories) && repositories.length <= limit, answer, `at most ${limit} repositories`);
  return repositories as readonly string[];
}

export function listLists(): BeyondCell[] {
  return toBeyondCells('lists', {
    'tags come in the order of their bytes': listsAll('', tags),
    'n=0: no tag and no Link': listsAll('?n=0', []),
    'n=1: Link leads to the last tag': pages(1),
    'n=3: Link leads to the last tag': pages(3),
    'n as large as the list: no Link': listsAll(`?n=${tags.length}`, tags),
    'n far beyond the list: all tags': listsAll('?n=999999999999', tags),
    'last that is no tag of the repository: what comes after it': listsAll('?last=Zebra', ['_x', 'a', 'b', 'v1.0', 'v1.0-rc']),
    'last with n': listsAll('?n=2&last=b', ['v1.0', 'v1.0-rc']),
    'last after all tags: none': listsAll('?last=zzz', []),
    'n below zero: 400': refusesCount('-1'),
    'n that is no number: 400': refusesCount('many'),
    'n with a fraction: 400': refusesCount('1.5'),
    'a tag that moves is listed once': async (bench, repository) => {
      const first = await pushImage(bench, repository, 'v1');
      const second = await pushImage(bench, repository, 'v1', 'v2');
      assertTags(await listTags(bench, repository), ['v1', 'v2']);
      await checkManifest(bench, 'GET', repository, 'v1', second);
      await checkManifest(bench, 'GET', repository, first.digest, first);
    },
    'tags of a deleted manifest are gone': async (bench, repository) => {
      const { digest } = await pushImage(bench, repository, 'v1', 'v2');
      const other = await pushImage(bench, repository, 'v3');
      assertStatus(await bench.send('DELETE', manifestOf(repository, digest)), 202);
      assertTags(await listTags(bench, repository), ['v3']);
      assertRefusal(await bench.get(manifestOf(repository, 'v1')), 404, 'MANIFEST_UNKNOWN');
      await checkManifest(bench, 'GET', repository, 'v3', other);
    },
    'the catalog pages by n, last and Link': checkCatalog,
    'extensions can be discovered': async (bench) => {
      const answer = await bench.get('/v2/_oci/ext/discover');
      assertStatus(answer, 200);
      assertHeader(answer, 'content-type', 'application/json');
      const { extensions } = jsonOf(answer);
      assertAnswer(Array.isArray(extensions), answer, 'a list of extensions');
    },
  });
}
