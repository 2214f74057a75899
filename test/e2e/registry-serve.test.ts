/** modelport registry serve as a process: what a new user does with it, and what it refuses. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashSync } from 'bcryptjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CliEnded, finishCli, runCli, startCli } from '../support/cli-process.js';
import { type ServedRegistry, startServedRegistry } from '../support/served-registry.js';

const digits = fileURLToPath(new URL('../../examples/digits', import.meta.url));

let base: string;
let servers: ServedRegistry[];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'serve-'));
  servers = [];
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  rmSync(base, { recursive: true, force: true });
});

const path = (...names: string[]) => join(base, ...names);
const world = (env: Readonly<Record<string, string>> = {}) => ({
  home: path('home'),
  cwd: base,
  env: { DOCKER_CONFIG: path('docker'), TMPDIR: base, ...env },
});
const run = (...args: string[]): Promise<CliEnded> => runCli(args, world());

async function json(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, '--json');
  return { code, stderr, document: JSON.parse(stdout) };
}

async function serve(...args: string[]): Promise<ServedRegistry> {
  const server = await startServedRegistry(args, world());
  servers.push(server);
  return server;
}

/** The status of an answer. */
function get(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => resolve(response.resume().statusCode ?? 0))
      .on('error', reject)
      .end();
  });
}

/** A request that has sent the half of its body, and will not send the rest. */
async function beginUpload(url: string): Promise<ClientRequest> {
  const location = await new Promise<string>((resolve, reject) => {
    request(`${url}/v2/x/blobs/uploads/`, { method: 'POST' }, (response) => resolve(response.resume().headers.location ?? ''))
      .on('error', reject)
      .end();
  });
  const half = request(new URL(location, url), { method: 'PATCH', headers: { 'Content-Length': 10, 'Content-Type': 'application/octet-stream' } });
  half.on('error', () => {});
  await new Promise((resolve) => half.write('12345', resolve));
  return half;
}

/** Resolves when a file of the folder is gone. */
function removal(name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(base, () => {
      if (existsSync(path(name))) return;
      watcher.close();
      resolve();
    });
  });
}

async function logIn(address: string, password: string): Promise<CliEnded> {
  const child = startCli(['login', address, '-u', 'ci', '--password-stdin'], world(), 'pipe');
  child.stdin?.end(`${password}\n`);
  return finishCli(child);
}

describe('a first session', () => {
  it('takes a package, gives it back, and leaves nothing', async () => {
    const { result, stop } = await serve('--tmp', '--port-file', path('port'));
    const { address } = result;
    expect(result).toEqual({
      address,
      url: `http://${address}`,
      dir: expect.stringContaining(base),
      repository: null,
      readOnly: false,
      mirror: null,
      auth: 'none',
    });
    expect(readFileSync(path('port'), 'utf8')).toBe(address);
    const pushed = await json('push', digits, `${address}/demo/digits:v1`);
    expect(pushed).toMatchObject({ code: 0, stderr: '' });
    expect(await json('inspect', `${address}/demo/digits:v1`)).toMatchObject({
      code: 0,
      document: { digest: pushed.document.digest, from: 'registry' },
    });
    expect(await json('pull', `${address}/demo/digits:v1`, '-o', 'out')).toMatchObject({ code: 0, document: { digest: pushed.document.digest } });
    expect(readFileSync(path('out/digits.safetensors'))).toEqual(readFileSync(join(digits, 'digits.safetensors')));
    expect(await run('list', address)).toMatchObject({ code: 0, stdout: 'demo/digits\n' });
    expect(await json('rm', '--remote', '--yes', `${address}/demo/digits:v1`)).toMatchObject({ code: 0 });
    expect(await json('inspect', `${address}/demo/digits:v1`)).toMatchObject({ code: 3 });
    expect(await stop()).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(readdirSync(base).filter((name) => name.startsWith('modelport-registry-') || name === 'port')).toEqual([]);
  });
});

describe('a folder', () => {
  it('is an OCI layout that keeps everything over a restart, and other commands use it meanwhile', async () => {
    const first = await serve('--dir', 'store');
    const { document } = await json('push', digits, `${first.result.address}/demo/digits:v1`);
    expect(await json('verify', 'oci:store:demo/digits:v1')).toMatchObject({ code: 0, document: { ok: true } });
    expect(await json('copy', 'oci:store:demo/digits:v1', 'oci:store:demo/digits:v2')).toMatchObject({ code: 0 });
    expect(await json('inspect', `${first.result.address}/demo/digits:v2`)).toMatchObject({ code: 0, document: { digest: document.digest } });
    expect(await first.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
    const second = await serve('--dir', 'store');
    expect(await json('pull', `${second.result.address}/demo/digits:v1`, '-o', 'out')).toMatchObject({
      code: 0,
      document: { digest: document.digest },
    });
  });

  it('is served once, and read-only as often as one likes', async () => {
    const first = await serve('--dir', 'store');
    await json('push', digits, `${first.result.address}/digits:v1`);
    expect(await json('registry', 'serve', '--dir', 'store', '--listen', '127.0.0.1:0')).toMatchObject({
      code: 3,
      stderr: '',
      document: {
        error: {
          code: 'store/locked',
          message: expect.stringContaining(`another server has it already (process ${first.child.pid})`),
          hint: expect.stringContaining('--read-only'),
        },
      },
    });
    const reader = await serve('--dir', 'store', '--read-only');
    expect(reader.result.readOnly).toBe(true);
    expect(await json('inspect', `${reader.result.address}/digits:v1`)).toMatchObject({ code: 0 });
    expect(await json('push', digits, `${reader.result.address}/other:v1`)).toMatchObject({ code: 3 });
  });

  it('is free again after a server that was killed', async () => {
    const first = await serve('--dir', 'store');
    await json('push', digits, `${first.result.address}/digits:v1`);
    expect(await first.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    const second = await serve('--dir', 'store');
    expect(await json('inspect', `${second.result.address}/digits:v1`)).toMatchObject({ code: 0 });
  });

  it('of another tool, with tags alone, appears under its name, and nothing is written into it', async () => {
    await json('pack', digits, '-o', 'oci:my-model:v1');
    const before = readdirSync(path('my-model'));
    const server = await serve('--dir', 'my-model', '--read-only');
    expect(server.result.repository).toBe('my-model');
    expect(await json('inspect', `${server.result.address}/my-model:v1`)).toMatchObject({ code: 0 });
    await server.stop();
    expect(readdirSync(path('my-model'))).toEqual(before);
  });

  it('is the local store without --dir, and shows names of another host when asked to', async () => {
    await json('pack', digits, '-t', 'demo/digits:v1');
    await json('pack', digits, '-t', 'example.com/team/digits:v1');
    const plain = await serve();
    expect(await run('list', plain.result.address)).toMatchObject({ stdout: 'demo/digits\n' });
    await plain.stop();
    const more = await serve('--serve-host', 'example.com');
    expect(await run('list', more.result.address)).toMatchObject({ stdout: 'demo/digits\nteam/digits\n' });
  });

  it('that is something else is refused', async () => {
    writeFileSync(path('file'), 'x');
    expect(await json('registry', 'serve', '--dir', 'file', '--listen', ':0')).toMatchObject({
      code: 3,
      document: { error: { code: 'store/not-a-layout' } },
    });
  });
});

describe('who may enter', () => {
  it('beyond this machine nobody without a login, unless it is said', async () => {
    const refused = await json('registry', 'serve', '--tmp', '--listen', '0.0.0.0:0');
    expect(refused).toMatchObject({ code: 2, stderr: '', document: { error: { code: 'ops/bad-option' } } });
    for (const way of ['--htpasswd', '--token-file', '--insecure-no-auth']) expect(refused.document.error.message).toContain(way);
    const open = await serve('--tmp', '--listen', '0.0.0.0:0', '--insecure-no-auth');
    expect(await get(`${open.result.url}/v2/`)).toBe(200);
    expect((await open.stop()).stderr).toContain('registry/no-auth');
  });

  it('with --htpasswd who logs in', async () => {
    writeFileSync(path('users'), `ci:${hashSync('open sesame', 4)}\n`);
    const server = await serve('--tmp', '--htpasswd', 'users');
    const { address, auth } = server.result;
    expect(auth).toBe('all');
    expect(await json('push', digits, `${address}/digits:v1`)).toMatchObject({ code: 3, document: { error: { code: 'registry/login' } } });
    expect(await logIn(address, 'wrong')).toMatchObject({ code: 3 });
    expect(await logIn(address, 'open sesame')).toMatchObject({ code: 0 });
    expect(await json('push', digits, `${address}/digits:v1`)).toMatchObject({ code: 0 });
    writeFileSync(path('users'), `ci:${hashSync('another word', 4)}\n`);
    expect(await json('pull', `${address}/digits:v1`)).toMatchObject({ code: 3 });
    const { stderr } = await server.stop();
    expect(stderr).not.toContain('sesame');
  });

  it('with tokens what they allow, and everybody to read with --anonymous-pull', async () => {
    const [reader, writer] = ['reader-0123456789abcdef', 'writer-0123456789abcdef'];
    writeFileSync(path('tokens'), `${reader} pull\n${writer}\n`);
    const { result } = await serve('--tmp', '--token-file', 'tokens', '--anonymous-pull');
    expect(result.auth).toBe('write');
    expect(await logIn(result.address, reader)).toMatchObject({ code: 0 });
    expect(await json('push', digits, `${result.address}/digits:v1`)).toMatchObject({ code: 3, document: { error: { code: 'registry/denied' } } });
    expect(await logIn(result.address, writer)).toMatchObject({ code: 0 });
    expect(await json('push', digits, `${result.address}/digits:v1`)).toMatchObject({ code: 0 });
    await run('logout', result.address);
    expect(await json('inspect', `${result.address}/digits:v1`)).toMatchObject({ code: 0 });
  });

  it('no web page by a name that was not allowed', async () => {
    const { result } = await serve('--tmp', '--allow-host', 'models.lan');
    const ask = (host: string) => get(`${result.url}/v2/`, { Host: host });
    expect(await Promise.all([ask(result.address), ask('models.lan:5000'), ask('evil.example')])).toEqual([200, 200, 421]);
  });

  it('says what is wrong in a file of logins', async () => {
    writeFileSync(path('users'), 'ci:plain-word\n');
    const { code, document } = await json('registry', 'serve', '--tmp', '--htpasswd', 'users', '--listen', ':0');
    expect([code, document.error]).toMatchObject([2, { code: 'registry/bad-access-file', where: expect.stringMatching(/users:1$/) }]);
    expect(JSON.stringify(document)).not.toContain('plain-word');
  });
});

describe('starting', () => {
  it('says which option helps when the port is in use', async () => {
    const { result } = await serve('--tmp');
    const { code, document } = await json('registry', 'serve', '--tmp', '--listen', result.address, '--port-file', 'port');
    expect([code, document.error]).toMatchObject([
      3,
      { message: expect.stringContaining(result.address), hint: expect.stringContaining('--listen') },
    ]);
    expect(existsSync(path('port'))).toBe(false);
    expect(readdirSync(base).filter((name) => name.startsWith('modelport-registry-'))).toHaveLength(1);
  });

  it.each([
    ['--dir a --tmp', '--dir and --tmp'],
    ['--listen nowhere', 'Cannot listen on "nowhere"'],
    ['--tls-cert a', '--tls-cert'],
    ['--tls-key a', '--tls-key'],
    ['--anonymous-pull', '--anonymous-pull'],
    ['--mirror ftp://a', '--mirror'],
    ['--gc-interval 5', '--gc-interval'],
    ['--upload-ttl soon', '--upload-ttl'],
  ])('%s is wrong usage', async (words, named) => {
    const { code, document } = await json('registry', 'serve', ...words.split(' '));
    expect([code, document.error]).toMatchObject([2, { code: 'ops/bad-option', message: expect.stringContaining(named) }]);
  });
});

describe('beside the server', () => {
  it('what nothing needs is deleted, and what somebody pushes is not', async () => {
    const { result } = await serve('--dir', 'store');
    await json('push', digits, `${result.address}/digits:v1`);
    const { document } = await json('push', digits, `${result.address}/digits:v2`, '--set', 'title=Two');
    await json('rm', '--remote', '--yes', `${result.address}/digits@${document.digest}`);
    expect(await json('registry', 'gc', '--dir', 'store')).toMatchObject({ code: 0, document: { removed: [] } });
    const young = ['registry', 'gc', '--dir', 'store', '--older-than', '0s'];
    const { document: planned } = await json(...young, '--dry-run');
    expect(planned.removed.map((blob: { digest: string }) => blob.digest)).toContain(document.digest);
    expect(await json(...young)).toMatchObject({ code: 0, document: { removed: planned.removed } });
    expect(await json('pull', `${result.address}/digits:v1`, '-o', 'out')).toMatchObject({ code: 0 });
    expect(await json('inspect', `${result.address}/digits:v2`)).toMatchObject({ code: 3 });
  });

  it('a blob that has rotten is set aside, and a push mends it', async () => {
    const { result } = await serve('--dir', 'store');
    await json('push', digits, `${result.address}/digits:v1`);
    expect(await json('registry', 'scrub', '--dir', 'store')).toMatchObject({ code: 0, document: { ok: true, bad: [], missing: [] } });
    const { document } = await json('ls', 'oci:store:digits:v1');
    const weights = document.files.find((file: { path: string }) => file.path === 'digits.safetensors').digest;
    const blob = path('store/blobs', weights.replace(':', '/'));
    const bytes = readFileSync(blob);
    bytes[bytes.length - 1] = ~(bytes.at(-1) ?? 0) & 255;
    chmodSync(blob, 0o644);
    writeFileSync(blob, bytes);
    const scrubbed = await run('registry', 'scrub', '--dir', 'store', '--rate', '1GB');
    expect([scrubbed.code, scrubbed.stdout]).toEqual([1, expect.stringContaining(`bad     ${weights}`)]);
    expect(scrubbed.stdout).toContain('  digits:v1\n');
    expect(await json('push', digits, `${result.address}/digits:v1`)).toMatchObject({ code: 0 });
    expect(await json('registry', 'scrub', '--dir', 'store')).toMatchObject({ code: 0, document: { ok: true } });
    expect(await json('verify', 'oci:store:digits:v1')).toMatchObject({ code: 0 });
  });
});

describe('a mirror', () => {
  it('fetches what is missing, keeps it, and serves it when the other is gone', async () => {
    const origin = await serve('--dir', 'origin');
    const { document } = await json('push', digits, `${origin.result.address}/team/digits:v1`);
    const mirror = await serve('--dir', 'mirror', '--mirror', origin.result.url);
    expect(mirror.result).toMatchObject({ mirror: origin.result.url, readOnly: true });
    expect(await json('pull', `${mirror.result.address}/team/digits:v1`, '-o', 'out')).toMatchObject({
      code: 0,
      document: { digest: document.digest },
    });
    expect(await json('verify', 'oci:mirror:team/digits:v1')).toMatchObject({ code: 0, document: { ok: true } });
    expect(await json('push', digits, `${mirror.result.address}/team/digits:v2`)).toMatchObject({ code: 3 });
    await origin.stop();
    expect(await json('pull', `${mirror.result.address}/team/digits:v1`, '-o', 'again')).toMatchObject({
      code: 0,
      document: { digest: document.digest },
    });
    expect(await get(`${mirror.result.url}/v2/team/other/manifests/v1`)).toBe(502);
  });

  it('is warmed ahead of use, with single files first', async () => {
    const origin = await serve('--dir', 'origin');
    const name = `${origin.result.address}/team/digits:v1`;
    await json('push', digits, name);
    const warmed = await json('registry', 'warm', '--dir', 'mirror', '--include', '*.safetensors', name);
    expect(warmed).toMatchObject({ code: 0, document: { packages: [{ name: 'team/digits:v1', skipped: expect.any(Number) }] } });
    const mirror = await serve('--dir', 'mirror', '--mirror', origin.result.url);
    const there = `${mirror.result.address}/team/digits:v1`;
    expect(await json('pull', there, '-o', 'part', '--include', '*.safetensors')).toMatchObject({ code: 0, document: { files: 1 } });
    expect(await json('pull', there, '-o', 'whole')).toMatchObject({ code: 0 });
    await origin.stop();
    expect(await json('pull', there, '-o', 'again')).toMatchObject({ code: 0 });
  });
});

describe('what is said while it runs', () => {
  it('is a line of JSON a request, without secrets, and numbers for Prometheus', async () => {
    writeFileSync(path('users'), `ci:${hashSync('open sesame', 4)}\n`);
    const server = await serve('--tmp', '--access-log', 'log', '--htpasswd', 'users', '--anonymous-pull');
    await logIn(server.result.address, 'open sesame');
    expect(await json('push', digits, `${server.result.address}/digits:v1`)).toMatchObject({ code: 0 });
    expect(await Promise.all(['healthz', 'readyz', 'metrics'].map((name) => get(`${server.result.url}/${name}`)))).toEqual([200, 200, 200]);
    await server.stop();
    const text = readFileSync(path('log'), 'utf8');
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({ method: 'PUT', endpoint: 'manifest', repository: 'digits', reference: 'v1', user: 'ci', status: 201 }),
    );
    expect(text).not.toMatch(/sesame|authorization|Basic /i);
    expect(statSync(path('log')).mode & 0o777).toBe(0o600);
  });

  it('goes to standard output with -, after where it listens', async () => {
    const child = startCli(['registry', 'serve', '--tmp', '--listen', '127.0.0.1:0', '--access-log', '-'], world());
    const ended = finishCli(child);
    const [said] = await once(child.stdout ?? child, 'data');
    const [, url = ''] = /Listening on (\S+) /.exec(String(said)) ?? [];
    expect(await get(`${url}/v2/`)).toBe(200);
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    const [first, ...lines] = stdout.trim().split('\n');
    expect([code, first, lines.map((line) => JSON.parse(line).endpoint)]).toEqual([0, expect.stringContaining('Listening on'), ['ping']]);
  });
});

it('speaks TLS', async () => {
  const tls = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
  const server = await serve('--tmp', '--tls-cert', tls('server.pem'), '--tls-key', tls('server-key.pem'));
  const name = `localhost:${server.result.address.split(':').at(-1)}/digits:v1`;
  expect(server.result.url).toMatch(/^https:/);
  expect(await json('push', digits, name, '--ca-file', tls('ca.pem'))).toMatchObject({ code: 0 });
});

describe('ending', () => {
  it('waits for what is under way, and a second signal does not', async () => {
    const server = await serve('--tmp', '--port-file', 'port');
    const half = await beginUpload(server.result.url);
    const draining = removal('port');
    server.child.kill('SIGTERM');
    await draining;
    server.child.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 143 });
    half.destroy();
    expect(readdirSync(base).filter((name) => name.startsWith('modelport-registry-'))).toEqual([]);
  });
});
