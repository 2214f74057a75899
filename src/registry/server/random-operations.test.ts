/** Random operations against a model in memory: whatever is done, the registry shows what the model says. Failures are shrunk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askOf, type AskRegistry, manifestType, sha256, toManifest } from '../../../test/support/ask-registry.js';
import type { RegistryStore } from '../../core/index.js';
import { createMemoryRegistryStore, openRegistryStore, prune } from '../../store/index.js';
import { createRegistry } from './registry.js';

const repositories = ['demo/a', 'demo/b'] as const;
const contents = ['one', 'two', 'three'] as const;
const tags = ['v1', 'v2'] as const;

type Repository = (typeof repositories)[number];
type Content = (typeof contents)[number];

const config = '{}';

/** What can be pushed: every manifest may be attached to the first. */
const first = toManifest(['one']);
const subject = { mediaType: manifestType, digest: first.digest, size: Buffer.byteLength(first.text) };
const manifests = [
  { ...first, layers: ['one'], isAttached: false },
  { ...toManifest(['one', 'two']), layers: ['one', 'two'], isAttached: false },
  { ...toManifest(['three'], { subject }), layers: ['three'], isAttached: true },
] as const;
type Pushed = (typeof manifests)[number];

interface Shelf {
  readonly claims: Set<string>;
  readonly manifests: Set<Pushed>;
  readonly tags: Map<string, Pushed>;
}

type Model = Record<Repository, Shelf>;

function createModel(): Model {
  const shelf = (): Shelf => ({ claims: new Set(), manifests: new Set(), tags: new Map() });
  return { 'demo/a': shelf(), 'demo/b': shelf() };
}

const namedBy = ({ layers }: Pushed): readonly string[] => [config, ...layers];
const needs = (shelf: Shelf, content: string): boolean => [...shelf.manifests].some((manifest) => namedBy(manifest).includes(content));
const shows = (shelf: Shelf, content: string): boolean => shelf.claims.has(content) || needs(shelf, content);

/** One request, what it does to the model, and the status it has to get. */
interface Operation {
  readonly name: string;
  run(ask: AskRegistry, model: Model): Promise<readonly [expected: number, found: number]>;
}

const blobOf = (repository: string, content: string): string => `/v2/${repository}/blobs/${sha256(content)}`;

const pushBlob = (repository: Repository, content: Content | typeof config): Operation => ({
  name: `push ${content} to ${repository}`,
  run: async (ask, model) => {
    model[repository].claims.add(content);
    const { status } = await ask('POST', `/v2/${repository}/blobs/uploads/?digest=${sha256(content)}`, { body: content });
    return [201, status];
  },
});

const pushInPieces = (repository: Repository, content: Content, isRight: boolean): Operation => ({
  name: `push ${content} to ${repository} in pieces${isRight ? '' : ', under a wrong digest'}`,
  run: async (ask, model) => {
    const location = (await ask('POST', `/v2/${repository}/blobs/uploads/`)).headers['location'] ?? '';
    await ask('PATCH', location, { body: content.slice(0, 2) });
    await ask('PATCH', location, { headers: { 'Content-Range': '0-1' }, body: 'xx' });
    const digest = sha256(isRight ? content : `not ${content}`);
    const range = { 'Content-Range': `2-${content.length - 1}` };
    const { status } = await ask('PUT', `${location}?digest=${digest}`, { headers: range, body: content.slice(2) });
    if (isRight) model[repository].claims.add(content);
    return [isRight ? 201 : 400, status];
  },
});

const mount = (to: Repository, from: Repository | undefined, content: Content): Operation => ({
  name: `mount ${content} from ${from ?? 'anywhere'} into ${to}`,
  run: async (ask, model) => {
    const isThere = (from === undefined ? repositories : [from]).some((repository) => shows(model[repository], content));
    const source = from === undefined ? '' : `&from=${from}`;
    const { status, headers } = await ask('POST', `/v2/${to}/blobs/uploads/?mount=${sha256(content)}${source}`);
    if (isThere) model[to].claims.add(content);
    else await ask('DELETE', headers['location'] ?? '');
    return [isThere ? 201 : 202, status];
  },
});

const putManifest = (repository: Repository, tag: string | undefined, manifest: Pushed): Operation => ({
  name: `put ${namedBy(manifest).join('+')} into ${repository} as ${tag ?? 'its digest'}`,
  run: async (ask, model) => {
    const shelf = model[repository];
    const isKnown = shelf.manifests.has(manifest);
    const isComplete = isKnown || namedBy(manifest).every((content) => shows(shelf, content));
    if (!isKnown) for (const content of namedBy(manifest)) if (shows(shelf, content)) shelf.claims.add(content);
    if (isComplete) shelf.manifests.add(manifest);
    if (isComplete && tag !== undefined) shelf.tags.set(tag, manifest);
    const target = `/v2/${repository}/manifests/${tag ?? manifest.digest}`;
    const { status } = await ask('PUT', target, { headers: { 'Content-Type': manifestType }, body: manifest.text });
    return [isComplete ? 201 : 400, status];
  },
});

const deleteTag = (repository: Repository, tag: string): Operation => ({
  name: `delete ${repository}:${tag}`,
  run: async (ask, model) => [model[repository].tags.delete(tag) ? 202 : 404, (await ask('DELETE', `/v2/${repository}/manifests/${tag}`)).status],
});

const deleteManifest = (repository: Repository, manifest: Pushed): Operation => ({
  name: `delete ${namedBy(manifest).join('+')} from ${repository}`,
  run: async (ask, model) => {
    const shelf = model[repository];
    const wasThere = shelf.manifests.delete(manifest);
    for (const [tag, pushed] of shelf.tags) if (pushed === manifest) shelf.tags.delete(tag);
    return [wasThere ? 202 : 404, (await ask('DELETE', `/v2/${repository}/manifests/${manifest.digest}`)).status];
  },
});

const deleteBlob = (repository: Repository, content: Content): Operation => ({
  name: `delete ${content} from ${repository}`,
  run: async (ask, model) => {
    const shelf = model[repository];
    const expected = needs(shelf, content) ? 405 : shelf.claims.delete(content) ? 202 : 404;
    return [expected, (await ask('DELETE', blobOf(repository, content))).status];
  },
});

/** Everything that a client can see, as text for a readable difference. */
async function observe(ask: AskRegistry): Promise<unknown> {
  const seen: Record<string, unknown> = {};
  for (const repository of repositories) {
    const list = await ask('GET', `/v2/${repository}/tags/list`);
    const tagged: unknown[] = [];
    for (const tag of list.json.tags ?? []) tagged.push([tag, (await ask('GET', `/v2/${repository}/manifests/${tag}`)).bytes.toString()]);
    const attached = (await ask('GET', `/v2/${repository}/referrers/${first.digest}`)).json.manifests.length;
    const statuses = [];
    for (const content of contents) statuses.push((await ask('GET', blobOf(repository, content))).bytes.toString());
    for (const { digest } of manifests) statuses.push((await ask('HEAD', `/v2/${repository}/manifests/${digest}`)).status);
    seen[repository] = { tagged, attached, statuses };
  }
  return seen;
}

function expectOf(model: Model): unknown {
  const unknownBlob = (content: string) =>
    JSON.stringify({
      errors: [{ code: 'BLOB_UNKNOWN', message: 'The repository has no such blob', detail: { digest: sha256(content) } }],
    });
  const ofShelf = (shelf: Shelf) => ({
    tagged: [...shelf.tags].sort(([a], [b]) => (a < b ? -1 : 1)).map(([tag, { text }]) => [tag, text]),
    attached: [...shelf.manifests].filter(({ isAttached }) => isAttached).length,
    statuses: [
      ...contents.map((content) => (shows(shelf, content) ? content : unknownBlob(content))),
      ...manifests.map((manifest) => (shelf.manifests.has(manifest) ? 200 : 404)),
    ],
  });
  return Object.fromEntries(repositories.map((repository) => [repository, ofShelf(model[repository])]));
}

const repository = fc.constantFrom(...repositories);
const content = fc.constantFrom(...contents);
const tag = fc.constantFrom(...tags);
const manifest = fc.constantFrom(...manifests);
const restart = 'restart';

const operation: fc.Arbitrary<Operation | typeof restart> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(repository, fc.constantFrom(...contents, config)).map((given) => pushBlob(...given)) },
  { weight: 2, arbitrary: fc.tuple(repository, content, fc.boolean()).map((given) => pushInPieces(...given)) },
  { weight: 2, arbitrary: fc.tuple(repository, fc.option(repository, { nil: undefined }), content).map((given) => mount(...given)) },
  { weight: 6, arbitrary: fc.tuple(repository, fc.option(tag, { nil: undefined }), manifest).map((given) => putManifest(...given)) },
  { weight: 2, arbitrary: fc.tuple(repository, tag).map((given) => deleteTag(...given)) },
  { weight: 2, arbitrary: fc.tuple(repository, manifest).map((given) => deleteManifest(...given)) },
  { weight: 2, arbitrary: fc.tuple(repository, content).map((given) => deleteBlob(...given)) },
  { weight: 1, arbitrary: fc.constant(restart) },
);

/** `reopen` stands for another run of the program, with a collection of garbage between the two. */
async function check(operations: readonly (Operation | typeof restart)[], reopen: () => Promise<RegistryStore>): Promise<void> {
  const model = createModel();
  const done: string[] = [];
  let ask = askOf(createRegistry({ store: await reopen() }));
  // Without a config nothing can be put at all.
  for (const name of repositories) await pushBlob(name, config).run(ask, model);
  for (const next of operations) {
    done.push(next === restart ? restart : next.name);
    if (next === restart) ask = askOf(createRegistry({ store: await reopen() }));
    else {
      const [expected, found] = await next.run(ask, model);
      expect({ done, status: found }).toEqual({ done, status: expected });
    }
    expect({ done, seen: await observe(ask) }).toEqual({ done, seen: expectOf(model) });
  }
}

describe('whatever is done', () => {
  it('a registry over memory shows what the model says', async () => {
    const run = async (operations: readonly (Operation | typeof restart)[]) => {
      const store = createMemoryRegistryStore();
      await check(operations, async () => store);
    };
    await fc.assert(fc.asyncProperty(fc.array(operation, { maxLength: 25, size: 'max' }), run), { numRuns: 150 });
  });

  it('so does one over a layout, which is opened anew and collected in between', { timeout: 60_000 }, async () => {
    const run = async (operations: readonly (Operation | typeof restart)[]) => {
      const folder = mkdtempSync(join(tmpdir(), 'random-'));
      try {
        await check(operations, async () => {
          const store = await openRegistryStore(join(folder, 'layout'), { create: true });
          await prune(store);
          return store;
        });
      } finally {
        rmSync(folder, { recursive: true });
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(operation, { maxLength: 20, size: 'max' }), run), { numRuns: 25 });
  });
});
