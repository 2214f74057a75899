import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RegistryRequest, RegistryResponse } from '../http.js';
import { checkOrigin } from './check-origin.js';

const seen: RegistryRequest[] = [];
const next = async (request: RegistryRequest): Promise<RegistryResponse> => {
  seen.push(request);
  return { status: 200, headers: {}, subject: { endpoint: 'ping' } };
};
const check = checkOrigin(['Models.Example', 'build-7.'], next);

function ask(headers: Record<string, string>, target = '/v2/', isSecure = false): Promise<RegistryResponse> {
  const body = (async function* () {})();
  return check({ method: 'GET', target, headers, body, signal: new AbortController().signal, client: { address: '127.0.0.1', isSecure } });
}

const textOf = ({ body }: RegistryResponse) => Buffer.from(body as Uint8Array).toString();

describe('the host', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:5000',
    '10.1.2.3:80',
    '[::1]:5000',
    '[2001:db8::7]',
    '[::ffff:1.2.3.4]:1',
    'localhost',
    'LOCALHOST:5000',
    'localhost.:5000',
    'a.b.localhost:1',
    'models.example',
    'MODELS.example:65535',
    'build-7:5000',
  ])('%s is served', async (host) => {
    expect((await ask({ host })).status).toBe(200);
  });

  it.each([
    '',
    'evil.example',
    'evil.example:5000',
    'sub.models.example',
    'models.example.evil',
    'localhost.evil',
    'notlocalhost',
    '127.0.0.1.evil',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '127.0.0.1:x',
    '127.0.0.1:123456',
    'user@127.0.0.1',
    '127.0.0.1, evil.example',
    '[::1',
    '[evil.example]',
    '[127.0.0.1]',
    '::1',
    '127.0.0.1/',
    '.',
  ])('%j is not, and the answer says how to allow it', async (host) => {
    const response = await ask({ host });
    expect(response.status).toBe(421);
    expect(response.headers['Content-Type']).toBe('application/json');
    expect(JSON.parse(textOf(response))).toEqual({ errors: [{ code: 'DENIED', message: expect.stringContaining('--allow-host NAME') }] });
  });

  it('has to be said', async () => {
    expect((await ask({})).status).toBe(421);
  });

  it('is one of the few, or nothing of the request is looked at', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.domain(), fc.webAuthority({ withPort: true })), async (host) => {
        const { status } = await ask({ host });
        expect([200, 421]).toContain(status);
        if (status === 200) expect(host).toMatch(/^(\[[\da-f:.]+\]|\d+(\.\d+){3}|(.+\.)?localhost\.?|models\.example\.?|build-7\.?)(:\d+)?$/i);
      }),
    );
  });

  it('is shown without becoming long', async () => {
    expect(textOf(await ask({ host: `${'x'.repeat(5000)}.example` })).length).toBeLessThan(300);
  });
});

describe('a whole URL on the request line', () => {
  it('becomes a path when it names the same host', async () => {
    await ask({ host: '127.0.0.1:5000' }, 'http://127.0.0.1:5000/v2/a/tags/list?n=1');
    await ask({ host: 'localhost' }, 'HTTP://LOCALHOST');
    await ask({ host: 'localhost' }, 'http://localhost?n=1');
    expect(seen.slice(-3).map(({ target }) => target)).toEqual(['/v2/a/tags/list?n=1', '/', '/?n=1']);
  });

  it.each(['http://evil.example/v2/', 'https://127.0.0.1:5001/v2/', 'http://evil@127.0.0.1:5000/v2/', 'http:///v2/'])(
    '%s is refused',
    async (target) => {
      expect((await ask({ host: '127.0.0.1:5000' }, target)).status).toBe(400);
    },
  );

  it('does not make another host good', async () => {
    expect((await ask({ host: 'evil.example' }, 'http://evil.example/v2/')).status).toBe(421);
  });
});

describe('a page', () => {
  const host = 'localhost:5000';

  it.each([
    [{ origin: 'http://localhost:5000' }, false],
    [{ origin: 'https://localhost:5000' }, true],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://LOCALHOST:5000' }, false],
  ])('of this very host may ask: %j', async (headers, isSecure) => {
    expect((await ask({ host, ...headers }, '/v2/', isSecure)).status).toBe(200);
  });

  it.each([
    [{ origin: 'http://evil.example' }, false],
    [{ origin: 'null' }, false],
    [{ origin: '' }, false],
    [{ origin: 'http://localhost:5001' }, false],
    [{ origin: 'https://localhost:5000' }, false],
    [{ origin: 'http://localhost:5000' }, true],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://localhost:5000' }, false],
  ])('of another origin may not: %j', async (headers, isSecure) => {
    const before = seen.length;
    const response = await ask({ host, ...headers }, '/v2/', isSecure);
    expect([response.status, JSON.parse(textOf(response)).errors[0].code, seen.length]).toEqual([403, 'DENIED', before]);
    expect(Object.keys(response.headers).filter((name) => /^access-control/i.test(name))).toEqual([]);
  });
});

it('passes on what the handler throws', async () => {
  const failure = new Error('a bug');
  const broken = checkOrigin([], () => Promise.reject(failure));
  const body = (async function* () {})();
  await expect(broken({ method: 'GET', target: '/', headers: { host: 'localhost' }, body, signal: new AbortController().signal })).rejects.toBe(
    failure,
  );
});
