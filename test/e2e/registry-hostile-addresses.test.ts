/**
 * What a request may say of where it goes and of who sends it: names that lead out of the layout (R23), hosts and origins of web pages (R25), and ranges.
 * At the end of each group an honest client is served.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifestType, pushBlob, pushPackage, sha256, toManifest } from '../support/ask-registry.js';
import { expectRefused, expectUntouched, type HostileBench, shown, startHostileBench, statusOf } from '../support/hostile-registry.js';

let bench: HostileBench;
beforeAll(async () => {
  bench = await startHostileBench();
  await bench.checkHonest();
});
afterAll(() => bench.close());

const ask: HostileBench['ask'] = (...question) => bench.ask(...question);

/** On a connection of its own, with a target that no polite client would send. */
function sendRequest(method: string, target: string, body = '', fields: readonly string[] = ['Host: 127.0.0.1']): Promise<string> {
  const length = `Content-Length: ${body.length}`;
  return bench.sendRaw(Buffer.from([`${method} ${target} HTTP/1.1`, ...fields, 'Connection: close', length, '', body].join('\r\n'), 'latin1'));
}

describe('R23 names', () => {
  afterAll(() => bench.checkHonest());

  const content = 'a blob that must not land elsewhere';
  const names = [
    ['..', '../..', '../../../../../../tmp', '.', './a', 'a/..', 'a/./b', 'a/../../neighbour', '...', '..a', 'a..b'],
    ['%2e%2e', '%2E%2E/%2e%2e', '%2e%2e%2f%2e%2e', '..%2f..%2fneighbour', 'a%2fb', 'a%2f', '%2fa', '%2f%2fa', 'a%252fb', '%252e%252e'],
    ['/a', 'a/', 'a//b', '//', '\\a', 'a\\b', '..\\..\\x', '%5c', 'a%5c..%5cb', 'C:', 'c:/x', 'c%3a'],
    ['a%00', '%00', 'a%00b', 'a%0d%0aSet-Cookie:x', 'a%0a', 'a%20b', 'a%09b', 'a\0b', 'a\tb', 'a b', 'a\x7fb'],
    ['A', 'aB', 'ü', '%c3%bc', '%ff', '%c0%ae%c0%ae', '%e2%80%ae', '%ef%bd%81', 'a%', 'a%zz', '%', '%e3%80%82'],
    [
      '_',
      '_uploads',
      'a/_uploads',
      'a/_',
      '_catalog',
      '_oci',
      '-a',
      'a-',
      '.a',
      'a.',
      'a_',
      '_a',
      'a___b',
      'a._b',
      '~',
      '$(id)',
      '`id`',
      '*',
      'a;b',
      'a,b',
      'a:b',
      'a@b',
    ],
    ['a'.repeat(256), `${'a/'.repeat(200)}a`, 'a'.repeat(5000), '%61'.repeat(1000), '../'.repeat(2000)],
  ].flat();

  it.each(shown(names))('%s is none, whatever is asked of it', async (_, name) => {
    const { text } = toManifest([]);
    await expectUntouched(bench, async () => {
      for (const [method, rest, body] of [
        ['GET', 'tags/list', ''],
        ['GET', `blobs/${sha256(content)}`, ''],
        ['GET', 'manifests/v1', ''],
        ['PUT', 'manifests/v1', text],
        ['DELETE', 'manifests/v1', ''],
        ['DELETE', `blobs/${sha256(content)}`, ''],
        ['GET', `referrers/${sha256(content)}`, ''],
        ['POST', 'blobs/uploads/', ''],
        ['POST', `blobs/uploads/?digest=${sha256(content)}`, content],
        ['PATCH', `blobs/uploads/${'0'.repeat(32)}`, content],
      ] as const) {
        const answer = await sendRequest(method, `/v2/${name}/${rest}`, body);
        expect([400, 404, 405, 414, 431]).toContain(statusOf(answer));
        expect(answer).toMatch(/\{"errors":\[\{"code":"[A-Z_]+","message":/);
        expect(answer).not.toMatch(/set-cookie:x\r\n/i);
      }
    });
  });

  it.each(
    shown([
      '..',
      '.',
      '.hidden',
      '-x',
      'a/b',
      'a%2fb',
      '..%2f..%2fx',
      'a%00',
      'a%0ab',
      'a b',
      '%20',
      'ü',
      '%c3%bc',
      'a'.repeat(129),
      'a\\b',
      'a@b',
      '',
    ]),
  )('%s is no tag', async (_, tag) => {
    await pushBlob(ask, 'r23/x', '{}');
    await expectUntouched(bench, async () => {
      for (const method of ['PUT', 'GET', 'DELETE']) {
        const answer = await sendRequest(method, `/v2/r23/x/manifests/${tag}`, method === 'PUT' ? toManifest([]).text : '');
        expect([400, 404, 405]).toContain(statusOf(answer));
      }
    });
    const asked = encodeURIComponent(decodeURIComponent(tag));
    const answer = await ask('PUT', `/v2/r23/x/manifests/good?tag=${asked}`, {
      headers: { 'Content-Type': manifestType },
      body: toManifest([]).text,
    });
    expectRefused(answer, 400, 'MANIFEST_INVALID');
    expect((await ask('GET', '/v2/r23/x/tags/list')).json.tags).toEqual([]);
  });

  it('are not those of uploads either', async () => {
    const location = (await ask('POST', '/v2/r23/x/blobs/uploads/')).headers['location'] ?? '';
    const id = location.split('/').at(-1) ?? '';
    await expectUntouched(bench, async () => {
      for (const other of [
        '..',
        '%2e%2e',
        `..%2f${id}`,
        `%2e%2e%2fuploads%2f${id}`,
        `${id}%00`,
        `${id}%2fdata`,
        `${id}%2f`,
        id.toUpperCase().replace(/^\d*$/, 'A'),
        `${id}0`,
      ]) {
        for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
          const answer = await sendRequest(method, `/v2/r23/x/blobs/uploads/${other}?digest=${sha256('x')}`, method === 'GET' ? '' : 'x');
          expect([400, 404]).toContain(statusOf(answer));
        }
      }
    });
    expect((await ask('DELETE', location)).status).toBe(204);
  });

  it.each([
    '*',
    '/',
    '',
    'v2',
    'v2/',
    '//v2/',
    '/V2/',
    '/v2/..',
    '/v2/../v2/_catalog',
    '/v1/',
    '/v2/_catalog/',
    '/v2/_oci/',
    '/v2//',
    '/.git/config',
    '/index.json',
    '/blobs/',
    '/../index.json',
    'file:///etc/passwd',
    '?',
    '#',
  ])('%j is no address', async (target) => {
    expect([400, 404]).toContain(statusOf(await sendRequest('GET', target)));
  });
});

describe('R25 hosts and origins', () => {
  afterAll(() => bench.checkHonest());
  beforeAll(async () => void (await pushPackage(ask, 'r25/x', 'v1', [])));

  const remove = '/v2/r25/x/manifests/v1';
  /** What a page would like to do: refused, and nothing happened. */
  const expectKeptOut = async (status: readonly number[], target: string, fields: readonly string[]) => {
    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      const answer = await sendRequest(method, target, '', fields);
      expect(status).toContain(statusOf(answer));
      expect(answer).not.toMatch(/access-control-/i);
    }
    expect((await ask('GET', remove)).status).toBe(200);
  };
  const here = (text: string) => {
    const { port } = bench.listener.address;
    return text.replaceAll('PORT', String(port)).replaceAll('OTHER', String(port + 1));
  };

  it.each(
    shown([
      'evil.example',
      'evil.example:PORT',
      '127.0.0.1.evil.example:PORT',
      '127.0.0.1.nip.io',
      'localhost.evil.example',
      'evil-localhost',
      '',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.0.0.1:999999',
      '127.0.0.1:PORT:80',
      'user@127.0.0.1:PORT',
      '127.0.0.1:PORT, evil.example',
      '127.0.0.1/evil',
      '[::1',
      '[::1%25lo]:PORT',
      '[v1.x]',
      '::1',
      'x'.repeat(5000),
    ]),
  )('the host %s is none of this registry', (_, host) => expectKeptOut([400, 421], remove, [`Host: ${here(host)}`]));

  it.each([[[]], [['Host: 127.0.0.1', 'Host: evil.example']], [['Host: evil.example', 'Host: 127.0.0.1']], [['Host : 127.0.0.1']]])(
    'fields %j name no host, or two',
    (fields) => expectKeptOut([400, 421], remove, fields),
  );

  it.each(['127.0.0.1:PORT', '127.0.0.1', 'localhost:1', 'LOCALHOST.', '[::1]:PORT', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]:PORT', 'a.localhost'])(
    'the host %s is',
    async (host) => expect(statusOf(await sendRequest('GET', remove, '', [`Host: ${here(host)}`]))).toBe(200),
  );

  it.each([
    ['Origin: http://evil.example'],
    ['Origin: null'],
    ['Origin: '],
    ['Origin: http://127.0.0.1:OTHER'],
    ['Origin: https://127.0.0.1:PORT'],
    ['Origin: http://localhost:PORT'],
    ['Origin: http://127.0.0.1:PORT', 'Origin: http://evil.example'],
    ['Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: no-cors'],
    ['Origin: http://evil.example', 'Access-Control-Request-Method: DELETE', 'Access-Control-Request-Private-Network: true'],
  ])('a page with %s is kept out', (...fields) => expectKeptOut([403], remove, [here('Host: 127.0.0.1:PORT'), ...fields.map(here)]));

  it('a page of its own origin is not', async () => {
    const fields = ['Host: 127.0.0.1:PORT', 'Origin: http://127.0.0.1:PORT', 'Sec-Fetch-Site: same-origin'].map(here);
    expect(statusOf(await sendRequest('GET', remove, '', fields))).toBe(200);
  });

  it.each([
    ['http://evil.example', '127.0.0.1:PORT'],
    ['http://evil.example', 'evil.example'],
    ['http://127.0.0.1:OTHER', '127.0.0.1:PORT'],
    ['http://user:pass@127.0.0.1:PORT', '127.0.0.1:PORT'],
    ['http://evil.example@127.0.0.1:PORT', '127.0.0.1:PORT'],
    ['http://', '127.0.0.1:PORT'],
    ['ftp://127.0.0.1:PORT', '127.0.0.1:PORT'],
    ['//evil.example', '127.0.0.1:PORT'],
  ])('a whole address of %s with the host %s is refused', (origin, host) =>
    expectKeptOut([400, 404, 421], `${here(origin)}${remove}`, [`Host: ${here(host)}`]),
  );

  it('a whole address of this host is served, and a tunnel is not opened', async () => {
    expect(statusOf(await sendRequest('GET', here(`http://127.0.0.1:PORT${remove}`), '', [here('Host: 127.0.0.1:PORT')]))).toBe(200);
    expect(await bench.sendRaw(here('CONNECT 127.0.0.1:PORT HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n'))).not.toMatch(/^HTTP\/1\.1 2/);
  });
});

describe('ranges', () => {
  afterAll(() => bench.checkHonest());

  const content = 'r'.repeat(1000);
  const target = `/v2/ranges/x/blobs/${sha256(content)}`;
  beforeAll(() => pushBlob(ask, 'ranges/x', content));

  it.each<[string, number, number]>([
    ['bytes=0-99999999999999999999999', 206, 1000],
    ['bytes=-99999999999999999999999', 206, 1000],
    [`bytes=0-${'9'.repeat(40)}`, 206, 1000],
    ['bytes=99999999999999999999999-', 416, 0],
    ['bytes=9007199254740993-9007199254740995', 416, 0],
    ['bytes=1000-', 416, 0],
    ['bytes=-0', 416, 0],
    ['bytes=5-4', 416, 0],
    ['bytes=18446744073709551616-18446744073709551617', 416, 0],
    ['bytes=0-0,0-0', 200, 1000],
    ['bytes=-1-2', 200, 1000],
    ['bytes=0x0-0x5', 200, 1000],
    ['bytes=1e1-1e2', 200, 1000],
    ['bytes=+1-+2', 200, 1000],
    ['bytes', 200, 1000],
    ['lines=0-5', 200, 1000],
    ['bytes=0-5;bytes=6-7', 200, 1000],
  ])('%j costs no more than the blob', async (Range, status, length) => {
    const answer = await ask('GET', target, { headers: { Range } });
    expect(answer.status).toBe(status);
    if (status === 416) expectRefused(answer, 416, 'RANGE_INVALID');
    else expect([answer.bytes.toString(), answer.headers['content-length']]).toEqual([content.slice(0, length), String(length)]);
    expect((await ask('HEAD', target, { headers: { Range } })).headers['content-length']).toBe('1000');
  });

  it.each([
    ['a range of ten thousand digits', `bytes=0-${'9'.repeat(10_000)}`],
    ['three thousand times the whole', `bytes=${'0-,'.repeat(3000)}0-`],
    ['a thousand that overlap', `bytes=${Array.from({ length: 1000 }, (_, at) => `${at}-${at + 500}`).join(',')}`],
  ])('%s costs no more either', async (_, Range) => {
    const answer = await ask('GET', target, { headers: { Range } });
    expect([200, 206]).toContain(answer.status);
    expect(answer.bytes.toString()).toBe(content);
  });

  it('are ten thousand at most in a head that is too long', async () => {
    expect(statusOf(await sendRequest('GET', target, '', ['Host: 127.0.0.1', `Range: bytes=${'0-1,'.repeat(10_000)}5-6`]))).toBe(431);
  });
});
