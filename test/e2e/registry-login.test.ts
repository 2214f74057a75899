/** login and logout: a password is tried before it is kept, kept where docker keeps its own, and never shown. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';
import { type RegistryAuth } from '../support/registry/registry-auth.js';
import { startTokenServer, type TokenServer } from '../support/registry/token-server.js';

const password = 'open sesame: ünïcode';

let bench: RegistryBench;
let tokens: TokenServer;
let host: string;
/** Everything that the program printed. */
let printed: string;
beforeEach(async () => {
  tokens = await startTokenServer({ users: { ci: password }, rights: (user) => (user === undefined ? [] : ['pull', 'push', 'delete', '*']) });
  printed = '';
});
afterEach(async () => {
  await bench.end();
  await tokens.close();
  for (const secret of [password, Buffer.from(`ci:${password}`).toString('base64')])
    if (printed.includes(secret)) throw new Error(`A secret was printed: ${printed}`);
});

async function open(kind: 'token' | 'basic'): Promise<void> {
  const auth: RegistryAuth = kind === 'token' ? { kind, server: tokens } : { kind, user: 'ci', password };
  bench = await createRegistryBench({ auth });
  bench.env['DOCKER_CONFIG'] = bench.path('docker');
  ({ host } = bench.registry);
}

async function run(input: string, ...args: string[]) {
  const ended = await bench.runWith(input, ...args);
  printed += ended.stdout + ended.stderr;
  return ended;
}

async function json(input: string, ...args: string[]) {
  const { code, stdout, stderr } = await run(input, ...args, '--json');
  return { code, stderr, document: JSON.parse(stdout) };
}

const logIn = (word: string, ...more: string[]) => json(`${word}\n`, 'login', host, '-u', 'ci', '--password-stdin', ...more);
const readLogins = () => JSON.parse(readFileSync(bench.path('docker/config.json'), 'utf8'));

describe.each(['token', 'basic'] as const)('a registry with %s authorization', (kind) => {
  beforeEach(() => open(kind));

  it('takes the right password, and everything works from then on', async () => {
    expect(await logIn(password, '-v')).toMatchObject({
      code: 0,
      document: { host, username: 'ci', where: bench.path('docker/config.json'), encrypted: false, asked: true },
    });
    expect(Object.keys(readLogins().auths)).toEqual([host]);
    expect(statSync(bench.path('docker/config.json')).mode & 0o777).toBe(0o600);
    expect(await json('', 'push', './tiny', bench.name, '-v')).toMatchObject({ code: 0 });
    expect(await json('', 'list', host)).toMatchObject({ code: 0, document: { repositories: ['tiny'] } });
    expect(await json('', 'pull', bench.name, '-o', 'out')).toMatchObject({ code: 0, document: { files: 9 } });
    expect(await json('', 'tag', '--remote', bench.name, `${host}/tiny:v2`)).toMatchObject({ code: 0 });
    expect(await json('', 'rm', '--remote', '--yes', `${host}/tiny:v2`)).toMatchObject({ code: 0 });
  });

  it('does not take a wrong one, and nothing is kept', async () => {
    const { code, document, stderr } = await logIn('wrong-word');
    expect([code, document.error, stderr]).toMatchObject([3, { code: 'registry/login', hint: expect.stringContaining('Nothing was kept') }, '']);
    expect(JSON.stringify(document)).not.toContain('wrong-word');
    expect(existsSync(bench.path('docker/config.json'))).toBe(false);
  });

  it('a wrong one does not spoil a login that is there', async () => {
    await logIn(password);
    const before = readLogins();
    expect((await logIn('wrong-word')).code).toBe(3);
    expect(readLogins()).toEqual(before);
    expect(await json('', 'push', './tiny', bench.name)).toMatchObject({ code: 0 });
  });

  it('without a login says how to get one', async () => {
    for (const args of [
      ['push', './tiny', bench.name],
      ['pull', bench.name],
      ['inspect', bench.name],
      ['list', `${host}/tiny`],
    ]) {
      const { code, document } = await json('', ...args);
      expect([code, document.error]).toMatchObject([3, { code: 'registry/login', hint: expect.stringContaining(`modelport login ${host}`) }]);
    }
  });

  it('takes one from the environment, for its own registry only', async () => {
    Object.assign(bench.env, { MODELPORT_REGISTRY: host, MODELPORT_USERNAME: 'ci', MODELPORT_PASSWORD: password });
    expect(await json('', 'push', './tiny', bench.name)).toMatchObject({ code: 0 });
    bench.env['MODELPORT_REGISTRY'] = 'elsewhere.example';
    expect(await json('', 'pull', bench.name)).toMatchObject({ code: 3, document: { error: { code: 'registry/login' } } });
  });

  it('logout forgets it, and other things in the file stay', async () => {
    await logIn(password);
    writeFileSync(bench.path('docker/config.json'), JSON.stringify({ ...readLogins(), credHelpers: { 'elsewhere.example': 'none' }, own: 1 }));
    expect(await run('', 'logout', host)).toEqual({ code: 0, stdout: `Logged out of ${host}\n`, stderr: '' });
    expect(readLogins()).toMatchObject({ auths: {}, own: 1 });
    expect(await json('', 'logout', host)).toMatchObject({ code: 0, document: { host, removed: false } });
    expect((await json('', 'push', './tiny', bench.name)).code).toBe(3);
  });
});

describe('the command', () => {
  beforeEach(() => open('basic'));

  it('says where the password is kept, and that it is readable', async () => {
    const { stdout, stderr } = await run(`${password}\r\n`, 'login', host, '-u', 'ci', '--password-stdin');
    expect(stdout).toBe(`Logged in to ${host} as ci; kept in ${bench.path('docker/config.json')}\n`);
    expect(stderr).toMatch(/helper/);
    expect(await run(password, 'login', host, '-u', 'ci', '--password-stdin', '-q')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it.each([
    [[], '', /the user is missing/, /-u NAME/],
    [['-u', 'ci'], '', /nobody is there/, /--password-stdin/],
    [['-u', 'ci', '--password-stdin'], '', /one line/, undefined],
    [['-u', 'ci', '--password-stdin'], 'two\nlines\n', /one line/, undefined],
    [['-u', 'ci', '-p', 'word'], '', /command line/, /--password-stdin/],
    [['-u', 'ci', '--password=word'], '', /command line/, /--password-stdin/],
  ] as const)('%j with %j is wrong usage', async (args, input, message, hint) => {
    const requests = await bench.requestsOf(async () => {
      const { code, document } = await json(input, 'login', host, ...args);
      expect([code, document.error.code, document.error.message]).toEqual([2, 'cli/usage', expect.stringMatching(message)]);
      if (hint !== undefined) expect(document.error.hint).toMatch(hint);
    });
    expect(requests).toEqual([]);
  });

  it.each([() => `https://${host}`, () => `${host}/tiny`, () => 'ci@host', () => ''])('takes a host and nothing else (%#)', async (text) => {
    const { code, document } = await json(password, 'login', text(), '-u', 'ci', '--password-stdin');
    expect([code, document.error.message]).toEqual([2, expect.stringMatching(/host/)]);
    expect(await json('', 'logout', text())).toMatchObject({ code: 2 });
  });

  it('a registry that asks for no login cannot tell whether the password is right', async () => {
    bench.registry.behaviour.failStatus = undefined;
    const easy = await createRegistryBench();
    const { stderr } = await easy.runWith(password, 'login', easy.registry.host, '-u', 'ci', '--password-stdin');
    await easy.end();
    expect(stderr).toMatch(/password was not tried/);
  });

  it('a file of logins that is damaged is named', async () => {
    bench.write('docker', { 'config.json': '{"auths": 5}' });
    expect(await json('', 'pull', bench.name)).toMatchObject({
      code: 3,
      document: { error: { code: 'registry/credentials', message: expect.stringContaining('docker/config.json') } },
    });
  });
});
