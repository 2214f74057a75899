/** Who may do what at `modelport registry serve`, as each client asks for it; and TLS with an authority that nobody else trusts. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectPulled, expectPushed } from './support/expect-whole.js';
import { readFiles } from './support/folders.js';
import { createLoginEnv, type LoginEnv, type RegistryClient, registryClients } from './support/registry-clients.js';
import { Scene } from './support/scene.js';
import { must, orThrow } from './support/tools.js';
import type { Workplace } from './support/workplace.js';

const user = { user: 'ci', password: 'a long pass:wörd' };
const clients = Object.entries(registryClients);

function writeLogins(place: Workplace): string {
  const file = join(place.folder, 'users');
  writeFileSync(file, must('htpasswd', ['-Bin', user.user], { input: Buffer.from(user.password) }));
  return file;
}

async function expectFiles(scene: Scene, client: RegistryClient, name: string, env: LoginEnv): Promise<void> {
  const output = scene.place.path('pulled');
  orThrow('pull', [name], await client.pull(name, output, env));
  expect(readFiles(output)).toEqual(readFiles(scene.model));
}

async function expectRefused(scene: Scene, client: RegistryClient, name: string, env: LoginEnv, verbs: readonly ('pull' | 'push')[]): Promise<void> {
  for (const verb of verbs.filter((each) => client.givesUp.includes(each))) {
    const { code, stdout, stderr } = await (verb === 'push' ? client.push(name, env) : client.pull(name, scene.place.path('refused'), env));
    expect([verb, code === 0]).toEqual([verb, false]);
    expect(stdout + stderr).toMatch(/unauthorized|authentication required|basic credential not found/i);
    expect(stdout + stderr).not.toContain(user.password);
  }
}

describe('with --htpasswd', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open('digits', (place) => ['--tmp', '--htpasswd', writeLogins(place)]);
  });
  afterAll(() => scene.close());

  it.each(clients)('%s has to log in, and then pushes and pulls', async (tool, create) => {
    const client = create(scene);
    const name = `${tool}/model:v1`;
    const env = createLoginEnv(scene);
    await expectRefused(scene, client, `${scene.host}/${name}`, env, ['push', 'pull']);
    const wrong = await client.login(scene.host, { ...user, password: 'wrong' }, env);
    // crane keeps whatever it is given, and asks nobody.
    if (tool === 'crane') await expectRefused(scene, client, `${scene.host}/${name}`, env, ['push']);
    else expect(wrong.code).not.toBe(0);
    orThrow('login', [tool], await client.login(scene.host, user, env));
    orThrow('push', [tool], await client.push(`${scene.host}/${name}`, env));
    await expectFiles(scene, client, `${scene.host}/${name}`, env);
    const login = { MODELPORT_REGISTRY: scene.host, MODELPORT_USERNAME: user.user, MODELPORT_PASSWORD: user.password };
    await expectPushed(scene, name, { around: { env: login } });
  });
});

describe('with --anonymous-pull', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open('digits', (place) => ['--tmp', '--htpasswd', writeLogins(place), '--anonymous-pull']);
  });
  afterAll(() => scene.close());

  it.each(clients)('%s pushes with a login, and pulls without one', async (tool, create) => {
    const client = create(scene);
    const name = `${scene.host}/${tool}/model:v1`;
    const [known, nobody] = [createLoginEnv(scene), createLoginEnv(scene)];
    orThrow('login', [tool], await client.login(scene.host, user, known));
    orThrow('push', [tool], await client.push(name, known));
    await expectFiles(scene, client, name, nobody);
    await expectRefused(scene, client, `${scene.host}/${tool}/other:v1`, nobody, ['push']);
    await expectPushed(scene, `${tool}/model:v1`);
  });
});

describe('with --tls-cert', () => {
  const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
  let scene: Scene;
  let folder: string;
  beforeAll(async () => {
    scene = await Scene.open('digits', () => ['--tmp', '--tls-cert', fixture('server.pem'), '--tls-key', fixture('server-key.pem')]);
    folder = scene.place.path('authorities');
    mkdirSync(folder);
    copyFileSync(fixture('ca.pem'), join(folder, 'ca.crt'));
  });
  afterAll(() => scene.close());

  const untrusted = /unknown authority/;

  it('skopeo pushes and pulls, when it trusts the authority', async () => {
    const name = 'skopeo/model:v1';
    const layout = scene.place.path('layout');
    const copy = (...args: string[]) => scene.place.runTool('skopeo', ['--insecure-policy', 'copy', '--quiet', '--preserve-digests', ...args]);
    const push = [`oci:${scene.layout}:v1`, `docker://${scene.host}/${name}`];
    const refused = await copy(...push);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(untrusted)]);
    expect(await copy('--dest-cert-dir', folder, ...push)).toMatchObject({ code: 0 });
    expect(await copy('--src-cert-dir', folder, `docker://${scene.host}/${name}`, `oci:${layout}:v1`)).toMatchObject({ code: 0 });
    await expectPulled(scene, layout, scene.digest('v1'));
    await expectPushed(scene, name, { digest: scene.digest('v1'), args: ['--ca-file', fixture('ca.pem')] });
  });

  it('oras pushes and pulls, when it trusts the authority', async () => {
    const name = 'oras/model:v1';
    const output = scene.place.path('pulled');
    const push = ['cp', '--no-tty', '--from-oci-layout', `${scene.layout}:v1`, `${scene.host}/${name}`];
    const refused = await scene.place.runTool('oras', push);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(untrusted)]);
    await scene.place.tool('oras', [...push, '--to-ca-file', fixture('ca.pem')]);
    await scene.place.tool('oras', ['pull', '--no-tty', '--ca-file', fixture('ca.pem'), `${scene.host}/${name}`, '-o', output]);
    expect(readFiles(output)).toEqual(readFiles(scene.model));
    await expectPushed(scene, name, { digest: scene.digest('v1'), args: ['--ca-file', fixture('ca.pem')] });
  });
});
