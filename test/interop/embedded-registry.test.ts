/** Clients of the protocol push to `modelport registry serve`, pull from it and tidy it up. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectPulled, expectPushed, expectUnpacked } from './support/expect-whole.js';
import { readFiles, sha256 } from './support/folders.js';
import { Layout } from './support/layouts.js';
import { writeModelfile } from './support/registry-clients.js';
import { Scene, sceneTags } from './support/scene.js';

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open('digits');
});
afterAll(() => scene.close());

const lines = (printed: string): string[] => printed.trim().split('\n').toSorted();

describe('skopeo', () => {
  const skopeo = (...args: string[]) => scene.place.tool('skopeo', ['--insecure-policy', ...args]);
  const copy = (...args: string[]) => skopeo('copy', '--quiet', '--src-tls-verify=false', '--dest-tls-verify=false', ...args);

  it.each(sceneTags)('copies %s from a layout and into one', async (tag) => {
    const name = `skopeo/model:${tag}`;
    await copy('--preserve-digests', `oci:${scene.layout}:${tag}`, `docker://${scene.host}/${name}`);
    await expectPushed(scene, name, { digest: scene.digest(tag) });
    const layout = scene.place.path('layout');
    await copy('--preserve-digests', `docker://${scene.host}/${name}`, `oci:${layout}:${tag}`);
    await expectPulled(scene, layout, scene.digest(tag));
  });

  it('copies a docker archive there and back, in manifests of docker', async () => {
    const [archive, back] = [scene.place.path('docker.tar'), scene.place.path('back.tar')];
    await scene.place.must(['copy', `oci:${scene.layout}:v1-image`, `docker-archive:${archive}:demo/model:v1`]);
    // Of a host of this name skopeo remembers no layers: those it would take without compressing them, and still say that they are compressed.
    const name = `docker://${scene.host.replace('127.0.0.1', 'localhost')}/skopeo/docker:v1`;
    await copy(`docker-archive:${archive}`, name);
    await expectPushed(scene, 'skopeo/docker:v1');
    const raw = await skopeo('inspect', '--tls-verify=false', '--raw', name);
    expect(JSON.parse(raw)).toMatchObject({ mediaType: 'application/vnd.docker.distribution.manifest.v2+json' });
    await copy(name, `docker-archive:${back}:demo/model:v1`);
    await expectUnpacked(scene, `docker-archive:${back}`);
  });

  it('syncs a repository to a folder, and the folder to another repository', async () => {
    for (const tag of sceneTags) await copy('--preserve-digests', `oci:${scene.layout}:${tag}`, `docker://${scene.host}/sync/model:${tag}`);
    const folder = scene.place.path('synced');
    await skopeo('sync', '--preserve-digests', '--src-tls-verify=false', '--src', 'docker', '--dest', 'dir', `${scene.host}/sync/model`, folder);
    await skopeo('sync', '--preserve-digests', '--dest-tls-verify=false', '--src', 'dir', '--dest', 'docker', folder, `${scene.host}/synced`);
    for (const tag of sceneTags) await expectPushed(scene, `synced/model:${tag}`, { digest: scene.digest(tag) });
  });

  it('lists tags, inspects, and deletes', async () => {
    const repository = `docker://${scene.host}/skopeo/tidy`;
    for (const tag of sceneTags) await copy('--preserve-digests', `oci:${scene.layout}:${tag}`, `${repository}:${tag}`);
    const listTags = async () => (JSON.parse(await skopeo('list-tags', '--tls-verify=false', repository)) as { Tags: string[] }).Tags;
    expect(await listTags()).toEqual(sceneTags);
    const inspected = JSON.parse(await skopeo('inspect', '--tls-verify=false', `${repository}:v1-image`)) as object;
    const { layers } = new Layout(scene.layout).manifest('v1-image');
    expect(inspected).toMatchObject({ Digest: scene.digest('v1-image'), RepoTags: sceneTags, Layers: layers.map(({ digest }) => digest) });
    await skopeo('delete', '--tls-verify=false', `${repository}:v1-image`);
    expect(await listTags()).toEqual(['v1']);
    const gone = await scene.place.runTool('skopeo', ['inspect', '--tls-verify=false', '--raw', `${repository}:v1-image`]);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('manifest unknown')]);
    await expectPushed(scene, 'skopeo/tidy:v1', { digest: scene.digest('v1') });
  });
});

describe('oras', () => {
  const oras = (...args: string[]) => scene.place.tool('oras', args);
  const plain = ['--plain-http', '--no-tty'];
  const type = 'application/vnd.example.thing';

  async function attach(name: string, kind: string): Promise<void> {
    const cwd = scene.place.path('notes');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'note.txt'), kind);
    await scene.place.tool('oras', ['attach', ...plain, '--artifact-type', kind, name, 'note.txt:text/plain'], { cwd });
  }

  async function listReferrers(name: string, ...more: string[]): Promise<readonly { reference: string; artifactType: string }[]> {
    return (JSON.parse(await oras('discover', '--plain-http', '--format', 'json', ...more, name)) as { referrers: [] }).referrers;
  }

  const discover = async (name: string, ...more: string[]) => (await listReferrers(name, ...more)).map(({ artifactType }) => artifactType).toSorted();

  it('pushes files under their names, and pulls them', async () => {
    const folder = scene.place.path('odd');
    mkdirSync(folder);
    const files: Record<string, string> = {
      'two words.bin': 'words',
      'größe 数字.md': 'beyond ASCII',
      'twin a': 'same',
      'twin b': 'same',
      empty: '',
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const name = `${scene.host}/oras/files:v1`;
    await scene.place.tool('oras', ['push', ...plain, name, '--artifact-type', type, ...Object.keys(files)], { cwd: folder });
    for (const client of ['oras', 'modelport'] as const) {
      const output = scene.place.path('pulled');
      await (client === 'oras' ? oras('pull', ...plain, name, '-o', output) : scene.place.must(['pull', name, '-o', output]));
      expect(readFiles(output)).toEqual(readFiles(folder));
    }
    const manifest = await oras('manifest', 'fetch', '--plain-http', name);
    expect((await oras('resolve', '--plain-http', name)).trim()).toBe(`sha256:${sha256(Buffer.from(manifest))}`);
  });

  it('attaches, discovers, and takes what is attached along', async () => {
    const kinds = ['application/vnd.example.sbom', 'application/vnd.example.scan'];
    const name = await scene.push('oras/attached:v1');
    for (const kind of kinds) await attach(name, kind);
    expect(await discover(name)).toEqual(kinds);
    expect(await discover(name, '--artifact-type', String(kinds[0]))).toEqual([kinds[0]]);
    expect(lines(await oras('repo', 'tags', '--plain-http', name.replace(/:v1$/, '')))).toEqual(sceneTags);

    const layout = scene.place.path('layout');
    const copy = `${scene.host}/oras/again:v1`;
    await oras('cp', '-r', '--no-tty', '--from-plain-http', '--to-oci-layout', name, `${layout}:v1`);
    await scene.place.must(['verify', `oci:${layout}:v1`]);
    await oras('cp', '-r', '--no-tty', '--from-oci-layout', '--to-plain-http', `${layout}:v1`, copy);
    expect(await discover(copy)).toEqual(kinds);
    await expectPushed(scene, 'oras/again:v1', { digest: scene.digest('v1') });
    for (const { reference, artifactType } of await listReferrers(copy)) {
      const output = scene.place.path('pulled');
      await oras('pull', ...plain, reference, '-o', output);
      expect(readFileSync(join(output, 'note.txt'), 'utf8')).toBe(artifactType);
    }
  });

  it('copies by digest, without a tag', async () => {
    const digest = scene.digest('v1');
    const target = `${scene.host}/oras/untagged@${digest}`;
    await oras('cp', '--no-tty', '--from-oci-layout', '--to-plain-http', `${scene.layout}@${digest}`, target);
    expect(lines(await oras('repo', 'tags', '--plain-http', `${scene.host}/oras/untagged`))).toEqual(['']);
    const output = scene.place.path('pulled');
    await scene.place.must(['pull', target, '-o', output]);
    expect(readFiles(output)).toEqual(readFiles(scene.model));
  });

  it('pushes, fetches and deletes a blob', async () => {
    const [file, fetched] = [join(scene.model, 'digits.safetensors'), scene.place.path('fetched')];
    const name = `${scene.host}/oras/blobs@sha256:${sha256(readFileSync(file))}`;
    await oras('blob', 'push', ...plain, name, file);
    await oras('blob', 'fetch', ...plain, '-o', fetched, name);
    expect(readFileSync(fetched)).toEqual(readFileSync(file));
    await oras('blob', 'delete', '--plain-http', '--force', name);
    const gone = await scene.place.runTool('oras', ['blob', 'fetch', ...plain, '-o', scene.place.path(), name]);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('not found')]);
  });

  it('tags, lists and deletes', async () => {
    const name = await scene.push('tidy/oras:v1');
    await oras('tag', '--plain-http', name, 'stable', 'latest');
    const tags = async () => lines(await oras('repo', 'tags', '--plain-http', `${scene.host}/tidy/oras`));
    expect(await tags()).toEqual(['latest', 'stable', ...sceneTags]);
    expect(lines(await oras('repo', 'ls', '--plain-http', scene.host))).toContain('tidy/oras');
    expect(lines(await oras('repo', 'ls', '--plain-http', `${scene.host}/tidy/`))).toEqual(['oras']);
    await oras('manifest', 'delete', '--plain-http', '--force', `${scene.host}/tidy/oras:stable`);
    expect(await tags()).toEqual(['v1-image']);
    await expectPushed(scene, 'tidy/oras:v1-image', { digest: scene.digest('v1-image') });
  });

  it('makes an index of manifests that are there', async () => {
    await scene.push('oras/index:v1');
    const name = `${scene.host}/oras/index:all`;
    await oras('manifest', 'index', 'create', '--plain-http', name, ...sceneTags);
    const { manifests } = JSON.parse(await oras('manifest', 'fetch', '--plain-http', name)) as { manifests: { digest: string }[] };
    expect(manifests.map(({ digest }) => digest)).toEqual(sceneTags.map((tag) => scene.digest(tag)));
    expect(await scene.place.json(['verify', name])).toMatchObject({ ok: true, problems: [] });
  });
});

describe('crane', () => {
  const crane = (...args: string[]) => scene.place.tool('crane', args);

  it('pushes and pulls a layout', async () => {
    const [sole, layout] = [scene.place.path('sole'), scene.place.path('layout')];
    await scene.place.must(['copy', `oci:${scene.layout}:v1`, `oci:${sole}:v1`]);
    const name = `${scene.host}/crane/model:v1`;
    await crane('push', sole, name);
    await expectPushed(scene, 'crane/model:v1', { digest: scene.digest('v1') });
    expect((await crane('digest', name)).trim()).toBe(scene.digest('v1'));
    await crane('pull', '--format', 'oci', name, layout);
    await expectPulled(scene, layout, scene.digest('v1'));
  });

  it('copies every tag to another repository, lists and deletes', async () => {
    await scene.push('crane/many:v1');
    const copy = `${scene.host}/crane/copy`;
    await crane('copy', '--all-tags', `${scene.host}/crane/many`, copy);
    for (const tag of sceneTags) await expectPushed(scene, `crane/copy:${tag}`, { digest: scene.digest(tag) });
    await crane('tag', `${copy}:v1`, 'stable');
    expect(lines(await crane('ls', copy))).toEqual(['stable', ...sceneTags]);
    expect(lines(await crane('catalog', scene.host))).toEqual(expect.arrayContaining(['crane/copy', 'crane/many']));
    await crane('delete', `${copy}@${scene.digest('v1')}`);
    expect(lines(await crane('ls', copy))).toEqual(['v1-image']);
    await expectPushed(scene, 'crane/many:v1', { digest: scene.digest('v1') });
  });

  it('appends a layer to an image that is there, and exports the files', async () => {
    await scene.push('crane/base:v1');
    const [folder, tar, name] = [scene.place.path('more'), scene.place.path('more.tar'), `${scene.host}/crane/base:more`];
    mkdirSync(folder);
    writeFileSync(join(folder, 'more.txt'), 'one file more');
    await scene.place.tool('tar', ['-cf', tar, '-C', folder, 'more.txt']);
    await crane('append', '-b', `${scene.host}/crane/base:v1-image`, '-f', tar, '-t', name);
    const [exported, output] = [scene.place.path('exported.tar'), scene.place.path('exported')];
    await crane('export', name, exported);
    mkdirSync(output);
    await scene.place.tool('tar', ['-xf', exported, '-C', output]);
    expect(readFiles(output)).toEqual({ ...readFiles(scene.model), ...readFiles(folder) });
    expect(await scene.place.json(['verify', name])).toMatchObject({ ok: true, problems: [] });
  });
});

describe('modctl', () => {
  const quiet = ['--plain-http', '--no-progress'];
  const modctl = (...args: string[]) => scene.place.tool('modctl', args);

  async function build(name: string, ...options: string[]): Promise<void> {
    await modctl('build', '--no-progress', ...options, '-t', name, '-f', writeModelfile(scene), scene.model);
  }

  async function expectExtracted(name: string, ...options: string[]): Promise<void> {
    const output = scene.place.path('extracted');
    await modctl('pull', ...quiet, '--extract-dir', output, ...options, name);
    expect(readFiles(output)).toEqual(readFiles(scene.model));
  }

  it.each(['--raw=true', '--raw=false'])('builds, pushes, and pulls, %s', async (way) => {
    const name = `modctl/built${way.replace(/\W/g, '')}:v1`;
    await build(`${scene.host}/${name}`, way);
    await modctl('push', ...quiet, `${scene.host}/${name}`);
    await expectPushed(scene, name);
    await modctl('rm', `${scene.host}/${name}`);
    await expectExtracted(`${scene.host}/${name}`);
  });

  it('builds into the registry, looks into it there, and fetches some and all of it', async () => {
    const name = `${scene.host}/modctl/remote:v1`;
    await build(name, '--output-remote', '--plain-http');
    const digest = await expectPushed(scene, 'modctl/remote:v1');
    expect(JSON.parse(await modctl('inspect', '--remote', '--plain-http', name))).toMatchObject({ Name: 'by-modctl', Digest: digest });
    const some = scene.place.path('some');
    await modctl('fetch', ...quiet, '--output', some, '--patterns', '*.onnx', name);
    expect(readFiles(some)).toEqual({ 'digits.onnx': readFiles(scene.model)['digits.onnx'] });
    await expectExtracted(name, '--extract-from-remote');
  });

  it('sends no blob of what the registry has', async () => {
    const name = `${scene.host}/modctl/again:v1`;
    await build(name);
    await modctl('push', ...quiet, name);
    const countSent = async () => {
      const requests = await scene.registry.readRequests();
      return requests.filter(({ repository, endpoint }) => repository === 'modctl/again' && endpoint === 'upload').length;
    };
    const sent = await countSent();
    await modctl('push', ...quiet, name);
    // A session and its end for each of seven files and the config.
    expect([sent, await countSent()]).toEqual([16, 16]);
    await expectPushed(scene, 'modctl/again:v1');
  });

  it('adds a file to a model that is there', async () => {
    const folder = scene.place.path('more');
    mkdirSync(folder);
    writeFileSync(join(folder, 'more.txt'), 'one file more');
    const [name, target] = [`${scene.host}/modctl/attached:v1`, `${scene.host}/modctl/attached:v2`];
    await build(name, '--output-remote', '--plain-http');
    await scene.place.tool('modctl', ['attach', ...quiet, '--output-remote', '-s', name, '-t', target, 'more.txt'], { cwd: folder });
    const output = scene.place.path('pulled');
    await scene.place.must(['pull', target, '-o', output]);
    expect(readFiles(output)).toEqual({ ...readFiles(scene.model), ...readFiles(folder) });
  });
});
