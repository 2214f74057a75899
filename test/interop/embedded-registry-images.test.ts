/** Engines that run images push to `modelport registry serve` and pull from it, and see the files of the model in what they unpacked. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Containerd } from './support/containerd.js';
import { expectPushed } from './support/expect-whole.js';
import { readFiles, sha256 } from './support/folders.js';
import { Podman } from './support/podman.js';
import { Scene, sceneTags } from './support/scene.js';

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open('digits');
  await scene.push('ours/model:v1');
});
afterAll(() => scene.close());

describe('podman', () => {
  let podman: Podman;
  beforeAll(() => {
    podman = new Podman(join(scene.place.folder, 'podman'));
  });
  afterAll(() => podman.run(['rmi', '--all', '--force']));

  const pull = (name: string) => podman.must(['pull', '--quiet', '--tls-verify=false', `${scene.host}/${name}`]).trim();
  const copyOut = (id: string) => readFiles(podman.copyOutOfMount(id, scene.place.path('mounted')));

  it('pulls an image, by tag and by digest, and mounts it', () => {
    const id = pull('ours/model:v1-image');
    expect(copyOut(id)).toEqual(readFiles(scene.model));
    expect(podman.must(['image', 'inspect', '--format', '{{.Digest}}', id]).trim()).toBe(scene.digest('v1-image'));
    expect(pull(`ours/model@${scene.digest('v1-image')}`)).toBe(id);
  });

  it.each(['oci', 'v2s2'])('pushes an image as %s, with layers that it compresses, and pulls it again', async (format) => {
    const name = `podman/${format}:v1`;
    const id = pull('ours/model:v1-image');
    podman.must(['push', '--quiet', '--tls-verify=false', '--format', format, id, `${scene.host}/${name}`]);
    await expectPushed(scene, name);
    podman.must(['rmi', '--all', '--force']);
    expect(copyOut(pull(name))).toEqual(readFiles(scene.model));
  });

  it('pushes an index with all that it lists', async () => {
    const list = 'localhost/several:v1';
    podman.must(['manifest', 'create', list]);
    podman.must(['manifest', 'add', '--tls-verify=false', list, `docker://${scene.host}/ours/model:v1-image`]);
    podman.must(['manifest', 'push', '--all', '--tls-verify=false', list, `docker://${scene.host}/podman/several:v1`]);
    expect(await scene.place.json(['verify', `oci:${scene.registry.dir}:podman/several:v1`])).toMatchObject({ ok: true, problems: [] });
    podman.must(['rmi', '--all', '--force']);
    expect(copyOut(pull('podman/several:v1'))).toEqual(readFiles(scene.model));
  });

  it('lists repositories and tags', () => {
    const search = (...args: string[]) =>
      podman
        .must(['search', '--tls-verify=false', '--format', '{{.Name}}', ...args])
        .trim()
        .split('\n');
    expect(search(`${scene.host}/ours/`)).toEqual([`${scene.host}/ours/model`]);
    const listed = podman
      .must(['search', '--tls-verify=false', '--list-tags', `${scene.host}/ours/model`])
      .trim()
      .split('\n');
    expect(listed.slice(1).map((line) => line.split(/\s+/))).toEqual(sceneTags.map((tag) => [`${scene.host}/ours/model`, tag]));
  });
});

describe('containerd', () => {
  let containerd: Containerd;
  beforeAll(async () => {
    containerd = await scene.place.open(Containerd.start(join(scene.place.folder, 'containerd')));
  });

  const list = async () => (await containerd.ctr('content', 'ls', '--quiet')).trim().split('\n');

  it('pulls an image and mounts it', async () => {
    const [name, mounted] = [`${scene.host}/ours/model:v1-image`, scene.place.path('mounted')];
    await containerd.ctr('images', 'pull', '--plain-http', '--snapshotter', 'native', name);
    expect(await containerd.ctr('images', 'ls')).toContain(scene.digest('v1-image'));
    mkdirSync(mounted);
    await containerd.ctr('images', 'mount', '--snapshotter', 'native', name, mounted);
    try {
      expect(readFiles(mounted)).toEqual(readFiles(scene.model));
    } finally {
      await containerd.ctr('images', 'unmount', mounted);
    }
  });

  it('fetches a model that is no image, with all its blobs', async () => {
    const name = `${scene.host}/ours/model:v1`;
    await containerd.ctr('content', 'fetch', '--plain-http', name);
    const manifest = await containerd.ctr('content', 'get', scene.digest('v1'));
    const { config, layers } = JSON.parse(manifest) as { config: { digest: string }; layers: { digest: string }[] };
    expect(await list()).toEqual(expect.arrayContaining([scene.digest('v1'), config.digest, ...layers.map(({ digest }) => digest)]));
    const readme = readFileSync(join(scene.model, 'README.md'));
    expect(await containerd.ctr('content', 'get', `sha256:${sha256(readme)}`)).toBe(readme.toString());
  });

  it('pushes both to another repository, with blobs that are mounted or sent', async () => {
    for (const tag of sceneTags) {
      const name = `${scene.host}/ours/model:${tag}`;
      await containerd.ctr('content', 'fetch', '--plain-http', name);
      await containerd.ctr('images', 'push', '--plain-http', `${scene.host}/containerd/model:${tag}`, name);
      await expectPushed(scene, `containerd/model:${tag}`, { digest: scene.digest(tag) });
    }
  });

  it('pushes what came from an archive', async () => {
    const archive = scene.place.path('image.tar');
    await scene.place.must(['copy', `oci:${scene.layout}:v1-image`, archive]);
    const other = await scene.place.open(Containerd.start(scene.place.path('containerd')));
    await other.ctr('images', 'import', '--no-unpack', '--digests', '--base-name', 'imported', archive);
    const name = (await other.ctr('images', 'ls', '--quiet')).split('\n').find((line) => line.includes('@'));
    await other.ctr('images', 'push', '--plain-http', `${scene.host}/containerd/imported:v1`, String(name));
    await expectPushed(scene, 'containerd/imported:v1', { digest: scene.digest('v1-image') });
  });
});
