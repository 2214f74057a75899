/** Who may do what, and over which way: logins, tokens, TLS and proxies in front of Docker's own registry. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConnectProxy, startConnectProxy } from '../support/registry/connect-proxy.js';
import { startFlakyProxy } from '../support/registry/flaky-proxy.js';
import { startTokenServer, type TokenServer } from '../support/registry/token-server.js';
import { makeTokenSigner } from './support/certificates.js';
import { readFiles } from './support/folders.js';
import { makeModel } from './support/models.js';
import { type DockerRegistry, type DockerRegistryAuth, type DockerRegistryOptions, startDockerRegistry } from './support/registry.js';
import { until } from './support/until.js';
import { Workplace } from './support/workplace.js';

let place: Workplace;
let model: string;
beforeEach(() => {
  place = new Workplace();
  model = place.path('model');
  makeModel('digits', model);
});
afterEach(() => place.close());

const start = (options: DockerRegistryOptions = {}) => place.open(startDockerRegistry(options));

async function expectPulled(name: string, options: readonly string[] = []): Promise<void> {
  const output = place.path('pulled');
  await place.must(['pull', name, '-o', output, ...options]);
  expect(readFiles(output)).toEqual(readFiles(model));
}

async function expectRefused(args: readonly string[], code: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const outcome = await place.run([...args, '--json'], { env });
  const { error } = JSON.parse(outcome.stdout) as { error: { code: string; message: string; hint?: string } };
  expect([outcome.code, error.code]).toEqual([3, code]);
  return `${error.message}\n${error.hint ?? ''}`;
}

it('an open registry: pushed, listed, inspected, pulled', async () => {
  const { host } = await start();
  const name = `${host}/demo/digits:v1`;
  await place.must(['push', model, name]);
  expect(await place.json(['list', host])).toMatchObject({ repositories: ['demo/digits'] });
  expect(await place.json(['list', `${host}/demo/digits`])).toMatchObject({ packages: [{ name }] });
  expect(await place.json(['inspect', name])).toMatchObject({ format: 'modelpack', vintage: 'cncf', from: 'registry' });
  await expectPulled(name);
});

describe('htpasswd', () => {
  const password = 'a long pass:wörd';
  const logIn = (host: string, given: string) =>
    place.run(['login', host, '-u', 'ci', '--password-stdin', '--json'], { input: Buffer.from(`${given}\n`) });

  it('a login that was tried opens push and pull, and is gone after logout', async () => {
    const { host } = await start({ auth: { kind: 'htpasswd', user: 'ci', password } });
    const name = `${host}/demo/digits:v1`;
    expect(await expectRefused(['push', model, name], 'registry/login')).toContain(`modelport login ${host}`);

    const wrong = await logIn(host, 'wrong');
    expect([wrong.code, wrong.stdout]).toEqual([3, expect.stringContaining('"registry/login"')]);
    expect(existsSync(join(place.dockerConfig, 'config.json'))).toBe(false);

    const right = await logIn(host, password);
    expect(JSON.parse(right.stdout)).toMatchObject({ host, username: 'ci', asked: true });
    expect(JSON.parse(readFileSync(join(place.dockerConfig, 'config.json'), 'utf8'))).toMatchObject({
      auths: { [host]: { auth: Buffer.from(`ci:${password}`).toString('base64') } },
    });
    expect(`${wrong.stdout}${wrong.stderr}${right.stdout}${right.stderr}`).not.toContain(password);
    await place.must(['push', model, name]);
    await expectPulled(name);
    await place.tool('oras', ['pull', '--no-tty', '--plain-http', name, '-o', place.path()]);

    await place.must(['logout', host]);
    await expectRefused(['pull', name], 'registry/login');
  });

  it('a login of oras serves modelport, and one of the environment too', async () => {
    const { host } = await start({ auth: { kind: 'htpasswd', user: 'ci', password } });
    const env = { MODELPORT_REGISTRY: host, MODELPORT_USERNAME: 'ci', MODELPORT_PASSWORD: password };
    await place.must(['push', model, `${host}/demo/digits:v1`], { env });
    await place.tool('oras', ['login', '--plain-http', host, '-u', 'ci', '--password-stdin'], { input: Buffer.from(password) });
    await expectPulled(`${host}/demo/digits:v1`);
  });
});

describe('tokens', () => {
  async function startWithTokens(now: () => number = Date.now): Promise<{ host: string; server: TokenServer; registry: DockerRegistry }> {
    const made = makeTokenSigner(place.folder, 'ES256');
    const server = await place.open(startTokenServer({ users: { ci: 'secret' }, signer: made.signer, expiresIn: 60, now }));
    const auth: DockerRegistryAuth = { kind: 'token', server, certFile: made.certFile };
    const registry = await start({ auth });
    return { host: registry.host, server, registry };
  }

  const secret = { MODELPORT_USERNAME: 'ci', MODELPORT_PASSWORD: 'secret' };

  it('of nobody allow a pull, of a user a push', async () => {
    const { host, server } = await startWithTokens();
    const name = `${host}/demo/digits:v1`;
    await expectRefused(['push', model, name], 'registry/login');
    await place.must(['push', model, name], { env: { ...secret, MODELPORT_REGISTRY: host } });
    expect(server.requests.at(-1)).toMatchObject({ user: 'ci', status: 200, scopes: ['repository:demo/digits:pull,push'] });
    await expectPulled(name);
    expect(server.requests.at(-1)).toMatchObject({ user: undefined, proof: 'nothing', scopes: ['repository:demo/digits:pull'] });
  });

  it('that are not given for a wrong password are no reason to go on as nobody', async () => {
    const { host } = await startWithTokens();
    const env = { MODELPORT_REGISTRY: host, MODELPORT_USERNAME: 'ci', MODELPORT_PASSWORD: 'wrong-secret' };
    expect(await expectRefused(['push', model, `${host}/demo/digits:v1`], 'registry/login', env)).not.toContain('wrong-secret');
  });

  /** The clock of the program goes faster, so that nobody has to wait for what it takes for half a minute. */
  const fast = { NODE_OPTIONS: '--import=data:text/javascript,const{now}=performance;performance.now=()=>6*now.call(performance)' };

  it('that end within an upload are replaced, and no piece is lost', async () => {
    // Docker's registry takes a token for 60 s after its end: these are good for 4 to 5 s more.
    let behindMs = 60_000 + 60_000 - 5000;
    const { host, server } = await startWithTokens(() => Date.now() - behindMs);
    const proxy = await place.open(startFlakyProxy(host));
    const folder = place.path('model');
    mkdirSync(folder);
    writeFileSync(join(folder, 'model.bin'), randomBytes(40 << 20));
    const name = `${proxy.host}/demo/large:v1`;
    const pushing = place.tell(['push', folder, name], { env: { ...secret, ...fast, MODELPORT_REGISTRY: proxy.host } });
    await until('the first piece', () => proxy.bytes.up > 2 << 20);
    // One chunk of it is held until no token of before is any good.
    proxy.plan = { kind: 'faults', up: { kind: 'delay', milliseconds: 5400 } };
    await until('a held chunk', () => proxy.struck > 0);
    expect(server.requests.length).toBe(1);
    behindMs = 0;
    proxy.plan = { kind: 'pass' };
    const { counted } = await pushing;
    expect(server.requests.length).toBeGreaterThan(1);
    expect(counted.sent).toBeLessThanOrEqual((40 + 17) << 20);
    await place.must(['verify', name]);
  });
});

/** Loopback is spoken to without TLS and never through a proxy; this address leads there as well, and is not called so. */
const elsewhere = (host: string) => host.replace('127.0.0.1', '0.0.0.0');

describe('TLS', () => {
  const refusedHint = '--ca-file';

  it('with an authority of its own', async () => {
    const { host, caFile } = await start({ tls: true });
    const name = `${elsewhere(host)}/demo/digits:v1`;
    expect(await expectRefused(['push', model, name], 'registry/untrusted')).toContain(refusedHint);
    await place.must(['push', model, name, '--ca-file', String(caFile)]);
    await expectPulled(name, ['--ca-file', String(caFile)]);
    expect(await expectRefused(['pull', name], 'registry/untrusted')).toContain(refusedHint);
    const output = place.path('pulled');
    const { code, stderr } = await place.run(['pull', name, '-o', output, '--insecure']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Certificates are not checked')]);
    expect(readFiles(output)).toEqual(readFiles(model));
  });

  it('and a login, which goes through it only', async () => {
    const registry = await start({ tls: true, auth: { kind: 'htpasswd', user: 'ci', password: 'secret' } });
    const [host, caFile] = [elsewhere(registry.host), registry.caFile];
    const args = ['login', host, '-u', 'ci', '--password-stdin'];
    const input = Buffer.from('secret');
    expect((await place.run(args, { input })).stderr).toContain(refusedHint);
    await place.must([...args, '--ca-file', String(caFile)], { input });
    await place.must(['push', model, `${host}/demo/digits:v1`, '--ca-file', String(caFile)]);
    await expectPulled(`${host}/demo/digits:v1`, ['--ca-file', String(caFile)]);
  });
});

describe('a proxy', () => {
  const startProxy = (registry: DockerRegistry): Promise<ConnectProxy> =>
    place.open(startConnectProxy({ user: { user: 'me', password: 'p@ss' }, routes: { [elsewhere(registry.host)]: registry.host } }));

  const withLogin = (url: string) => url.replace('://', '://me:p%40ss@');

  it('carries TLS through CONNECT, unless NO_PROXY says otherwise', async () => {
    const registry = await start({ tls: true });
    const proxy = await startProxy(registry);
    const name = `${elsewhere(registry.host)}/demo/digits:v1`;
    const trust = ['--ca-file', String(registry.caFile)];
    const env = { HTTPS_PROXY: withLogin(proxy.url) };
    await place.must(['push', model, name, ...trust], { env });
    await place.must(['pull', name, '-o', place.path(), ...trust], { env });
    const { length } = proxy.requests;
    expect(proxy.requests.map(({ kind, target, status }) => [kind, target, status])).toEqual(
      Array.from({ length }, () => ['connect', elsewhere(registry.host), 200]),
    );
    expect(length).toBeGreaterThan(1);

    await place.must(['pull', name, '-o', place.path(), ...trust], { env: { ...env, NO_PROXY: 'example.com,0.0.0.0' } });
    expect(proxy.requests.length).toBe(length);
    expect(await expectRefused(['inspect', name, ...trust], 'registry/unreachable', { HTTPS_PROXY: proxy.url })).toContain('proxy');
    expect(proxy.requests.at(-1)).toMatchObject({ kind: 'connect', status: 407 });
  });

  it('sees requests without TLS as they are, but no login that it was not given', async () => {
    const registry = await start();
    const proxy = await startProxy(registry);
    const name = `${elsewhere(registry.host)}/demo/digits:v1`;
    await place.must(['push', model, name, '--plain-http'], { env: { HTTP_PROXY: withLogin(proxy.url) } });
    expect(proxy.requests.length).toBeGreaterThan(1);
    expect(proxy.requests.every(({ kind, authorization }) => kind === 'absolute' && authorization === undefined)).toBe(true);
    await place.must(['verify', `${registry.host}/demo/digits:v1`]);
  });

  it('is not asked about this machine', async () => {
    const registry = await start();
    const proxy = await startProxy(registry);
    await place.must(['push', model, `${registry.host}/demo/digits:v1`], { env: { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url } });
    expect(proxy.requests).toEqual([]);
  });
});

it('a folder for logins that holds what is no JSON is named, and nothing is sent', async () => {
  const { host } = await start({ auth: { kind: 'htpasswd', user: 'ci', password: 'secret' } });
  const file = join(place.dockerConfig, 'config.json');
  writeFileSync(file, '{"auths": secret-thing');
  const said = await expectRefused(['push', model, `${host}/demo/digits:v1`], 'registry/credentials');
  expect(said).toContain(dirname(file));
  expect(said).not.toContain('secret-thing');
});
