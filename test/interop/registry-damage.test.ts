/** One bit flipped in the storage of the registry: every verb says so at once, names the part, and leaves nothing that is wrong. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listPaths } from './support/folders.js';
import { type Manifest } from './support/layouts.js';
import { makeModel } from './support/models.js';
import { type Inspection } from './support/modelport.js';
import { type DockerRegistry, startDockerRegistry } from './support/registry.js';
import { blobFileOf, corruptBlob } from './support/registry-data.js';
import { Workplace } from './support/workplace.js';

let place: Workplace;
let registry: DockerRegistry;
let name: string;
let manifest: Manifest;
beforeAll(async () => {
  place = new Workplace();
  registry = await place.open(startDockerRegistry());
  name = `${registry.host}/demo/damaged:v1`;
  const model = place.path('model');
  makeModel('varied', model);
  await place.must(['push', model, name]);
  manifest = JSON.parse(await place.tool('crane', ['manifest', name])) as Manifest;
});
afterAll(() => place.close());

const longestMs = 10_000;
const shard = 'model-00001-of-00002.safetensors';

/** What is damaged, and any of the names by which a person finds it. */
const damages = {
  'a weight file': () => ({
    digest: manifest.layers.find(({ annotations }) => annotations?.['org.cncf.model.filepath'] === shard)?.digest ?? '',
    called: shard,
  }),
  'an archive of many files': () => {
    const at = manifest.layers.findIndex(({ mediaType }) => mediaType.endsWith('.tar'));
    return { digest: manifest.layers[at]?.digest ?? '', called: `layers[${at}]` };
  },
} as const;

type Damage = keyof typeof damages;

const withDamage = (damage: Damage, work: (digest: string, called: string) => Promise<void>): Promise<void> => {
  const { digest, called } = damages[damage]();
  return withCorrupt(digest, () => work(digest, called));
};

async function withCorrupt(digest: string, work: () => Promise<void>): Promise<void> {
  const [file, whole] = [blobFileOf(registry, digest), place.path('whole')];
  copyFileSync(file, whole);
  corruptBlob(registry, digest);
  try {
    await work();
  } finally {
    copyFileSync(whole, file);
  }
}

const countFetches = (digest: string): number => registry.readLog().split(`"GET /v2/demo/damaged/blobs/${digest} `).length - 1;

/** Exit status 1, soon, with the part named; fetched twice at most. */
async function expectDamaged(args: readonly string[], digest: string, called: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const [since, before] = [performance.now(), countFetches(digest)];
  const { code, stdout, stderr } = await place.run(args, { env });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.includes(called) || stderr.includes(digest)).toBe(true);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(performance.now() - since).toBeLessThan(longestMs);
  expect(countFetches(digest) - before).toBeGreaterThan(0);
  expect(countFetches(digest) - before).toBeLessThanOrEqual(2);
}

async function expectNotTaken(digest: string, called: string): Promise<void> {
  const env = { MODELPORT_HOME: place.path('store') };
  await expectDamaged(['pull', name], digest, called, env);
  expect(await place.json(['list'], { env })).toMatchObject({ packages: [] });
  expect(await place.json(['verify'], { env })).toMatchObject({ ok: true });
  const layout = place.path('layout');
  await expectDamaged(['copy', name, `oci:${layout}:v1`], digest, called);
  expect(existsSync(join(layout, 'blobs', digest.replace(':', '/')))).toBe(false);
}

const each = Object.keys(damages) as Damage[];

describe.each(each)('%s', (damage) => {
  it.each(['pull', 'unpack'])('%s -o leaves no file', (verb) =>
    withDamage(damage, async (digest, called) => {
      const parent = place.path('parent');
      mkdirSync(parent);
      await expectDamaged([verb, name, '-o', join(parent, 'model')], digest, called);
      expect(existsSync(join(parent, 'model'))).toBe(false);
      expect(listPaths(parent).every((path) => path.startsWith('.'))).toBe(true);
    }),
  );

  it('pull to the store and copy to a layout take nothing that is wrong', () =>
    withDamage(damage, (digest, called) => expectNotTaken(digest, called)));

  it('verify says what', () =>
    withDamage(damage, async (digest) => {
      const { code, stdout } = await place.run(['verify', '--remote', name, '--json']);
      expect([code, JSON.parse(stdout)]).toEqual([1, expect.objectContaining({ ok: false })]);
      expect(stdout).toContain(digest);
    }));
});

it('the config: it is not taken, and nothing of it is believed', () =>
  withCorrupt(manifest.config.digest, async () => {
    await expectNotTaken(manifest.config.digest, 'config');
    const found = await place.json<Inspection>(['inspect', name]);
    expect([found.identity, found.findings]).toEqual([{}, [expect.objectContaining({ level: 'error', code: 'modelpack/config-unreadable' })]]);
  }));

it('oras finds it too, and leaves the file under its final name', () =>
  withDamage('a weight file', async () => {
    const output = place.path('oras');
    expect((await place.runTool('oras', ['pull', '--no-tty', '--plain-http', name, '-o', output])).code).toBe(1);
    expect(existsSync(join(output, shard))).toBe(true);
  }));

it('what was mended in the registry is pulled, and what an earlier run had kept of the wrong bytes is no hindrance', async () => {
  const parent = place.path('parent');
  mkdirSync(parent);
  const args = ['pull', name, '-o', join(parent, 'model')];
  await withDamage('a weight file', (digest, called) => expectDamaged(args, digest, called));
  await place.must(args);
  expect(listPaths(parent).every((path) => path.startsWith('model/'))).toBe(true);
});
