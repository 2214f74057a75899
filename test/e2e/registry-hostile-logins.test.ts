/** Secrets that clients send to the right place and to the wrong one: no log, no announcement and no answer repeats them (R28), and nobody comes in without. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskRegistry, pushPackage } from '../support/ask-registry.js';
import { type HostileBench, shown, startHostileBench, statusOf } from '../support/hostile-registry.js';

describe('R28 secrets', () => {
  const token = 'token-0123456789abcdef-secret';
  const password = 'password-that-is-secret';
  const basic = (user: string, word: string) => `Basic ${Buffer.from(`${user}:${word}`).toString('base64')}`;
  let folder: string;
  let guarded: HostileBench;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hostile-logins-'));
    writeFileSync(join(folder, 'users'), `ci:${hashSync(password, 4)}\n`);
    writeFileSync(join(folder, 'tokens'), `${token}\n`);
    guarded = await startHostileBench({ htpasswd: join(folder, 'users'), tokenFile: join(folder, 'tokens') });
  });
  afterAll(async () => {
    await guarded.close();
    rmSync(folder, { recursive: true });
  });
  const logins = [basic('ci', password), basic('x', token), basic('ci', 'wrong-secret')].map((field) => field.slice('Basic '.length));
  const expectSilent = () => {
    const told = guarded.told.join('\n');
    for (const secret of [token, password, 'wrong-secret', '$2b$', '$2a$', ...logins]) expect(told).not.toContain(secret);
    for (const line of guarded.told) expect(() => JSON.parse(line) as unknown).not.toThrow();
  };

  it.each<[string, Record<string, string>, number]>([
    ['a token', { Authorization: `Bearer ${token}` }, 200],
    ['a login', { Authorization: basic('ci', password) }, 200],
    ['a token as password', { Authorization: basic('x', token) }, 200],
    ['a wrong token', { Authorization: 'Bearer wrong-secret' }, 401],
    ['a wrong password', { Authorization: basic('ci', 'wrong-secret') }, 401],
    ['a user of several lines', { Authorization: basic('ci\n{"level":1}', 'wrong-secret') }, 401],
    ['something else', { Authorization: `Digest username="ci", response="wrong-secret"` }, 401],
    ['a secret without a scheme', { Authorization: 'wrong-secret' }, 401],
    ['two logins', { Authorization: `${basic('ci', password)}, Bearer ${token}` }, 401],
    [
      'secrets elsewhere',
      { 'Proxy-Authorization': `Bearer ${token}`, Cookie: `t=${token}`, Referer: `http://ci:${password}@x/`, 'X-Token': token },
      401,
    ],
  ])('are in no log: %s', async (_, headers, status) => {
    const before = guarded.told.length;
    const answer = await guarded.ask('GET', '/v2/', { headers });
    expect(answer.status).toBe(status);
    for (const target of [`/v2/?access_token=${token}`, `/v2/x/tags/list?token=${password}`, `/v2/x/blobs/uploads/?digest=${token}`])
      expect([200, 400, 401, 404, 405]).toContain((await guarded.ask('GET', target, { headers })).status);
    expect(answer.bytes.toString()).not.toMatch(/secret/);
    expect(guarded.told.length).toBeGreaterThanOrEqual(before + 4);
    expectSilent();
  });

  it.each(
    shown([
      `GET http://ci:${password}@127.0.0.1/v2/ HTTP/1.1\r\nHost: 127.0.0.1`,
      `GET http://ci:${password}@127.0.0.1/v2/ HTTP/1.1\r\nHost: ci:${password}@127.0.0.1`,
      `GET /v2/https://ci:${password}@example.com/tags/list HTTP/1.1\r\nHost: 127.0.0.1`,
      `GET /v2/?a=${token} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nAuthorization: Bearer ${token}`,
      `GET /v2/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nBroken ${token}`,
    ]),
  )('are in no log: %s', async (_, head) => {
    const answer = await guarded.sendRaw(`${head}\r\nConnection: close\r\n\r\n`);
    expect([400, 401, 421]).toContain(statusOf(answer));
    expectSilent();
  });

  it.each([
    ['healthz', '/healthz/../v2/_catalog'],
    ['healthz', '/v2/_catalog?/healthz'],
    ['healthz', '/v2/_catalog#/healthz'],
    ['healthz', '//healthz/v2/_catalog'],
    ['an address', 'http://127.0.0.1/v2/_catalog'],
    ['an escape', '/%76%32/_catalog'],
  ])('nobody comes in without one by way of %s: %s', async (_, target) => {
    const answer = await guarded.sendRaw(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    expect([400, 401]).toContain(statusOf(answer));
    expect(answer).not.toContain('repositories');
  });

  it('are not announced either when a file of them becomes wrong', async () => {
    const headers = { Authorization: `Bearer ${token}` };
    expect((await guarded.ask('GET', '/v2/', { headers })).status).toBe(200);
    writeFileSync(join(folder, 'tokens'), `${token} pull push everything-wrong-secret\n`);
    await guarded.ask('GET', '/v2/', { headers });
    expect(guarded.told.join('\n')).toContain('registry/access-file');
    writeFileSync(join(folder, 'tokens'), `${token}\n`);
    expect((await guarded.ask('GET', '/v2/', { headers })).status).toBe(200);
    expect((await guarded.ask('GET', '/metrics', { headers })).bytes.toString()).not.toContain('secret');
    expectSilent();
  });

  it('let an honest client in at the end', async () => {
    const ask: AskRegistry = (method, target, { headers, ...rest } = {}) =>
      guarded.ask(method, target, { ...rest, headers: { ...headers, Authorization: basic('ci', password) } });
    const digest = await pushPackage(ask, 'r28/x', 'v1', ['weights']);
    expect((await ask('GET', '/v2/r28/x/manifests/v1')).headers['docker-content-digest']).toBe(digest);
    expectSilent();
  });
});
