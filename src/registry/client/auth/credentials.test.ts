import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Credentials } from './auth.js';
import { openCredentialStore } from './credentials.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'logins-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const ann: Credentials = { kind: 'password', username: 'ann', password: 'hunter2:x' };
const bob: Credentials = { kind: 'password', username: 'bob', password: 'sesame' };
const annAuth = { auth: Buffer.from('ann:hunter2:x').toString('base64') };
const bobAuth = { auth: Buffer.from('bob:sesame').toString('base64') };
const hub = 'index.docker.io';
const apiKey = ['https:', '', 'registry-1.docker.io'].join('/');
const hubKey = `https://${hub}/v1/`;

/** Writes a file below the home folder: a text as it is, anything else as JSON. */
function put(path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const read = (path: string): unknown => JSON.parse(readFileSync(join(home, path), 'utf8'));
const open = (env: Record<string, string> = {}) => openCredentialStore({ env: { PATH: `${join(home, 'bin')}:/usr/bin:/bin`, ...env }, home });
const docker = '.docker/config.json';

/** A helper that keeps logins in a file, and a list of what it was asked. */
function installHelper(suffix: string, vault: Readonly<Record<string, { Username: string; Secret: string }>> = {}) {
  const file = put(`bin/${suffix}.json`, vault);
  const log = put(`bin/${suffix}.log`, '');
  const program = put(
    `bin/docker-credential-${suffix}`,
    `#!${process.execPath}
const fs = require('node:fs');
const input = fs.readFileSync(0, 'utf8');
const action = process.argv[2];
const vault = JSON.parse(fs.readFileSync(${JSON.stringify(file)}, 'utf8'));
const given = action === 'store' ? JSON.parse(input) : { ServerURL: input };
fs.appendFileSync(${JSON.stringify(log)}, action + ' ' + given.ServerURL + '\\n');
if (action === 'store') vault[given.ServerURL] = { Username: given.Username, Secret: given.Secret };
if (action === 'erase') delete vault[given.ServerURL];
if (action !== 'get') fs.writeFileSync(${JSON.stringify(file)}, JSON.stringify(vault));
else if (vault[input]) console.log(JSON.stringify({ ServerURL: input, ...vault[input] }));
else { console.log('credentials not found in native keychain'); process.exitCode = 1; }
`,
  );
  chmodSync(program, 0o755);
  return { vault: () => read(`bin/${suffix}.json`), asked: () => readFileSync(log, 'utf8').trim().split('\n') };
}

describe('find', () => {
  it('finds nothing where nobody ever logged in', async () => {
    expect(await open().find('reg.example')).toBeUndefined();
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    ['a password with a colon', annAuth, ann],
    ['a password filled up with NUL', { auth: Buffer.from('bob:sesame\0\0').toString('base64') }, bob],
    ['plain fields', { username: 'bob', password: 'sesame' }, bob],
    ['an identity token', { auth: Buffer.from('<token>:').toString('base64'), identitytoken: 'abc' }, { kind: 'identity-token', token: 'abc' }],
    ['an identity token as the password', { auth: Buffer.from('<token>:abc').toString('base64') }, { kind: 'identity-token', token: 'abc' }],
    ['an access token', { registrytoken: 'abc' }, { kind: 'registry-token', token: 'abc' }],
    ['nothing', {}, undefined],
    ['nothing but an address', { auth: '', email: 'ann@example.com' }, undefined],
  ])('reads %s', async (_what, entry, expected) => {
    put(docker, { auths: { 'other.example': bobAuth, 'reg.example': entry } });
    expect(await open().find('reg.example')).toEqual(expected);
  });

  it('takes the very host only, its own spelling first', async () => {
    put(docker, { auths: { 'https://reg.example/v1/': bobAuth, 'reg.example': annAuth, 'quay.io/team': bobAuth, constructor: bobAuth } });
    expect(await open().find('reg.example')).toEqual(ann);
    for (const host of ['reg.example:5000', 'example', 'a.reg.example', 'quay.io', 'toString']) expect(await open().find(host)).toBeUndefined();
  });

  it.each(['docker.io', 'index.docker.io', 'registry-1.docker.io'])('knows Docker Hub as %s', async (host) => {
    put(docker, { auths: { 'docker.io': bobAuth, [hubKey]: annAuth } });
    expect(await open().find(host)).toEqual(ann);
  });

  it('reads the files of docker and podman in their order', async () => {
    const env = { DOCKER_CONFIG: join(home, 'd'), REGISTRY_AUTH_FILE: join(home, 'r.json'), XDG_RUNTIME_DIR: join(home, 'run') };
    const files = ['.config/containers/auth.json', 'run/containers/auth.json', 'r.json', 'd/config.json'];
    put(docker, { auths: { 'reg.example': bobAuth } });
    for (const [index, file] of files.entries()) {
      put(file, { auths: { 'reg.example': { username: 'ann', password: `p${index}` } } });
      expect(await open(env).find('reg.example')).toEqual({ kind: 'password', username: 'ann', password: `p${index}` });
    }
  });

  it('asks the helper of the host, then the one for all, then looks into the file', async () => {
    const own = installHelper('own');
    const all = installHelper('all', { 'b.example': { Username: 'ann', Secret: 'hunter2:x' } });
    put(docker, { auths: { 'a.example': bobAuth, 'b.example': {} }, credHelpers: { 'a.example': 'own' }, credsStore: 'all' });
    expect(await open().find('a.example')).toEqual(bob);
    expect(await open().find('b.example')).toEqual(ann);
    expect(own.asked()).toEqual(['get a.example']);
    expect(all.asked()).toEqual(['get a.example', 'get b.example']);
  });

  it('asks a helper for every name of Docker Hub', async () => {
    const helper = installHelper('all', { 'docker.io': { Username: '<token>', Secret: 'abc' } });
    put(docker, { credsStore: 'all' });
    expect(await open().find('registry-1.docker.io')).toEqual({ kind: 'identity-token', token: 'abc' });
    expect(helper.asked()).toEqual([`get ${hubKey}`, 'get index.docker.io', 'get docker.io']);
  });

  it('takes the login of the environment for the registries that it names', async () => {
    put(docker, { auths: { 'reg.example': bobAuth, 'other.example': bobAuth } });
    const env = { MODELPORT_USERNAME: 'ann', MODELPORT_PASSWORD: 'hunter2:x' };
    const named = open({ ...env, MODELPORT_REGISTRY: 'Reg.example, docker.io' });
    expect(await named.find('reg.example')).toEqual(ann);
    expect(await named.find('registry-1.docker.io')).toEqual(ann);
    expect(await named.find('other.example')).toEqual(bob);
    expect(await open({ MODELPORT_USERNAME: 'ann', MODELPORT_REGISTRY: 'reg.example' }).find('reg.example')).toEqual(bob);
    await expect(open(env).find('reg.example')).rejects.toMatchObject({
      code: 'registry/credentials',
      hint: expect.stringContaining('MODELPORT_REGISTRY'),
    });
  });

  it.each(['', ' \n'])('takes a file of %j as none', async (content) => {
    put(docker, content);
    expect(await open({ REGISTRY_AUTH_FILE: '/dev/null', DOCKER_CONFIG: dirname(join(home, docker)) }).find('reg.example')).toBeUndefined();
  });

  const token = { auths: { 'reg.example': { registrytoken: 'hunter2\r\nx: y' } } };
  it.each([
    ['no JSON', '{\n"auths": {"reg.example": {"auth": "hunter2" "x": 1}}}', 'sound JSON', `${docker}:2:45`],
    ['a key twice', '{"hunter2": 1,\n"hunter2": 2}', 'sound JSON', `${docker}:2:1`],
    ['a list', '["hunter2"]', 'expected a JSON object', docker],
    ['too much', `{"x": "hunter2${' '.repeat(1024 * 1024)}"}`, 'larger than 1048576 bytes', docker],
    ['logins that are none', { auths: ['hunter2'] }, '"auths"', docker],
    ['helpers that are none', { credHelpers: 'hunter2' }, '"credHelpers"', docker],
    ['a login that is none', { auths: { 'reg.example': 'hunter2' } }, 'expected an object', docker],
    ['a login that is no text', { auths: { 'reg.example': { auth: 5, password: 'hunter2' } } }, 'expected a text in "auth"', docker],
    ['a login without a colon', { auths: { 'reg.example': { auth: Buffer.from('hunter2').toString('base64') } } }, 'base64', docker],
    ['a login that is no base64', { auths: { 'reg.example': { auth: 'hunter2:x' } } }, 'base64', docker],
    ['a token that is no header', token, '"registrytoken"', docker],
    ['a helper that is a path', { credsStore: '../hunter2' }, 'a plain name', docker],
  ])('refuses a file with %s, and shows nothing of it', async (_what, content, reason, where) => {
    put(docker, content);
    const refusal: unknown = await open()
      .find('reg.example')
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'registry/credentials', message: expect.stringContaining(reason), where: join(home, where) });
    expect(inspect(refusal)).not.toContain('hunter2');
  });

  it('refuses a folder in place of the file', async () => {
    mkdirSync(join(home, docker), { recursive: true });
    await expect(open().find('reg.example')).rejects.toMatchObject({ code: 'registry/credentials', message: expect.stringContaining('no file') });
  });
});

describe('save', () => {
  it.each([
    ['reg.example', 'reg.example', ann, annAuth],
    ['docker.io', hubKey, ann, annAuth],
    ['reg.example:5000', 'reg.example:5000', { kind: 'identity-token', token: 'abc' } as const, { identitytoken: 'abc' }],
    ['reg.example', 'reg.example', { kind: 'registry-token', token: 'abc' } as const, { registrytoken: 'abc' }],
  ])('keeps the login for %s in a file for its owner alone', async (host, key, credentials, entry) => {
    const path = join(home, docker);
    expect(await open().save(host, credentials)).toEqual({ where: path, encrypted: false });
    expect(read(docker)).toEqual({ auths: { [key]: entry } });
    expect(await open().find(host)).toEqual(credentials);
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(dirname(path))).toEqual(['config.json']);
  });

  it('leaves everything else as it was', async () => {
    const auths = { 'z.example': bobAuth, 'reg.example': { ...bobAuth, email: 'bob@example.com', username: 'bob' }, 'a.example': bobAuth };
    put(docker, { zeta: { b: 1, a: [null] }, auths, HttpHeaders: { x: 'y' } });
    await open().save('reg.example', ann);
    const expected = {
      zeta: { b: 1, a: [null] },
      auths: { ...auths, 'reg.example': { email: 'bob@example.com', ...annAuth } },
      HttpHeaders: { x: 'y' },
    };
    expect(readFileSync(join(home, docker), 'utf8')).toBe(`${JSON.stringify(expected, undefined, '\t')}\n`);
  });

  it('gives it to the helper, and takes an older one out of the file', async () => {
    const helper = installHelper('own');
    put(docker, { auths: { 'reg.example': bobAuth }, credHelpers: { 'reg.example': 'own' }, credsStore: 'missing' });
    expect(await open().save('reg.example', ann)).toEqual({ where: 'docker-credential-own', encrypted: true });
    expect(helper.vault()).toEqual({ 'reg.example': { Username: 'ann', Secret: 'hunter2:x' } });
    expect(read(docker)).toMatchObject({ auths: { 'reg.example': {} } });
    expect(readFileSync(join(home, docker), 'utf8')).not.toContain(bobAuth.auth);
    expect(await open().find('reg.example')).toEqual(ann);
  });

  it('gives identity tokens to the helper, and access tokens, which have no place there, to the file', async () => {
    const helper = installHelper('all');
    put(docker, { credsStore: 'all' });
    await open().save('docker.io', { kind: 'identity-token', token: 'abc' });
    expect(helper.vault()).toEqual({ [hubKey]: { Username: '<token>', Secret: 'abc' } });
    expect(read(docker)).toEqual({ credsStore: 'all' });
    await open().save('docker.io', { kind: 'registry-token', token: 'def' });
    expect(helper.vault()).toEqual({});
    expect(await open().find('docker.io')).toEqual({ kind: 'registry-token', token: 'def' });
  });

  it('keeps both of two at once', async () => {
    const hosts = Array.from({ length: 8 }, (_, index) => `r${index}.example`);
    await Promise.all(hosts.map((host) => open().save(host, ann)));
    expect(Object.keys((read(docker) as { auths: object }).auths).sort()).toEqual(hosts);
  });

  it.each([
    ['a file', true],
    ['nothing yet', false],
  ])('writes through a link to %s', async (_what, exists) => {
    const target = exists ? put('dotfiles/docker.json', { a: 1 }) : join(home, 'dotfiles/docker.json');
    mkdirSync(join(home, '.docker'));
    symlinkSync('../dotfiles/docker.json', join(home, docker));
    await open().save('reg.example', ann);
    expect(lstatSync(join(home, docker)).isSymbolicLink()).toBe(true);
    expect(lstatSync(target).isFile()).toBe(true);
    expect(await open().find('reg.example')).toEqual(ann);
  });

  it.each(['', 'a:b'])('refuses the user name %j, which could not be read again', async (username) => {
    await expect(open().save('reg.example', { kind: 'password', username, password: 'x' })).rejects.toMatchObject({ code: 'registry/credentials' });
    expect(readdirSync(home)).toEqual([]);
  });

  it('leaves a file that it cannot read as it is', async () => {
    put(docker, '{"auths": ');
    await expect(open().save('reg.example', ann)).rejects.toMatchObject({ code: 'registry/credentials' });
    expect(readFileSync(join(home, docker), 'utf8')).toBe('{"auths": ');
  });
});

describe('remove', () => {
  it('says when there is nothing', async () => {
    expect(await open().remove('reg.example')).toBe(false);
    expect(readdirSync(home)).toEqual([]);
  });

  it('takes every name out of the file', async () => {
    const kept = { 'reg.example': bobAuth };
    put(docker, { auths: { 'docker.io': annAuth, ...kept, [hubKey]: annAuth, [apiKey]: annAuth }, psFormat: 'x' });
    expect(await open().remove('docker.io')).toBe(true);
    expect(read(docker)).toEqual({ auths: kept, psFormat: 'x' });
    expect(await open().remove('docker.io')).toBe(false);
  });

  it('takes every name out of the helpers', async () => {
    const login = { Username: 'ann', Secret: 'x' };
    const own = installHelper('own', { [hubKey]: login, 'reg.example': login });
    const all = installHelper('all', { 'registry-1.docker.io': login });
    put(docker, { credHelpers: { 'docker.io': 'own' }, credsStore: 'all', auths: { [hubKey]: {} } });
    expect(await open().remove('index.docker.io')).toBe(true);
    expect([own.vault(), all.vault(), read(docker)]).toMatchObject([{ 'reg.example': login }, {}, { auths: {} }]);
    expect(Object.keys(own.vault() as object)).toEqual(['reg.example']);
    expect(all.vault()).toEqual({});
    expect(await open().remove('docker.io')).toBe(false);
  });
});
