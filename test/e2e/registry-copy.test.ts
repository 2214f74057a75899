/** Packages between registries, the store, layouts and archives, with what is attached to them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeRegistry, createRegistryBench, type RegistryBench } from '../support/registry-bench.js';
import { startTestRegistry, type TestRegistry } from '../support/registry/test-registry.js';

let bench: RegistryBench;
let other: TestRegistry;
let host: string;
let name: string;
let digest: string;
beforeAll(async () => {
  bench = await createRegistryBench();
  other = await startTestRegistry();
  ({ name } = bench);
  ({ host } = bench.registry);
  ({ digest } = (await bench.json('push', './tiny', name)).document);
  await bench.run('push', './tiny', `${host}/tiny:v2`, '--set', 'version=2');
});
afterAll(async () => {
  await closeRegistry(other);
  await bench.end();
});

const namesOf = async (location: string) => (await bench.json('list', location)).document.packages.map((each) => each['name']);

describe('one package', () => {
  it.each([
    ['a layout', 'oci:one:v1'],
    ['an archive', 'one.tar'],
    ['the store', 'demo/one:v1'],
    ['another repository', () => `${host}/moved:v1`],
    ['another registry', () => `${other.host}/one:v1`],
  ] as const)('to %s and back', async (_, place) => {
    const there = typeof place === 'string' ? place : place();
    expect(await bench.json('copy', name, there)).toMatchObject({ code: 0, document: { digest, copied: [{ digest }], lost: [] } });
    expect(await bench.json('verify', there)).toMatchObject({ code: 0, document: { ok: true } });
    const back = `${host}/back:v1`;
    expect(await bench.json('copy', there, back)).toMatchObject({
      code: 0,
      document: { digest, name: back, path: null, repository: `${host}/back` },
    });
    expect(bench.registry.findManifest('back', 'v1')?.digest).toBe(digest);
    await bench.run('rm', '--remote', '--yes', back);
  });

  it('within a registry nothing travels', async () => {
    const requests = await bench.requestsOf(() => bench.run('copy', name, `${host}/mounted:v1`));
    expect(requests.filter(({ method, path }) => method === 'GET' && path.includes('/blobs/'))).toEqual([]);
    expect(requests.filter(({ path, query }) => path.includes('/uploads/') && query.get('from') === 'tiny').length).toBeGreaterThan(5);
  });

  it('a bare folder, or several packages without --all, are refused with a way to go on', async () => {
    expect(await bench.json('copy', './tiny', `${host}/never:v1`)).toMatchObject({
      code: 2,
      document: { error: { hint: expect.stringContaining('modelport push') } },
    });
    await bench.run('copy', '--all', `${host}/tiny`, 'several.tar');
    expect(await bench.json('copy', 'several.tar', `${host}/never:v1`)).toMatchObject({ code: 2, document: { error: { code: 'store/ambiguous' } } });
  });
});

describe('--all keeps the tags', () => {
  it.each(['oci:all', 'all.tar'])('to %s and on to another registry', async (place) => {
    expect(await bench.json('copy', '--all', `${host}/tiny`, place)).toMatchObject({
      code: 0,
      document: { copied: [{ name: 'v1' }, { name: 'v2' }] },
    });
    const repository = `${other.host}/from-${place.replace(/\W/, '-')}`;
    const { document } = await bench.json('copy', '--all', place, repository);
    expect(document).toMatchObject({ repository, copied: [{ name: `${repository}:v1`, digest }, { name: `${repository}:v2` }] });
    expect(await namesOf(repository)).toEqual([`${repository}:v1`, `${repository}:v2`]);
  });

  it('to another repository and to the store, where each gets a whole name', async () => {
    const { stdout } = await bench.run('copy', '--all', `${host}/tiny`, `${other.host}/mirror`);
    expect(stdout).toMatch(new RegExp(`^Copied 2 packages to ${other.host}/mirror\\n {2}${other.host}/mirror:v1 {2}${digest}\\n`));
    await bench.run('copy', '--all', `${host}/tiny`, 'demo/mirror');
    expect(await bench.json('inspect', '--local', 'demo/mirror:v1')).toMatchObject({ code: 0, document: { digest } });
    expect(await bench.json('inspect', '--local', 'demo/mirror:v2')).toMatchObject({ code: 0 });
  });

  it('one repository has each tag once', async () => {
    await bench.run('copy', `${host}/tiny:v1`, 'oci:crowd:demo/a:v1');
    await bench.run('copy', `${host}/tiny:v2`, 'oci:crowd:demo/b:v1');
    const requests = await bench.requestsOf(async () => {
      expect(await bench.json('copy', '--all', 'oci:crowd', `${host}/never`)).toMatchObject({
        code: 2,
        document: { error: { message: expect.stringMatching(/"demo\/a:v1" and "demo\/b:v1"/), hint: expect.stringContaining('one by one') } },
      });
    });
    expect(requests).toEqual([]);
  });
});

describe('--referrers', () => {
  const types = { note: 'application/vnd.example.note.v1', stamp: 'application/vnd.example.stamp.v1' };
  let attached: string[];

  function attach(registry: TestRegistry, repository: string, subject: { readonly digest: string; readonly size: number }, artifactType: string) {
    const config = { ...registry.putBlob(repository, '{}'), mediaType: 'application/vnd.oci.empty.v1+json' };
    const layer = { ...registry.putBlob(repository, artifactType), mediaType: 'text/plain' };
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const manifest = { schemaVersion: 2, mediaType, artifactType, config, layers: [layer], subject: { mediaType, ...subject } };
    const { digest: found } = registry.putManifest(repository, `note-${artifactType.split('.')[2]}`, manifest);
    return { digest: found, size: JSON.stringify(manifest).length };
  }

  beforeAll(async () => {
    await bench.run('copy', name, `${host}/signed:v1`);
    const subject = { digest, size: bench.registry.findManifest('signed', 'v1')?.bytes.length ?? 0 };
    const note = attach(bench.registry, 'signed', subject, types.note);
    const stamp = attach(bench.registry, 'signed', note, types.stamp);
    attached = [note.digest, stamp.digest];
    for (const tag of bench.registry.manifests().flatMap(({ repository, tags }) => (repository === 'signed' ? tags : [])))
      if (tag.startsWith('note-')) await bench.run('rm', '--remote', '--yes', `${host}/signed:${tag}`);
  });

  const expectAttached = async (registry: TestRegistry, repository: string) => {
    const back = `${host}/check-${repository.replace('/', '-')}:v1`;
    const { document } = await bench.json('copy', '--referrers', `${registry.host}/${repository}:v1`, back);
    expect(document).toMatchObject({ referrers: attached.map((each) => ({ digest: each })) });
  };

  it('go along to a registry with the API, each once', async () => {
    const { code, document } = await bench.json('copy', '--referrers', `${host}/signed:v1`, `${other.host}/signed:v1`);
    expect([code, document]).toMatchObject([
      0,
      {
        referrers: [
          { digest: attached[0], artifactType: types.note },
          { digest: attached[1], artifactType: types.stamp },
        ],
      },
    ]);
    await expectAttached(other, 'signed');
    expect((await bench.run('copy', '--referrers', `${host}/signed:v1`, `${other.host}/signed:v1`)).stdout).toMatch(/attached +2 referrers/);
  });

  it('go along to a registry without the API, by its fallback tag', async () => {
    const plain = await startTestRegistry({ behaviour: { referrers: false } });
    await bench.json('copy', '--referrers', `${host}/signed:v1`, `${plain.host}/signed:v1`);
    expect(plain.findManifest('signed', digest.replace(':', '-'))?.bytes.toString()).toContain(attached[0]);
    expect((await bench.json('list', `${plain.host}/signed`)).document.packages).toMatchObject([{ name: `${plain.host}/signed:v1` }]);
    await expectAttached(plain, 'signed');
    await closeRegistry(plain);
  });

  it('go along through the store, a layout and an archive', async () => {
    expect((await bench.json('pull', '--referrers', `${host}/signed:v1`)).document).toMatchObject({ referrers: { length: 2 } });
    expect((await bench.json('push', '--referrers', `${host}/signed:v1`, `${other.host}/pushed:v1`)).document).toMatchObject({
      referrers: { length: 2 },
    });
    await expectAttached(other, 'pushed');
    for (const place of ['oci:signed:v1', 'signed.tar']) {
      expect((await bench.json('copy', '--referrers', '--remote', `${host}/signed:v1`, place)).document).toMatchObject({ referrers: { length: 2 } });
      expect((await bench.json('copy', '--all', '--referrers', place, `${other.host}/${place.replace(/\W/g, '')}`)).code).toBe(0);
      await expectAttached(other, place.replace(/\W/g, ''));
    }
  });

  it('stay behind unless asked for', async () => {
    expect((await bench.json('copy', `${host}/signed:v1`, `${other.host}/bare:v1`)).document).not.toHaveProperty('referrers');
    expect(other.manifests().filter(({ repository }) => repository === 'bare')).toHaveLength(1);
  });
});

describe('changed copies', () => {
  it('convert from registry to registry sends no layer', async () => {
    const there = `${host}/converted:cnai`;
    const requests = await bench.requestsOf(async () => {
      expect(await bench.json('convert', name, there, '--vintage', 'cnai')).toMatchObject({
        code: 0,
        document: { name: there, vintage: 'cnai', dryRun: false },
      });
    });
    expect(requests.filter(({ method, responseBytes }) => method === 'GET' && responseBytes > 8000)).toEqual([]);
    expect(await bench.json('validate', there)).toMatchObject({ code: 0, document: { vintage: 'cnai', valid: true } });
    expect(await bench.json('convert', name, `${other.host}/converted:draft`, '--vintage', 'draft-2024')).toMatchObject({ code: 0 });
    expect(await bench.json('verify', `${other.host}/converted:draft`)).toMatchObject({ code: 0 });
  });

  it('edit stays where the package is', async () => {
    const edited = await bench.json('edit', name, '-t', `${host}/tiny:edited`, '--set', 'licenses=MIT');
    expect(edited).toMatchObject({ code: 0, document: { from: digest, name: `${host}/tiny:edited` } });
    expect(bench.registry.findManifest('tiny', 'edited')?.digest).toBe(edited.document.digest);
    await bench.run('tag', '--remote', name, `${host}/tiny:moving`);
    expect((await bench.json('edit', `${host}/tiny:moving`, '--set', 'licenses=MIT')).document).toMatchObject({ name: `${host}/tiny:moving` });
    expect(bench.registry.findManifest('tiny', 'moving')?.digest).toBe(edited.document.digest);
    expect((await bench.json('inspect', '--remote', name)).document).toMatchObject({ digest });
  });

  it('edit sends no weights', async () => {
    const requests = await bench.requestsOf(() => bench.run('edit', '--remote', name, '-t', `${host}/tiny:noted`, '--set', 'description=x'));
    const uploads = requests.filter(({ method, path }) => method === 'PUT' && path.includes('/uploads/'));
    expect(uploads).toHaveLength(1);
  });
});

describe('names at a registry', () => {
  it('tag --remote moves a tag, and says what it was', async () => {
    expect((await bench.json('tag', '--remote', name, `${host}/tiny:stable`)).document).toEqual({
      name: `${host}/tiny:stable`,
      digest,
      replaced: null,
    });
    const { document } = await bench.json('tag', '--remote', `${host}/tiny:v2`, `${host}/tiny:stable`);
    expect(document).toMatchObject({ replaced: digest });
    expect((await bench.json('tag', '--remote', name, `${host}/tiny`)).document).toMatchObject({ name: `${host}/tiny:latest` });
    expect(bench.registry.findManifest('tiny', 'latest')?.digest).toBe(digest);
  });

  it.each([
    [() => [name, `${host}/tinyx:v2`], 2, /modelport copy/],
    [() => [`${host}/tiny:none`, `${host}/tiny:v3`], 3, /modelport list/],
    [() => ['demo/tiny:v1', `${host}/tiny:v3`], 2, /HOST\/REPO:TAG/],
    [() => [name, `${host}/tiny@${digest}`], 2, /NAME:TAG/],
  ] as const)('tag --remote refuses what cannot be (%#)', async (args, status, hint) => {
    const { code, document } = await bench.json('tag', '--remote', ...args());
    expect([code, document.error['hint']]).toEqual([status, expect.stringMatching(hint)]);
  });

  it('rm --remote asks, and without a terminal wants --yes', async () => {
    await bench.run('tag', '--remote', name, `${host}/tiny:old`);
    const refused = await bench.requestsOf(async () => {
      expect(await bench.json('rm', '--remote', `${host}/tiny:old`)).toMatchObject({
        code: 2,
        document: { error: { code: 'cli/usage', hint: expect.stringContaining('--yes') } },
      });
    });
    expect(refused).toEqual([]);
    expect(await bench.run('rm', '--remote', '--yes', `${host}/tiny:old`)).toEqual({
      code: 0,
      stdout: `Removed ${host}/tiny:old ${digest}\n`,
      stderr: '',
    });
    expect(bench.registry.findManifest('tiny', 'old')).toBeUndefined();
    expect(bench.registry.findManifest('tiny', 'v1')?.digest).toBe(digest);
  });

  it('of several names all must be there, else none is removed', async () => {
    expect(await bench.json('rm', '--remote', '--yes', `${host}/tiny:v2`, `${host}/tiny:none`)).toMatchObject({ code: 3 });
    expect(bench.registry.findManifest('tiny', 'v2')).toBeDefined();
  });

  it('a registry that deletes by digest alone: the tag goes, the package and its other tags stay', async () => {
    bench.registry.behaviour.deletes = 'by-digest';
    const version2 = bench.registry.findManifest('tiny', 'v2')?.digest ?? '';
    await bench.run('tag', '--remote', `${host}/tiny:v2`, `${host}/tiny:stable`);
    expect(await bench.json('rm', '--remote', '--yes', `${host}/tiny:v2`)).toMatchObject({ code: 0 });
    expect(bench.registry.findManifest('tiny', 'v2')).toBeUndefined();
    expect([bench.registry.findManifest('tiny', 'stable')?.digest, bench.registry.findManifest('tiny', version2)?.digest]).toEqual([
      version2,
      version2,
    ]);
    expect((await bench.json('list', `${host}/tiny`)).document.packages.map((row) => row['format'])).not.toContain('artifact');
    bench.registry.behaviour.deletes = true;
  });

  it('a registry that deletes nothing keeps every tag where it is', async () => {
    bench.registry.behaviour.deletes = false;
    const before = bench.registry.findManifest('tiny', 'stable')?.digest;
    const requests = await bench.requestsOf(async () => {
      expect(await bench.json('rm', '--remote', '--yes', `${host}/tiny:stable`)).toMatchObject({
        code: 3,
        document: { error: { code: 'registry/unsupported' } },
      });
    });
    expect(requests.filter(({ method, path }) => method === 'PUT' && path.endsWith('/stable'))).toEqual([]);
    expect(bench.registry.findManifest('tiny', 'stable')?.digest).toBe(before);
    expect(await bench.json('rm', '--remote', '--yes', `${host}/tiny@${digest}`)).toMatchObject({
      code: 3,
      document: { error: { code: 'registry/unsupported' } },
    });
    bench.registry.behaviour.deletes = true;
  });
});
