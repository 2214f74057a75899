/**
 * Clients that do not keep to HTTP, or keep to it too slowly (R24): heads and bodies without end, framing that two readers understand in two ways, uploads
 * that are begun and left, connections that say nothing, bodies that break off. At the end of each group an honest client is served.
 */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pushPackage, sha256, toManifest } from '../support/ask-registry.js';
import { expectRefused, expectUntouched, type HostileBench, startHostileBench, statusOf } from '../support/hostile-registry.js';

/** Short, so that nobody has to wait; long enough for an honest client on a busy machine. */
const limits = { headerMs: 600, headerCheckMs: 50, idleMs: 600, rateMs: 600, leastRate: 1000, lingerMs: 300, keepAliveMs: 10_000 };

let bench: HostileBench;
beforeAll(async () => {
  bench = await startHostileBench({ limits });
  await bench.checkHonest();
});
afterAll(() => bench.close());

const ask: HostileBench['ask'] = (...question) => bench.ask(...question);
const head = (method: string, target: string, ...fields: readonly string[]) =>
  [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...fields, '', ''].join('\r\n');

async function begin(repository: string): Promise<string> {
  return (await ask('POST', `/v2/${repository}/blobs/uploads/`)).headers['location'] ?? '';
}

/** Sends one piece again and again until the other side has enough. Gives what it said. */
async function drip(text: string, piece: string, everyMs: number): Promise<string> {
  const socket = connect(bench.listener.address.port, '127.0.0.1');
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1'))).on('error', () => {});
  socket.write(text);
  const timer = setInterval(() => socket.write(piece), everyMs);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(timer);
  return received;
}

describe('R24 heads', () => {
  afterAll(() => bench.checkHonest());

  it.each([
    ['one field of a megabyte', `X: ${'x'.repeat(1_000_000)}\r\n`],
    ['a hundred thousand fields', 'X: x\r\n'.repeat(100_000)],
    ['a hundred thousand fields of no name', ': x\r\n'.repeat(100_000)],
    ['a megabyte of one name', `${'x'.repeat(1_000_000)}: x\r\n`],
  ])('of %s are cut off', async (_, fields) => {
    const answer = await bench.sendRaw(`GET /v2/ HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}\r\n`);
    expect([400, 431, 0]).toContain(statusOf(answer));
    expect(answer.length).toBeLessThan(1000);
  });

  it.each([
    ['a field', 'GET /v2/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX: '],
    ['an address', 'GET /v2/'],
    ['a method', 'G'],
    ['empty lines', '\r\n'],
  ])('that come a byte at a time are not waited for: %s', async (what, text) => {
    const answer = await drip(text, what === 'empty lines' ? '\r\n' : 'x', 20);
    expect([408, 400, 431]).toContain(statusOf(answer));
  });

  it('of two hundred connections at once are all ended, and honest clients served meanwhile', async () => {
    const slow = Promise.all(Array.from({ length: 200 }, () => drip('GET /v2/ HTTP/1.1\r\nX: ', 'x', 100)));
    await bench.checkHonest();
    for (const answer of await slow) expect(statusOf(answer)).toBe(408);
  });
});

describe('R24 framing', () => {
  afterAll(() => bench.checkHonest());

  const victim = '/v2/r24/victim/manifests/v1';
  const smuggled = head('DELETE', victim, 'X: y');
  const digest = sha256(smuggled);
  const target = `/v2/r24/x/blobs/uploads/?digest=${digest}`;
  const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
  beforeAll(async () => void (await pushPackage(ask, 'r24/victim', 'v1', [])));
  const expectUnharmed = async () => {
    await bench.settled();
    expect(bench.seen).not.toContain(`DELETE ${victim}`);
    expect((await ask('GET', victim)).bytes.toString()).toBe(toManifest([]).text);
  };

  it.each<[string, string, string]>([
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked', `0\r\n\r\n${smuggled}`],
    ['chunks and a length', `Transfer-Encoding: chunked\r\nContent-Length: ${smuggled.length + 5}`, `0\r\n\r\n${smuggled}`],
    ['two lengths', `Content-Length: 0\r\nContent-Length: ${smuggled.length}`, smuggled],
    ['two lengths, the other way round', `Content-Length: ${smuggled.length}\r\nContent-Length: 0`, smuggled],
    ['a list of lengths', `Content-Length: 0, ${smuggled.length}`, smuggled],
    ['the same length twice', `Content-Length: 5\r\nContent-Length: 5`, `hello${smuggled}`],
    ['a negative length', 'Content-Length: -1', smuggled],
    ['a length with a sign', 'Content-Length: +0', smuggled],
    ['a length in base 16', 'Content-Length: 0x0', smuggled],
    ['a length beyond 2^64', 'Content-Length: 18446744073709551616', smuggled],
    ['a length with a space before its colon', 'Content-Length : 0', smuggled],
    ['a field that is folded', 'X: a\r\n Content-Length: 0', smuggled],
    ['a folded encoding', 'Transfer-Encoding:\r\n chunked', `0\r\n\r\n${smuggled}`],
    ['a bare line feed', `X: a\nContent-Length: ${smuggled.length}`, smuggled],
    ['a bare carriage return', `X: a\rContent-Length: ${smuggled.length}`, smuggled],
    ['a NUL', 'X: a\0b\r\nContent-Length: 0', smuggled],
    ['chunks inside something', 'Transfer-Encoding: gzip, chunked, identity', `0\r\n\r\n${smuggled}`],
    ['an encoding that is like chunked', 'Transfer-Encoding: xchunked', `0\r\n\r\n${smuggled}`],
    ['an encoding with a vertical tab', 'Transfer-Encoding: \x0bchunked', `0\r\n\r\n${smuggled}`],
    ['an encoding in quotes', 'Transfer-Encoding: "chunked"', `0\r\n\r\n${smuggled}`],
    ['a chunk of a negative size', 'Transfer-Encoding: chunked', `-1\r\nx\r\n0\r\n\r\n${smuggled}`],
    ['a chunk size with a prefix', 'Transfer-Encoding: chunked', `0x0\r\n\r\n${smuggled}`],
    ['a chunk size beyond 2^64', 'Transfer-Encoding: chunked', `10000000000000000\r\n\r\n${smuggled}`],
    ['a chunk that is longer than it says', 'Transfer-Encoding: chunked', `1\r\nxx\r\n0\r\n\r\n${smuggled}`],
    ['a chunk without its end', 'Transfer-Encoding: chunked', `5\r\nhello0\r\n\r\n${smuggled}`],
    ['a megabyte of extension', 'Transfer-Encoding: chunked', `5;${'x'.repeat(1_000_000)}\r\nhello\r\n0\r\n\r\n${smuggled}`],
    ['a megabyte of trailers', 'Transfer-Encoding: chunked', `0\r\n${'X: y\r\n'.repeat(170_000)}\r\n${smuggled}`],
  ])('with %s is refused, and what follows is no request', async (_, fields, body) => {
    await expectUntouched(bench, async () => {
      const answer = await bench.sendRaw(`POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}\r\n\r\n${body}`);
      expect([400, 408, 413, 431, 0]).toContain(statusOf(answer));
      expect(answer.match(/^HTTP\/1\.1 /gm) ?? []).toHaveLength(statusOf(answer) === 0 ? 0 : 1);
    });
    await expectUnharmed();
  });

  it.each([
    ['of a length', `Content-Length: ${smuggled.length}`, smuggled],
    ['in chunks', 'Transfer-Encoding: chunked', chunk],
    ['in chunks, in other letters', 'transfer-ENCODING: Chunked', chunk],
  ])('a request inside a body %s is a body', async (_, fields, body) => {
    const answer = await bench.sendRaw(head('POST', target, fields, 'Connection: close') + body);
    expect(statusOf(answer)).toBe(201);
    expect((await ask('GET', `/v2/r24/x/blobs/${digest}`)).bytes.toString()).toBe(smuggled);
    await expectUnharmed();
  });

  it.each([
    ['a name that is none', '/v2/A/blobs/uploads/', 'POST'],
    ['an upload that is none', `/v2/r24/x/blobs/uploads/${'0'.repeat(32)}`, 'PATCH'],
    ['a manifest that is none', '/v2/r24/x/manifests/v1', 'PUT'],
    ['a page', '/v2/_catalog', 'GET'],
    ['a health probe', '/healthz', 'POST'],
    ['a method that is none', '/v2/', 'PROPFIND'],
  ])('a request inside the body of one that is refused or has no use for it is a body: %s', async (_, where, method) => {
    for (const [fields, body] of [
      [`Content-Length: ${smuggled.length}`, smuggled],
      ['Transfer-Encoding: chunked', chunk],
      ['Content-Length: 3000000', smuggled.repeat(Math.ceil(3_000_000 / smuggled.length)).slice(0, 3_000_000)],
    ] as const) {
      const answer = await bench.sendRaw(head(method, where, fields, 'Connection: close') + body);
      expect([200, 400, 404, 405]).toContain(statusOf(answer));
      expect(answer.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
    }
    await expectUnharmed();
  });

  it.each([
    ['h2c', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']],
    ['a socket', ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZQ==', 'Sec-WebSocket-Version: 13']],
    ['something that is expected', ['Expect: 200-ok', 'Connection: close']],
  ])('an upgrade is not granted: %s', async (_, fields) => {
    const socket = connect(bench.listener.address.port, '127.0.0.1', () => void socket.write(head('GET', '/v2/', ...fields)));
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect([200, 400, 417]).toContain(statusOf(first.toString('latin1')));
  });
});

describe('R24 uploads', () => {
  afterAll(() => bench.checkHonest());

  it('that come a byte at a time keep what came, and their connection is ended', async () => {
    const location = await begin('r24/slow');
    expect(await drip(head('PATCH', location, 'Content-Length: 100000'), 'x', 30)).toBe('');
    await bench.settled();
    const size = Number(/^0-(\d+)$/.exec((await ask('GET', location)).headers['range'] ?? '')?.[1]) + 1;
    expect(size).toBeGreaterThan(1);
    expect((await ask('PUT', `${location}?digest=${sha256('x'.repeat(size))}`)).status).toBe(201);
  });

  it('in pieces of one byte are whole in the end', async () => {
    const content = 'one byte at a time, two hundred times over. '.repeat(5).slice(0, 200);
    const location = await begin('r24/bytes');
    for (const [at, byte] of content.split('').entries()) {
      const answer = await ask('PATCH', location, { headers: { 'Content-Range': `${at}-${at}` }, body: byte });
      expect([answer.status, answer.headers['range']]).toEqual([202, `0-${at}`]);
    }
    expect((await ask('PUT', `${location}?digest=${sha256(content)}`)).status).toBe(201);
    expect((await ask('GET', `/v2/r24/bytes/blobs/${sha256(content)}`)).bytes.toString()).toBe(content);
  });

  it('that are begun and left are a thousand at most, and reading goes on', async () => {
    const flooded = await startHostileBench();
    try {
      const digest = await pushPackage(flooded.ask, 'r24/x', 'v1', []);
      const locations: string[] = [];
      const refused: (string | undefined)[] = [];
      const flood = async () => {
        for (let count = 0; count < 200; count++) {
          const answer = await flooded.ask('POST', '/v2/r24/x/blobs/uploads/');
          if (answer.status === 202) locations.push(answer.headers['location'] ?? '');
          else refused.push(`${answer.status} ${answer.code} ${answer.headers['retry-after']}`);
        }
      };
      await Promise.all(Array.from({ length: 10 }, flood));
      expect(locations.length + refused.length).toBe(2000);
      expect(locations.length).toBeGreaterThanOrEqual(1000);
      expect(locations.length).toBeLessThan(1010);
      expect(new Set(refused)).toEqual(new Set(['429 TOOMANYREQUESTS 60']));
      expect((await flooded.ask('GET', `/v2/r24/x/manifests/${digest}`)).status).toBe(200);
      for (const location of locations.slice(0, 20)) expect((await flooded.ask('DELETE', location)).status).toBe(204);
      await flooded.checkHonest();
    } finally {
      await flooded.close();
    }
  });
});

describe('bodies that break off', () => {
  afterAll(() => bench.checkHonest());

  const content = Buffer.alloc(300_000, 'of a blob that is pushed in spite of everything. ');
  const half = content.subarray(0, 123_456);
  const digest = sha256(content);
  const endings: readonly [string, (socket: Socket) => unknown][] = [
    ['closed', (socket) => socket.destroy()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ];

  /** Sends it, and is gone once the request is under way. */
  async function breakOff(text: string, body: Uint8Array, end: (socket: Socket) => unknown): Promise<void> {
    const asked = text.split(' ').slice(0, 2).join(' ');
    const before = bench.seen.filter((line) => line === asked).length;
    const socket = connect(bench.listener.address.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(text);
    await new Promise((resolve) => socket.write(body, resolve));
    await vi.waitFor(() => expect(bench.seen.filter((line) => line === asked)).toHaveLength(before + 1), { interval: 5 });
    end(socket);
    await bench.settled();
  }

  const toChunk = (bytes: Uint8Array) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  const resumed: readonly [string, (location: string) => string, (bytes: Uint8Array) => Uint8Array][] = [
    ['PATCH of a chunk', (at) => head('PATCH', at, `Content-Length: ${content.length}`, `Content-Range: 0-${content.length - 1}`), (bytes) => bytes],
    ['PATCH of a length', (at) => head('PATCH', at, `Content-Length: ${content.length}`), (bytes) => bytes],
    ['PATCH as a stream', (at) => head('PATCH', at, 'Transfer-Encoding: chunked'), toChunk],
    ['PUT of the whole', (at) => head('PUT', `${at}?digest=${digest}`, `Content-Length: ${content.length}`), (bytes) => bytes],
    [
      'PUT of a chunk',
      (at) => head('PUT', `${at}?digest=${digest}`, `Content-Length: ${content.length}`, `Content-Range: 0-${content.length - 1}`),
      (bytes) => bytes,
    ],
  ];

  describe.each(endings)('and are %s', (ending, end) => {
    it.each(resumed)('%s: the upload stands where it was left, and goes on', async (_, toHead, toBody) => {
      const location = await begin('broken/x');
      await breakOff(toHead(location), toBody(half), end);
      const status = await ask('GET', location);
      expect(status.status).toBe(204);
      const size = Number(/^0-(\d+)$/.exec(status.headers['range'] ?? '')?.[1]) + 1;
      if (ending === 'closed') expect(size).toBe(half.length);
      else expect(size).toBeLessThanOrEqual(half.length);
      // Without a byte the status cannot tell nothing from one: the client that finds out is told where it stands.
      const kept = size === 1 ? 0 : size;
      const rest = { headers: { 'Content-Range': `${kept}-${content.length - 1}` }, body: content.subarray(kept) };
      expect((await ask('PATCH', location, rest)).status).toBe(202);
      expect((await ask('PUT', `${location}?digest=${digest}`)).status).toBe(201);
      expect((await ask('GET', `/v2/broken/x/blobs/${digest}`)).bytes.equals(content)).toBe(true);
      expect((await ask('DELETE', `/v2/broken/x/blobs/${digest}`)).status).toBe(202);
    });

    it.each<[string, string, Uint8Array]>([
      ['one POST', head('POST', `/v2/broken/y/blobs/uploads/?digest=${digest}`, `Content-Length: ${content.length}`), half],
      ['one POST as a stream', head('POST', `/v2/broken/y/blobs/uploads/?digest=${digest}`, 'Transfer-Encoding: chunked'), toChunk(half)],
      ['a manifest', head('PUT', '/v2/broken/y/manifests/v1', `Content-Length: ${content.length}`), half],
    ])('%s: nothing is left of it', async (_, text, body) => {
      await expectUntouched(bench, () => breakOff(text, body, end));
      expectRefused(await ask('GET', '/v2/broken/y/tags/list'), 404, 'NAME_UNKNOWN');
    });
  });

  it('in the middle of an answer hurt nobody else', async () => {
    const location = await begin('broken/z');
    await ask('PUT', `${location}?digest=${digest}`, { body: content });
    const sockets = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect(bench.listener.address.port, '127.0.0.1');
        socket.on('error', () => {}).write(head('GET', `/v2/broken/z/blobs/${digest}`).repeat(5));
        await once(socket, 'data');
        return socket;
      }),
    );
    for (const socket of sockets) socket.resetAndDestroy();
    await vi.waitFor(() => expect(bench.listener.countConnections()).toBeLessThan(50), { interval: 5 });
    expect((await ask('GET', `/v2/broken/z/blobs/${digest}`)).bytes.equals(content)).toBe(true);
  });
});

describe('connections that say nothing', () => {
  async function openSilent(port: number, count: number): Promise<Socket[]> {
    return Promise.all(
      Array.from({ length: count }, async () => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => {}).resume();
        await once(socket, 'connect');
        return socket;
      }),
    );
  }

  it('five hundred of them keep no honest client waiting, and are ended', async () => {
    const closed = (await openSilent(bench.listener.address.port, 500)).map((socket) => once(socket, 'close'));
    await bench.checkHonest();
    expect(await Promise.all(closed)).toHaveLength(500);
    await bench.checkHonest();
  });

  it('and as many as are let in keep it waiting for as long as a head may take', async () => {
    const small = await startHostileBench({ limits: { ...limits, connections: 50 } });
    try {
      const closed = (await openSilent(small.listener.address.port, 500)).map((socket) => once(socket, 'close'));
      expect(small.listener.countConnections()).toBeLessThanOrEqual(50);
      await vi.waitFor(() => small.checkHonest(), { interval: 50, timeout: 10_000 });
      await Promise.all(closed);
    } finally {
      await small.close();
    }
  });
});
