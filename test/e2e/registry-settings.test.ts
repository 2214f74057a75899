/** config.toml, mirrors, certificates, and what a registry wants a person to hear. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer as startTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeRegistry, createRegistryBench, type RegistryBench } from '../support/registry-bench.js';
import { startConnectProxy } from '../support/registry/connect-proxy.js';
import { listen } from '../support/registry/listen.js';
import { startTestRegistry, type TestRegistry } from '../support/registry/test-registry.js';
import { startTokenServer } from '../support/registry/token-server.js';

const fixture = (file: string) => fileURLToPath(new URL(`../fixtures/tls/${file}`, import.meta.url));
const tls = { cert: readFileSync(fixture('server.pem'), 'utf8'), key: readFileSync(fixture('server-key.pem'), 'utf8') };

let bench: RegistryBench;
let host: string;
let name: string;
beforeEach(async () => {
  bench = await createRegistryBench();
  ({ name } = bench);
  ({ host } = bench.registry);
  await bench.run('push', './tiny', name);
});
afterEach(() => bench.end());

/** Writes config.toml and gives its path. */
function settle(text: string): string {
  const path = bench.path('.config/modelport/config.toml');
  mkdirSync(bench.path('.config/modelport'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A proxy by which any name leads to a registry of the test. */
async function withNames(routes: Readonly<Record<string, string>>, work: () => Promise<void>): Promise<void> {
  const proxy = await startConnectProxy({ routes });
  Object.assign(bench.env, { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1' });
  try {
    await work();
  } finally {
    await proxy.close();
  }
}

describe('config.toml', () => {
  it('mirrors of a registry', async () => {
    settle(`[registry."upstream.invalid"]\nmirrors = ["http://${host}"]\n`);
    expect(await bench.json('pull', 'upstream.invalid/tiny:v1', '-o', 'out')).toMatchObject({
      code: 0,
      document: { name: 'upstream.invalid/tiny:v1' },
    });
    expect(bench.registry.received('/blobs/').some(({ query }) => query.get('ns') === 'upstream.invalid')).toBe(true);
  });

  it('plain_http of one registry, or of all', async () => {
    for (const key of ['"plain.test"', '"*"']) {
      settle(`[registry.${key}]\nplain_http = true\n`);
      await withNames({ 'plain.test:80': host }, async () => {
        expect(await bench.json('inspect', 'plain.test/tiny:v1')).toMatchObject({ code: 0, document: { from: 'registry' } });
      });
    }
  });

  it('--plain-http says it for one command', async () => {
    await withNames({ 'plain.test:80': host }, async () => {
      expect(await bench.json('inspect', 'plain.test/tiny:v1')).toMatchObject({ code: 3, document: { error: { code: 'registry/unreachable' } } });
      expect(await bench.json('inspect', '--plain-http', 'plain.test/tiny:v1')).toMatchObject({ code: 0 });
    });
  });

  it('token_hosts may get the login', async () => {
    const tokens = await startTokenServer({ users: { ci: 'word' } });
    const front = await listen(startTls(tls, (socket) => socket.pipe(connect(Number(tokens.host.split(':')[1]))).pipe(socket)));
    const realm = 'https://tokens.test/token';
    const guarded = await startTestRegistry({ auth: { kind: 'token', server: tokens, realm } });
    bench.write('.docker', { 'config.json': JSON.stringify({ auths: { 'guarded.test': { auth: Buffer.from('ci:word').toString('base64') } } }) });
    await withNames({ 'guarded.test:80': guarded.host, 'tokens.test:443': `127.0.0.1:${front.port}` }, async () => {
      settle('[registry."guarded.test"]\nplain_http = true\n');
      const push = () => bench.json('push', '--insecure', './tiny', 'guarded.test/tiny:v1');
      expect((await push()).code).toBe(3);
      expect(tokens.requests.filter(({ user }) => user !== undefined)).toEqual([]);
      settle(`[registry."guarded.test"]\nplain_http = true\ntoken_hosts = ["tokens.test"]\n`);
      expect((await push()).code).toBe(0);
    });
    await front.close();
    await guarded.close();
    await tokens.close();
  });

  it.each([
    ['[registry."ghcr.io"]\nmirror = ["x"]\n', '2:1', /"mirror"/, /mirrors/],
    ['[registry."ghcr.io"]\nplain_http = "yes"\n', '2:1', /expected true or false/, undefined],
    ['[registry."ghcr.io"\n', '1:20', /TOML/, undefined],
    ['registries = 1\n', '1:1', /"registries"/, /registry/],
  ])('a mistake has its line and column: %j', async (text, place, message, hint) => {
    const path = settle(text);
    const requests = await bench.requestsOf(async () => {
      const { code, document } = await bench.json('pull', name);
      expect([code, document.error]).toMatchObject([
        2,
        { code: 'ops/bad-option', where: `${path}:${place}`, message: expect.stringMatching(message) },
      ]);
      expect(document.error['hint']).toMatch(hint ?? /./);
    });
    expect(requests).toEqual([]);
  });

  it('is not looked at where no registry is needed', async () => {
    settle('nonsense');
    expect((await bench.run('list')).code).toBe(0);
  });

  it('MODELPORT_CONFIG names another', async () => {
    settle('nonsense');
    bench.env['MODELPORT_CONFIG'] = bench.path('mine.toml');
    bench.write('.', { 'mine.toml': `[registry."upstream.invalid"]\nmirrors = ["http://${host}"]\n` });
    expect((await bench.json('inspect', 'upstream.invalid/tiny:v1')).code).toBe(0);
  });
});

describe('--mirror', () => {
  let mirror: TestRegistry;
  beforeEach(async () => {
    mirror = await startTestRegistry();
  });
  afterEach(() => closeRegistry(mirror));

  it('brings the bytes, and the registry is not asked', async () => {
    await bench.run('copy', name, `${mirror.host}/tiny:v1`);
    const requests = await bench.requestsOf(async () => {
      expect(await bench.json('pull', '--mirror', mirror.host, name, '-o', 'out')).toMatchObject({ code: 0, document: { name } });
      expect(await bench.json('pull', '--mirror', mirror.host, name)).toMatchObject({ code: 0, document: { name } });
      expect(await bench.json('verify', '--remote', '--mirror', mirror.host, name)).toMatchObject({ code: 0, document: { ok: true } });
    });
    expect(requests).toEqual([]);
    expect(await bench.json('diff', './out', './tiny')).toMatchObject({ code: 0 });
  });

  it('that cannot be reached is passed over, and it is said once', async () => {
    await mirror.close();
    const { code, stderr } = await bench.run('pull', '--mirror', mirror.host, name, '-o', 'out');
    expect([code, stderr.match(/nothing listens/g)]).toEqual([0, ['nothing listens']]);
    mirror = await startTestRegistry();
  });

  it('that has nothing, or wrong bytes, does no harm', async () => {
    expect((await bench.run('pull', '--mirror', mirror.host, name, '-o', 'empty')).code).toBe(0);
    await bench.run('copy', name, `${mirror.host}/tiny:v1`);
    const weights = (await bench.json('ls', '--remote', name)).document.files[0];
    mirror.behaviour.corruptBlob.set(String(weights?.['digest']), 'always');
    expect(await bench.json('pull', '--mirror', mirror.host, name)).toMatchObject({ code: 0 });
    expect(await bench.json('verify', '--local', name)).toMatchObject({ code: 0, document: { ok: true } });
  });
});

describe('warnings of a registry', () => {
  beforeEach(() => {
    bench.registry.behaviour.warnings = ['this registry closes in May'];
  });

  it('are shown once, however often they come', async () => {
    for (const args of [
      ['list', `${host}/tiny`],
      ['pull', name],
      ['inspect', '--remote', name],
    ]) {
      const { code, stderr } = await bench.run(...args);
      expect([code, stderr.match(/this registry closes in May/g)]).toEqual([0, ['this registry closes in May']]);
    }
  });

  it('stand beside the document, and are dropped by --quiet', async () => {
    const { code, stderr, document } = await bench.json('list', `${host}/tiny`);
    expect([code, stderr, document]).toMatchObject([0, expect.stringMatching(/closes in May/), { packages: [{ name }] }]);
    expect((await bench.run('list', `${host}/tiny`, '-q')).stderr).toBe('');
  });
});

describe('TLS', () => {
  let secure: TestRegistry;
  beforeEach(async () => {
    secure = await startTestRegistry({ tls });
  });
  afterEach(() => closeRegistry(secure));

  it('a certificate that nobody trusts stops it, with a way to go on', async () => {
    await withNames({ 'secure.test:443': secure.host }, async () => {
      const { code, document } = await bench.json('push', './tiny', 'secure.test/tiny:v1');
      expect([code, document.error]).toMatchObject([3, { code: 'registry/untrusted', hint: expect.stringContaining('--ca-file') }]);
    });
    expect(secure.log).toEqual([]);
  });

  it('--insecure goes on, and says what that means', async () => {
    await withNames({ 'secure.test:443': secure.host }, async () => {
      const { code, stderr } = await bench.run('push', '--insecure', './tiny', 'secure.test/tiny:v1');
      expect([code, stderr.match(/Certificates are not checked/g)]).toEqual([0, ['Certificates are not checked']]);
      expect(await bench.json('inspect', '--insecure', 'secure.test/tiny:v1')).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('--ca-file'),
      });
    });
  });

  it('an authority of its own is trusted with --ca-file, on this machine too', async () => {
    const there = `${secure.host}/tiny:v1`;
    const ca = fixture('ca.pem');
    expect(await bench.run('push', '--ca-file', ca, './tiny', there)).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Certificates') });
    expect(await bench.json('pull', '--ca-file', ca, there, '-o', 'out')).toMatchObject({ code: 0 });
    expect(await bench.json('verify', '--ca-file', ca, there)).toMatchObject({ code: 0, document: { ok: true } });
  });

  it('a registry of this machine that speaks TLS is not spoken to otherwise by chance, and the way is said', async () => {
    const { code, document } = await bench.json('inspect', '--remote', `${secure.host}/tiny:v1`);
    expect([code, String(document.error['hint'])]).toEqual([3, expect.stringContaining('--ca-file')]);
    settle(`[registry."${secure.host}"]\nplain_http = false\n`);
    expect(await bench.json('inspect', `${secure.host}/tiny:v1`)).toMatchObject({ code: 3, document: { error: { code: 'registry/untrusted' } } });
  });

  it('--ca-file that is no certificate, or not there, is named', async () => {
    expect(await bench.json('pull', '--ca-file', 'none.pem', name)).toMatchObject({ code: 3, document: { error: { code: 'bytes/not-found' } } });
  });
});
