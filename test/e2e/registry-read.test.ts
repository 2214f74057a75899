/** What can be asked of a package at a registry without fetching it, and where a name is looked for. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';

let bench: RegistryBench;
let host: string;
let name: string;
let digest: string;
beforeAll(async () => {
  bench = await createRegistryBench();
  ({ name } = bench);
  ({ host } = bench.registry);
  ({ digest } = (await bench.json('push', './tiny', name)).document);
});
afterAll(() => bench.end());

describe('without a package in the store', () => {
  it('inspect', async () => {
    const requests = await bench.requestsOf(async () => {
      const { code, document } = await bench.json('inspect', name);
      expect([code, document]).toMatchObject([0, { from: 'registry', digest, location: name, weights: { parameters: 72 }, parts: { length: 9 } }]);
    });
    expect(requests.every(({ method }) => method === 'GET')).toBe(true);
    expect(requests).toHaveLength(4);
    expect((await bench.run('inspect', name)).stdout).toContain(`${name} (registry)`);
  });

  it('ls and cat', async () => {
    const { document } = await bench.json('ls', name);
    expect(document.files).toContainEqual({ path: 'config.json', role: 'config', size: 22, digest: expect.stringMatching(/^sha256:/), mode: '0644' });
    expect(await bench.run('cat', name, 'config.json')).toEqual({ code: 0, stdout: '{"model_type":"tiny"}\n', stderr: '' });
    expect(await bench.run('cat', name, 'Config.json')).toMatchObject({ code: 3, stderr: expect.stringContaining('config.json') });
  });

  it('validate, verify and diff', async () => {
    expect(await bench.json('validate', '--strict', name)).toMatchObject({ code: 0, document: { valid: true } });
    expect(await bench.json('verify', name)).toMatchObject({ code: 0, document: { ok: true, problems: [] } });
    expect(await bench.json('diff', name, './tiny')).toMatchObject({ code: 0, document: { equal: true } });
  });

  it('a layer that the registry lost is a finding, and stops who needs its bytes', async () => {
    const { document } = await bench.json('push', './tiny', `${host}/lost:v1`, '--set', 'version=3');
    const layers = JSON.parse(bench.registry.findManifest('lost', 'v1')?.bytes.toString() ?? '') as {
      readonly layers: readonly { readonly digest: string }[];
    };
    const lost = layers.layers[0]?.digest ?? '';
    rmSync(join(bench.registry.folder, 'repositories/lost/blobs', lost.replace(':', '-')));
    const finding = { level: 'error', message: expect.stringContaining(lost) };
    expect(await bench.json('inspect', `${host}/lost:v1`)).toMatchObject({ code: 0, document: { digest: document.digest, findings: [finding] } });
    expect(await bench.json('validate', `${host}/lost:v1`)).toMatchObject({ code: 1, document: { valid: false, findings: [finding] } });
    expect(await bench.json('verify', `${host}/lost:v1`)).toMatchObject({ code: 1, document: { ok: false, problems: [finding] } });
    expect(await bench.json('pull', `${host}/lost:v1`, '-o', 'lost')).toMatchObject({ code: 3, document: { error: { code: 'registry/not-found' } } });
    expect(existsSync(bench.path('lost'))).toBe(false);
  });

  it('unpack', async () => {
    expect(await bench.json('unpack', name, '-o', 'out')).toMatchObject({ code: 0, document: { files: 9, digest } });
    expect(await bench.json('diff', name, './out')).toMatchObject({ code: 0 });
    expect(await bench.json('unpack', name, '-o', 'shared', '--shared')).toMatchObject({
      code: 2,
      document: { error: { hint: expect.stringContaining(`modelport pull ${name}`) } },
    });
  });

  it('an index lists its entries, and a digest reaches one', async () => {
    const entry = bench.registry.findManifest('tiny', 'v1');
    const mediaType = 'application/vnd.oci.image.index.v1+json';
    const descriptor = { mediaType: entry?.mediaType, digest: entry?.digest, size: entry?.bytes.length };
    bench.registry.putManifest('tiny', 'all', { schemaVersion: 2, mediaType, manifests: [descriptor] });
    expect((await bench.json('inspect', `${host}/tiny:all`)).document).toMatchObject({
      format: 'index',
      extra: { entries: [{ digest }] },
      findings: [{ hint: expect.stringContaining(`@${digest}`) }],
    });
    expect((await bench.json('inspect', `${host}/tiny@${digest}`)).document).toMatchObject({ format: 'modelpack', digest });
    expect(await bench.json('rm', '--remote', '--yes', `${host}/tiny:all`)).toMatchObject({ code: 0 });
  });
});

describe('where a name is looked for', () => {
  beforeAll(async () => {
    await bench.run('pack', './tiny', '-t', name, '--set', 'licenses=MIT');
  });
  afterAll(() => bench.run('rm', name));

  it('the store answers first, and it is said', async () => {
    const requests = await bench.requestsOf(async () => {
      expect((await bench.json('inspect', name)).document).toMatchObject({ from: 'store', identity: { licenses: ['MIT'] } });
      expect((await bench.run('inspect', name)).stdout).toContain(`${name} (store)`);
      expect((await bench.run('ls', name)).code).toBe(0);
    });
    expect(requests).toEqual([]);
  });

  it('--remote and --local force one', async () => {
    expect((await bench.json('inspect', '--remote', name)).document).toMatchObject({ from: 'registry', digest });
    expect((await bench.json('inspect', '--local', name)).document).toMatchObject({ from: 'store' });
    await bench.run('push', './tiny', `${host}/far:v1`);
    expect(await bench.json('inspect', '--local', `${host}/far:v1`)).toMatchObject({
      code: 3,
      document: { error: { code: 'store/name-not-found' } },
    });
    expect(await bench.json('inspect', '--remote', 'demo/tiny:v1')).toMatchObject({
      code: 3,
      document: { error: { message: expect.stringContaining('no host') } },
    });
  });

  it('copy means the registry, unless --local is said', async () => {
    expect((await bench.json('copy', name, 'far.tar')).document).toMatchObject({ digest });
    const { document } = await bench.json('copy', '--local', name, 'near.tar');
    expect(document.digest).not.toBe(digest);
    await bench.run('tag', name, `${host}/unsent:v1`);
    expect(await bench.json('copy', `${host}/unsent:v1`, 'never.tar')).toMatchObject({
      code: 3,
      document: { error: { code: 'registry/not-found', hint: expect.stringContaining('--local') } },
    });
    await bench.run('rm', `${host}/unsent:v1`);
  });

  it('a name without a host is in the store only', async () => {
    const requests = await bench.requestsOf(async () => {
      expect(await bench.json('inspect', 'demo/none:v1')).toMatchObject({ code: 3, document: { error: { code: 'store/name-not-found' } } });
    });
    expect(requests).toEqual([]);
  });
});

describe('list', () => {
  it('the tags of a repository, by page, with parameters, size and date', async () => {
    bench.env['SOURCE_DATE_EPOCH'] = '1700000000';
    const dated = (await bench.json('push', './tiny', `${host}/dated:v1`)).document;
    delete bench.env['SOURCE_DATE_EPOCH'];
    await bench.run('tag', '--remote', `${host}/dated:v1`, `${host}/dated:v2`);
    bench.registry.behaviour.tagsPageSize = 1;
    const { code, document } = await bench.json('list', `${host}/dated`);
    bench.registry.behaviour.tagsPageSize = 1000;
    const row = {
      digest: dated.digest,
      format: 'modelpack',
      vintage: 'cncf',
      parameters: '0.1K',
      size: expect.any(Number),
      createdAt: '2023-11-14T22:13:20Z',
    };
    expect([code, document]).toEqual([0, { packages: [1, 2].map((n) => ({ name: `${host}/dated:v${n}`, ...row })), next: null }]);
    const { stdout } = await bench.run('list', `${host}/dated`);
    expect(stdout).toMatch(/^NAME +FORMAT +PARAMETERS +SIZE +DIGEST +CREATED\n/);
    expect(stdout).toMatch(
      new RegExp(`^${host}/dated:v1 +modelpack cncf +0\\.1K +5\\.\\d+ kB +${dated.digest.slice(7, 19)} +2023-11-14 22:13$`, 'm'),
    );
    expect((await bench.run('list', `${host}/dated`, '-q')).stdout).toBe(`${host}/dated:v1\n${host}/dated:v2\n`);
  });

  it('reads no weights', async () => {
    const requests = await bench.requestsOf(() => bench.run('list', `${host}/tiny`));
    expect(requests.filter(({ path }) => path.includes('/blobs/')).every(({ responseBytes }) => responseBytes < 6000)).toBe(true);
  });

  it('what is foreign by its kind', async () => {
    const config = bench.registry.putBlob('mixed', '{}');
    bench.registry.putManifest('mixed', 'artifact', { schemaVersion: 2, config: { ...config, mediaType: 'text/x' }, layers: [] });
    const { document } = await bench.json('list', `${host}/mixed`);
    expect(document.packages).toMatchObject([{ name: `${host}/mixed:artifact`, format: 'artifact' }]);
  });

  it('the repositories of a registry', async () => {
    expect(await bench.json('list', host)).toMatchObject({
      code: 0,
      document: { packages: [], repositories: expect.arrayContaining(['tiny']), next: null },
    });
    expect((await bench.run('list', host)).stdout).toMatch(/^tiny$/m);
  });

  it('a registry that does not tell them says how to go on', async () => {
    bench.registry.behaviour.failStatus = ({ path }) => (path.includes('_catalog') ? 404 : undefined);
    const { code, document } = await bench.json('list', host);
    bench.registry.behaviour.failStatus = undefined;
    expect([code, document.error]).toMatchObject([3, { code: 'registry/unsupported', hint: expect.stringContaining(`modelport list ${host}/REPO`) }]);
  });

  it.each([
    [['--remote'], 2, /which registry/],
    [['--local', 'localhost:5000/tiny'], 2, /--local/],
    [['demo'], 3, /neither/],
  ] as const)('%j is refused', async (args, status, message) => {
    const { code, document } = await bench.json('list', ...args);
    expect([code, document.error['message']]).toEqual([status, expect.stringMatching(message)]);
  });

  it('a repository that is not there', async () => {
    const { code, document } = await bench.json('list', `${host}/none`);
    expect([code, document.error]).toMatchObject([3, { code: 'registry/not-found', hint: expect.stringContaining(`modelport list ${host}\``) }]);
  });
});
