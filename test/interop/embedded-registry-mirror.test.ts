/** `modelport registry serve` beside Docker's own registry: in front of it as a mirror, filled from it ahead of use, and left for it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedRegistry, startEmbeddedRegistry } from './support/embedded-registry.js';
import { readFiles } from './support/folders.js';
import { Layout } from './support/layouts.js';
import { type DockerRegistry, startDockerRegistry } from './support/registry.js';
import { createLoginEnv, registryClients } from './support/registry-clients.js';
import { Scene } from './support/scene.js';
import { orThrow, type Outcome } from './support/tools.js';

let scene: Scene;
let layout: string;
let digest: string;
let blobs: readonly string[];
beforeAll(async () => {
  scene = await Scene.open('digits');
  layout = join(scene.place.folder, 'cnai');
  await scene.place.must(['pack', scene.model, '--vintage', 'cnai', '-o', `oci:${layout}:v1`]);
  ({ digest } = new Layout(layout).entry('v1'));
  const { config, layers } = new Layout(layout).manifest('v1');
  blobs = [config, ...layers].map((blob) => blob.digest);
});
afterAll(() => scene.close());

/** With the model in it, in a form that every client can take apart. */
async function startUpstream(): Promise<DockerRegistry> {
  const upstream = await scene.place.open(startDockerRegistry());
  await scene.place.must(['copy', `oci:${layout}:v1`, `${upstream.host}/team/model:v1`]);
  return upstream;
}

const startMirror = (dir: string, { url }: DockerRegistry): Promise<EmbeddedRegistry> =>
  scene.place.open(startEmbeddedRegistry(scene.place, ['--dir', dir, '--mirror', url]));

type Pull = (name: string, output: string) => Promise<Outcome>;

/** Five that can take the package apart, each in its own way. */
function listPulls(): readonly Pull[] {
  const peers = [registryClients.skopeo, registryClients.oras, registryClients.crane, registryClients.modctl].map((create) => create(scene));
  const theirs = peers.map(
    (client): Pull =>
      (name, output) =>
        client.pull(name, output, createLoginEnv(scene)),
  );
  return [...theirs, (name, output) => scene.place.run(['pull', name, '-o', output])];
}

async function expectPulled(name: string, pulls = listPulls()): Promise<void> {
  const pulling = pulls.map(async (pull) => {
    const output = scene.place.path('pulled');
    orThrow('pull', [name], await pull(name, output));
    expect(readFiles(output)).toEqual(readFiles(scene.model));
  });
  await Promise.all(pulling);
}

describe('a mirror', () => {
  it('fetches once for five clients at once, keeps it, and serves it when the other is gone', async () => {
    const upstream = await startUpstream();
    const before = upstream.readLog().length;
    const mirror = await startMirror('mirror', upstream);
    await expectPulled(`${mirror.host}/team/model:v1`);
    const fetched = [
      ...upstream
        .readLog()
        .slice(before)
        .matchAll(/"GET \/v2\/team\/model\/(blobs|manifests)\/(\S+) HTTP\/1.1" 200/g),
    ];
    expect(fetched.map(([, , reference]) => reference).toSorted()).toEqual(['v1', ...blobs].toSorted());
    await scene.place.must(['verify', `oci:${mirror.dir}:team/model:v1`]);

    await upstream.close();
    await expectPulled(`${mirror.host}/team/model:v1`);
    await mirror.close();
    const again = await startMirror('mirror', upstream);
    const answer = await fetch(`http://${again.host}/v2/team/model/manifests/v1`);
    expect([answer.status, answer.headers.get('docker-content-digest')]).toEqual([200, digest]);
    expect(answer.headers.get('warning')).toMatch(/^299 - ".*cannot be asked/);
    await answer.arrayBuffer();
    await expectPulled(`${again.host}/team/model:v1`);
    const missing = await fetch(`http://${again.host}/v2/team/other/manifests/v1`);
    expect([missing.status, await missing.json()]).toMatchObject([502, { errors: [{ code: 'UNKNOWN' }] }]);
    expect(await again.end()).toMatch(/^error registry\/unreachable: Cannot answer a request for manifest team\/other v1/);
  });

  it('shows what the other has, and follows a tag that moves after a restart', async () => {
    const upstream = await startUpstream();
    const first = await startMirror('moving', upstream);
    expect(await scene.place.tool('crane', ['ls', `${first.host}/team/model`])).toBe('v1\n');
    expect((await scene.place.tool('crane', ['digest', `${first.host}/team/model:v1`])).trim()).toBe(digest);
    await scene.place.must(['copy', `oci:${scene.layout}:v1`, `${upstream.host}/team/model:v1`]);
    await first.close();
    const second = await startMirror('moving', upstream);
    expect((await scene.place.tool('crane', ['digest', `${second.host}/team/model:v1`])).trim()).toBe(scene.digest('v1'));
    await expectPulled(`${second.host}/team/model@${digest}`, listPulls().slice(-1));
  });
});

describe('a mirror that was warmed', () => {
  it.each(['the other registry', 'a layout'])('from %s serves everybody, without the other', async (where) => {
    const upstream = await startUpstream();
    const name = `${upstream.host}/team/model:v1`;
    const dir = scene.place.path('warmed');
    if (where === 'a layout') await upstream.close();
    const from = where === 'a layout' ? ['--from', `oci:${layout}:v1`] : [];
    const warmed = await scene.place.json(['registry', 'warm', '--dir', dir, ...from, name]);
    expect(warmed).toMatchObject({ packages: [{ name: 'team/model:v1', digest }] });
    await scene.place.must(['verify', `oci:${dir}:team/model:v1`]);
    await upstream.close();
    const mirror = await startMirror(dir, upstream);
    await expectPulled(`${mirror.host}/team/model:v1`);
  });
});

describe('growing out of it', () => {
  const kinds = ['application/vnd.example.sbom', 'application/vnd.example.scan'];

  async function attach(name: string): Promise<void> {
    const cwd = scene.place.path('notes');
    mkdirSync(cwd);
    for (const kind of kinds) {
      writeFileSync(join(cwd, 'note.txt'), kind);
      await scene.place.tool('oras', ['attach', '--plain-http', '--no-tty', '--artifact-type', kind, name, 'note.txt:text/plain'], { cwd });
    }
  }

  /** Type → digest. */
  async function discover(name: string): Promise<Record<string, string>> {
    const found = JSON.parse(await scene.place.tool('oras', ['discover', '--plain-http', '--format', 'json', name])) as {
      referrers: { artifactType: string; digest: string }[];
    };
    return Object.fromEntries(found.referrers.map((referrer) => [referrer.artifactType, referrer.digest]));
  }

  it('takes every tag and all that is attached to Docker’s registry, and back', async () => {
    const { host } = await scene.place.open(startDockerRegistry());
    const [ours, theirs, back] = [`${scene.host}/team/model`, `${host}/team/model`, `${scene.host}/back/model`];
    await scene.push('team/model:v1');
    await scene.place.must(['copy', `oci:${layout}:v1`, `${ours}:cnai`]);
    await attach(`${ours}:v1`);
    const attached = await discover(`${ours}:v1`);
    expect(Object.keys(attached).toSorted()).toEqual(kinds);

    await scene.place.must(['copy', '--all', '--referrers', ours, theirs]);
    await scene.place.must(['copy', '--all', '--referrers', theirs, back]);
    for (const repository of [theirs, back]) {
      expect(await discover(`${repository}:v1`)).toEqual(attached);
      for (const tag of ['v1', 'v1-image', 'cnai']) {
        const expected = await scene.place.tool('crane', ['digest', `${ours}:${tag}`]);
        expect(await scene.place.tool('crane', ['digest', `${repository}:${tag}`])).toBe(expected);
        await scene.place.must(['verify', `${repository}:${tag}`]);
      }
      for (const referrer of Object.values(attached)) await scene.place.must(['verify', `${repository}@${referrer}`]);
    }
    expect((await scene.place.tool('crane', ['ls', back])).trim().split('\n')).toEqual(['cnai', 'v1', 'v1-image']);
  });
});
