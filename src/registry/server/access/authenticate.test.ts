import { hashSync } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import type { RegistryResponse } from '../http.js';
import { type Access, authenticate, type AuthenticateOptions } from './authenticate.js';

const id = '0123456789abcdef0123456789abcdef';
const token = { all: 'a-token-for-all-things', pull: 'a-token-for-reading', push: 'a-token-for-pushing' };
const passwords = `ada:${hashSync('sesame', 4)}\nlong:${hashSync('x'.repeat(72), 4)}`;
const tokens = `${token.all}\n${token.pull} pull\n${token.push} pull,push`;

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const source = (text: string) => ({ where: 'f', read: () => text });

type Ask = (method: string, target: string, authorization?: string) => Promise<RegistryResponse>;

function guard(access: Partial<Extract<Access, { kind: 'guarded' }>>, options?: AuthenticateOptions): Ask {
  const handler = authenticate(
    { kind: 'guarded', anonymousPull: false, ...access },
    async () => ({ status: 200, headers: {}, subject: { endpoint: 'ping' } }),
    options,
  );
  return (method, target, authorization) =>
    handler({ method, target, headers: { authorization }, body: (async function* () {})(), signal: new AbortController().signal });
}

const statusOf = async (response: Promise<RegistryResponse>) => (await response).status;

describe('a login', () => {
  const ask = guard({ passwords: source(passwords), tokens: source(tokens) });

  it.each([
    ['a password', basic('ada', 'sesame'), 'ada'],
    ['a password, with the scheme in capitals', basic('ada', 'sesame').replace('Basic', 'BASIC'), 'ada'],
    ['a password of all that bcrypt reads', basic('long', 'x'.repeat(72)), 'long'],
    ['a token', `Bearer ${token.all}`, 'token-1'],
    ['a token as the password of anybody', basic('anybody', token.all), 'token-1'],
    ['a token as the password of a known user', basic('ada', token.pull), 'token-2'],
  ])('by %s', async (_, field, user) => {
    expect(await ask('GET', '/v2/', field)).toMatchObject({ status: 200, user });
  });

  it.each([
    ['nothing', undefined],
    ['an empty user with an empty password', basic('', '')],
    ['another password', basic('ada', 'Sesame')],
    ['an empty password', basic('ada', '')],
    ['a user who is not known', basic('eve', 'sesame')],
    ['an empty user', basic('', 'sesame')],
    ['the name of a field of objects', basic('__proto__', 'sesame')],
    ['a password longer than bcrypt reads', basic('long', `${'x'.repeat(72)}y`)],
    ['a password of two kilobytes', basic('ada', 'y'.repeat(2048))],
    ['a password as a token', 'Bearer sesame'],
    ['a hash as a password', basic('ada', passwords.slice(4, 64))],
    ['no colon', `Basic ${Buffer.from('ada').toString('base64')}`],
    ['no base64', 'Basic !!!'],
    ['two at once', `${basic('ada', 'sesame')}, ${basic('ada', 'sesame')}`],
    ['another scheme', 'Digest abc'],
    ['an empty field', ''],
  ])('is not %s, and the answer asks for one', async (_, field) => {
    const response = await ask('GET', '/v2/', field);
    expect([response.status, response.headers['WWW-Authenticate'], response.user]).toEqual([401, 'Basic realm="modelport"', undefined]);
    expect(JSON.parse(Buffer.from(response.body as Uint8Array).toString()).errors[0].code).toBe('UNAUTHORIZED');
  });

  it('is not needed by probes', async () => {
    for (const target of ['/healthz', '/readyz', '/healthz?x']) expect(await statusOf(ask('GET', target))).toBe(200);
    for (const target of ['/metrics', '/v2/a/../healthz', '/healthz/']) expect(await statusOf(ask('GET', target))).toBe(401);
    expect(await statusOf(ask('POST', '/healthz'))).toBe(401);
  });

  it('is needed by nobody where everything is open', async () => {
    const next = async (): Promise<RegistryResponse> => ({ status: 200, headers: {}, subject: { endpoint: 'ping' } });
    expect(authenticate({ kind: 'open' }, next)).toBe(next);
  });
});

describe('rights', () => {
  const ask = guard({ tokens: source(tokens) });
  const requests = [
    ['GET', '/v2/'],
    ['GET', '/v2/a/manifests/v1'],
    ['HEAD', '/v2/a/blobs/sha256:1'],
    ['GET', '/metrics'],
    ['POST', '/v2/a/blobs/uploads/'],
    ['PATCH', `/v2/a/blobs/uploads/${id}`],
    ['PUT', '/v2/a/manifests/v1'],
    ['DELETE', `/v2/a/blobs/uploads/${id}?state=x`],
    ['DELETE', '/v2/a/manifests/v1'],
    ['DELETE', '/v2/a/blobs/sha256:1'],
    // What only looks like an upload.
    ['DELETE', `/v2/a/manifests/x?/v2/a/blobs/uploads/${id}`],
    ['DELETE', `/v2/a/blobs/uploads/manifests%2f${id}`],
    ['DELETE', `/v2/a/blobs/uploads/manifests/${id}`],
    ['DELETE', '/v2/a/blobs/uploads/v1'],
    ['BREW', '/v2/'],
  ] as const;

  it.each([
    ['pull', token.pull, [200, 200, 200, 200, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403]],
    ['pull,push', token.push, [200, 200, 200, 200, 200, 200, 200, 200, 403, 403, 403, 403, 403, 403, 200]],
    ['everything', token.all, [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200]],
  ])('%s', async (_, secret, expected) => {
    const found = await Promise.all(requests.map(([method, target]) => statusOf(ask(method, target, `Bearer ${secret}`))));
    expect(found).toEqual(expected);
  });

  it('that are missing are said, to somebody who is known', async () => {
    const response = await ask('DELETE', '/v2/a/manifests/v1', `Bearer ${token.pull}`);
    expect([response.user, response.headers['WWW-Authenticate']]).toEqual(['token-2', undefined]);
    expect(JSON.parse(Buffer.from(response.body as Uint8Array).toString()).errors).toEqual([
      { code: 'DENIED', message: 'This login does not allow to delete' },
    ]);
  });

  it('to pull are everybody’s where that is said; clients still learn that they can log in', async () => {
    const open = guard({ passwords: source(passwords), anonymousPull: true });
    const found = await Promise.all(requests.map(([method, target]) => statusOf(open(method, target))));
    expect(found).toEqual([401, 200, 200, 200, ...Array.from({ length: 11 }, () => 401)]);
    expect((await open('GET', '/v2/')).headers['WWW-Authenticate']).toBe('Basic realm="modelport"');
    expect(await statusOf(open('GET', '/v2/', basic('ada', 'sesame')))).toBe(200);
    expect(await statusOf(open('GET', '/v2/a/manifests/v1', basic('ada', 'wrong')))).toBe(401);
  });

  it('are those of nobody with an empty user and an empty password, as some clients write it', async () => {
    const open = guard({ passwords: source(passwords), tokens: source(tokens), anonymousPull: true });
    const found = await Promise.all(requests.map(([method, target]) => statusOf(open(method, target, basic('', '')))));
    expect(found).toEqual([401, 200, 200, 200, ...Array.from({ length: 11 }, () => 401)]);
  });
});

describe('many at once', () => {
  const crowd = (ask: Ask, count: number) => Array.from({ length: count }, (_, index) => ask('GET', '/v2/', basic('eve', `guess ${index}`)));

  it('with the same password are judged once', async () => {
    const ask = guard({ passwords: source(passwords) });
    const found = await Promise.all(Array.from({ length: 200 }, () => statusOf(ask('GET', '/v2/', basic('ada', 'sesame')))));
    expect(new Set(found)).toEqual(new Set([200]));
  });

  it('wait in a line that is not endless', async () => {
    const ask = guard({ passwords: source(passwords) });
    const found = await Promise.all(crowd(ask, 70));
    expect(found.map(({ status }) => status)).toEqual([...Array.from({ length: 66 }, () => 401), 429, 429, 429, 429]);
    expect(found.at(-1)?.headers['Retry-After']).toBe('1');
    expect(await statusOf(ask('GET', '/v2/', basic('ada', 'sesame')))).toBe(200);
  });

  it('do not keep out who was let in before, for five minutes', async () => {
    let now = 0;
    const ask = guard({ passwords: source(passwords) }, { clock: () => now });
    const known = basic('ada', 'sesame');
    expect(await statusOf(ask('GET', '/v2/', known))).toBe(200);
    const first = crowd(ask, 66);
    now = 299_999;
    expect(await statusOf(ask('GET', '/v2/', known))).toBe(200);
    now = 300_001;
    expect(await statusOf(ask('GET', '/v2/', known))).toBe(429);
    await Promise.all(first);
  });
});

describe('a file that changes', () => {
  it('counts at once, also for those who were let in before', async () => {
    const file = { where: 'f', text: passwords, read: () => file.text };
    const ask = guard({ passwords: file });
    const before = basic('ada', 'sesame');
    const after = basic('ada', 'new');
    expect(await statusOf(ask('GET', '/v2/', before))).toBe(200);
    file.text = `ada:${hashSync('new', 4)}`;
    expect([await statusOf(ask('GET', '/v2/', before)), await statusOf(ask('GET', '/v2/', after))]).toEqual([401, 200]);
  });

  it('does not let in who was being judged by the old one', async () => {
    const file = { where: 'f', text: passwords, read: () => file.text };
    const ask = guard({ passwords: file });
    const late = ask('GET', '/v2/', basic('ada', 'sesame'));
    file.text = '';
    expect(await statusOf(ask('GET', '/v2/', basic('ada', 'sesame')))).toBe(401);
    await late;
    expect(await statusOf(ask('GET', '/v2/', basic('ada', 'sesame')))).toBe(401);
  });

  it('keeps people in while it is wrong, and that is said', async () => {
    const told: string[] = [];
    const file = { where: 'f', text: passwords, read: () => file.text };
    const ask = guard({ passwords: file }, { announce: (problem) => told.push(problem) });
    file.text = 'ada:sesame';
    expect(await statusOf(ask('GET', '/v2/', basic('ada', 'sesame')))).toBe(200);
    expect(told).toEqual([expect.stringMatching(/^Cannot use line 1 of "f": the hash is not bcrypt/)]);
    expect(told.join()).not.toContain('sesame');
  });

  it('has to be right at the start', () => {
    expect(() => guard({ tokens: source('short') })).toThrow(expect.objectContaining({ code: 'registry/bad-access-file' }));
  });
});
