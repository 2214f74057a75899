/** One OCI layout on the disk: served as it lies there, while umoci and skopeo go on reading and writing it. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEmbeddedRegistry } from './support/embedded-registry.js';
import { expectPulled, expectPushed } from './support/expect-whole.js';
import { readFiles } from './support/folders.js';
import { Scene } from './support/scene.js';

let scene: Scene;
let folder: string;
beforeAll(async () => {
  scene = await Scene.open('digits', () => ['--dir', 'shared']);
  folder = scene.registry.dir;
});
afterAll(() => scene.close());

const umoci = (...args: string[]) => scene.place.tool('umoci', args);
const skopeo = (...args: string[]) =>
  scene.place.tool('skopeo', [
    '--insecure-policy',
    'copy',
    '--quiet',
    '--preserve-digests',
    '--src-tls-verify=false',
    '--dest-tls-verify=false',
    ...args,
  ]);
const crane = (...args: string[]) => scene.place.tool('crane', args);
const listTags = async (repository: string) => (await crane('ls', `${scene.host}/${repository}`)).trim().split('\n');

async function unpack(image: string): Promise<Record<string, string>> {
  const bundle = scene.place.path('bundle');
  await umoci('unpack', '--image', image, bundle);
  return readFiles(join(bundle, 'rootfs'));
}

describe('what umoci made', () => {
  let made: string;
  beforeEach(async () => {
    const parent = scene.place.path('made');
    mkdirSync(parent);
    made = join(parent, 'from-umoci');
    const rootfs = scene.place.path('rootfs');
    cpSync(scene.model, rootfs, { recursive: true });
    await umoci('init', '--layout', made);
    await umoci('new', '--image', `${made}:v1`);
    await umoci('insert', '--image', `${made}:v1`, rootfs, '/');
  });

  it.each([{ options: [] }, { options: ['--read-only'] }])('is served without a copy, $options', async ({ options }) => {
    const before = readFiles(join(made, 'blobs'));
    const { host } = await scene.place.open(startEmbeddedRegistry(scene.place, ['--dir', made, ...options]));
    const [layout, exported, output] = [scene.place.path('layout'), scene.place.path('exported.tar'), scene.place.path('exported')];
    await skopeo(`docker://${host}/from-umoci:v1`, `oci:${layout}:v1`);
    expect(await unpack(`${layout}:v1`)).toEqual(readFiles(scene.model));
    await crane('export', `${host}/from-umoci:v1`, exported);
    mkdirSync(output);
    await scene.place.tool('tar', ['-xf', exported, '-C', output]);
    expect(readFiles(output)).toEqual(readFiles(scene.model));
    expect(readFiles(join(made, 'blobs'))).toEqual(before);
  });

  it('is seen at once when it changes', async () => {
    const { host } = await scene.place.open(startEmbeddedRegistry(scene.place, ['--dir', made]));
    const tags = async () => (await crane('ls', `${host}/from-umoci`)).trim().split('\n');
    expect(await tags()).toEqual(['v1']);
    await umoci('tag', '--image', `${made}:v1`, 'v2');
    expect(await tags()).toEqual(['v1', 'v2']);

    const bundle = scene.place.path('bundle');
    await umoci('unpack', '--image', `${made}:v1`, bundle);
    rmSync(join(bundle, 'rootfs/README.md'));
    writeFileSync(join(bundle, 'rootfs/added.txt'), 'added');
    await umoci('repack', '--image', `${made}:v3`, bundle);
    const output = scene.place.path('pulled');
    await scene.place.must(['pull', `${host}/from-umoci:v3`, '-o', output]);
    expect(readFiles(output)).toEqual(readFiles(join(bundle, 'rootfs')));

    await umoci('remove', '--image', `${made}:v2`);
    expect(await tags()).toEqual(['v1', 'v3']);
  });
});

describe('what was pushed', () => {
  it('umoci and skopeo read from the folder while it is served', async () => {
    await scene.push('team/read:v1');
    expect(await unpack(`${folder}:team/read:v1-image`)).toEqual(readFiles(scene.model));
    const layout = scene.place.path('layout');
    await skopeo(`oci:${folder}:team/read:v1`, `oci:${layout}:v1`);
    await expectPulled(scene, layout, scene.digest('v1'));
    const names = (await umoci('list', '--layout', folder)).trim().split('\n');
    expect(names.filter((name) => name.startsWith('team/read:')).toSorted()).toEqual(['team/read:v1', 'team/read:v1-image']);
  });

  it('stays when umoci and skopeo write into the folder, and theirs is served', async () => {
    await scene.push('team/model:v1');
    const untagged = `${scene.host}/team/untagged@${scene.digest('v1')}`;
    await scene.place.tool('oras', ['cp', '--no-tty', '--from-oci-layout', '--to-plain-http', `${scene.layout}@${scene.digest('v1')}`, untagged]);
    await umoci('tag', '--image', `${folder}:team/model:v1-image`, 'team/model:by-umoci');
    await skopeo(`oci:${scene.layout}:v1-image`, `oci:${folder}:team/copy:by-skopeo`);
    expect(await listTags('team/model')).toEqual(['by-umoci', 'v1', 'v1-image']);
    await expectPushed(scene, 'team/model:by-umoci', { digest: scene.digest('v1-image') });
    await expectPushed(scene, 'team/copy:by-skopeo', { digest: scene.digest('v1-image') });
    await umoci('gc', '--layout', folder);
    await expectPushed(scene, 'team/model:v1', { digest: scene.digest('v1') });
    expect(await scene.place.json(['verify', untagged])).toMatchObject({ ok: true, problems: [] });
    expect(await scene.place.json(['registry', 'scrub', '--dir', folder])).toMatchObject({ ok: true, bad: [], missing: [] });
  });
});
