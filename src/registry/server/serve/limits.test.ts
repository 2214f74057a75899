import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { connectRaw, echo, head, say, startListener, stream } from '../../../../test/support/listen-bench.js';
import type { RegistryRequest } from '../http.js';
import { listen } from './listen.js';
import type { ServeLimits } from './serve-limits.js';

const startWith = (limits: Partial<ServeLimits>) => startListener(echo, { limits });

async function* endless() {
  for (;;) yield new Uint8Array(1 << 20);
}

describe('a head', () => {
  it.each([
    ['a byte at a time', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: '],
    ['not at all', ''],
  ])('that comes %s takes too long', async (_, begin) => {
    const listener = await startWith({ headerMs: 50, headerCheckMs: 20 });
    const client = await connectRaw(listener);
    client.send(begin);
    const drip = setInterval(() => client.socket.write('x'), 5);
    if (begin === '') clearInterval(drip);
    client.socket.once('close', () => clearInterval(drip));
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*"code":"UNSUPPORTED"/s);
  });

  it('that comes slowly takes too long on a connection that was good before, too', async () => {
    const listener = await startWith({ headerMs: 50, headerCheckMs: 20 });
    const client = await connectRaw(listener);
    client.send(head('GET', '/'));
    await client.until('\r\n\r\n');
    client.send('GET / HTTP/1.1\r\n');
    expect(await client.ended()).toContain('HTTP/1.1 408 ');
  });

  it.each([
    ['one long field', `X: ${'x'.repeat(20_000)}\r\n`],
    ['many short fields', 'X: x\r\n'.repeat(9000)],
    ['a long address', ''],
  ])('of %s is too large', async (_, fields) => {
    const client = await connectRaw(await startWith({}));
    client.send(`GET /${fields === '' ? 'x'.repeat(20_000) : ''} HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}\r\n`);
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('of very many fields is either refused or seen whole', async () => {
    const seen: RegistryRequest[] = [];
    const client = await connectRaw(await startListener(async (request) => (seen.push(request), say(200))));
    client.send(head('GET', '/', ...Array.from({ length: 2500 }, () => 'a:'), 'Origin: null', 'Connection: close'));
    await client.ended();
    expect(seen[0]?.headers.origin).toBe('null');
  });

  it.each([
    ['nonsense', 'hello\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a bare line feed in a field', 'GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['a folded field', 'GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n'],
    ['a control character', 'GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
  ])('of %s is refused, and the connection ended', async (_, text) => {
    let count = 0;
    const client = await connectRaw(await startListener(async () => (count++, say(200))));
    client.send(Buffer.from(text, 'latin1'));
    const answer = await client.ended();
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/"code":"UNSUPPORTED"/);
    expect(count).toBe(0);
  });

  it.each([
    ['length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['chunks and length', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
    ['a list of lengths', 'Content-Length: 5, 5'],
    ['a signed length', 'Content-Length: +5'],
    ['a length that is none', 'Content-Length: 5x'],
    ['a length beyond all numbers', 'Content-Length: 99999999999999999999999'],
    ['chunks inside another encoding', 'Transfer-Encoding: chunked, identity'],
    ['an encoding that is like chunked', 'Transfer-Encoding: xchunked'],
  ])('with %s is not taken for two requests', async (_, fields) => {
    const targets: string[] = [];
    const listener = await startListener(async (request) => (targets.push(request.target), echo(request)));
    const client = await connectRaw(listener);
    client.send(`PUT / HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
    // Cut off without a word where the head was understood before it turned out that the body cannot be.
    expect(await client.ended()).toMatch(/^(HTTP\/1\.1 400 |$)/);
    expect(targets).not.toContain('/smuggled');
  });
});

describe('a body', () => {
  it('that stops in the middle ends the connection', async () => {
    const listener = await startWith({ idleMs: 50 });
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', 'Content-Length: 10') + 'half');
    expect(await client.ended()).toBe('');
  });

  it('that comes too slowly ends the connection, however long no pause is', async () => {
    const listener = await startWith({ idleMs: 10_000, rateMs: 100, leastRate: 1000 });
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', 'Content-Length: 100000'));
    const drip = setInterval(() => client.socket.write('x'), 5);
    client.socket.once('close', () => clearInterval(drip));
    expect(await client.ended()).toBe('');
  });

  it('may take longer than any head, at a fair rate', async () => {
    const listener = await startWith({ headerMs: 60, headerCheckMs: 10, idleMs: 5000, rateMs: 100, leastRate: 10 });
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', 'Content-Length: 60', 'Connection: close'));
    let sent = 0;
    const drip = setInterval(() => {
      client.socket.write('x');
      if (++sent === 60) clearInterval(drip);
    }, 5);
    expect(await client.ended()).toMatch(/x{60}$/);
  });

  it('may wait for the handler as long as that likes', async () => {
    let go = () => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const listener = await startListener(async (request) => (await gate, echo(request)), { limits: { idleMs: 30, rateMs: 30 } });
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', 'Content-Length: 1000000'));
    client.send('x'.repeat(1_000_000));
    setTimeout(go, 150);
    expect((await client.until('\r\n\r\nx')).length).toBeGreaterThan(0);
  });

  it('with chunks that are none ends the connection, and the reader is told', async () => {
    const failures: unknown[] = [];
    const listener = await startListener(async (request) => echo(request).catch((error: { code: string }) => (failures.push(error.code), say(400))));
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', 'Transfer-Encoding: chunked') + '5\r\nhello\r\nzz\r\n');
    await client.ended();
    await vi.waitFor(() => expect(failures).toEqual(['registry/interrupted']));
  });
});

describe('an answer', () => {
  it('that nobody takes ends the connection', async () => {
    let isClosed = () => {};
    const closed = new Promise<void>((resolve) => (isClosed = resolve));
    const handler = async ({ signal }: RegistryRequest) => {
      signal.addEventListener('abort', isClosed);
      return stream(1e12, endless);
    };
    const listener = await startListener(handler, { limits: { idleMs: 100 } });
    const client = await connectRaw(listener);
    client.socket.pause();
    client.send(head('GET', '/'));
    await closed;
    expect(listener.countConnections()).toBe(0);
  });

  it('that is taken too slowly ends the connection', async () => {
    let isClosed = () => {};
    const closed = new Promise<void>((resolve) => (isClosed = resolve));
    const handler = async ({ signal }: RegistryRequest) => {
      signal.addEventListener('abort', isClosed);
      return stream(1e12, endless);
    };
    const listener = await startListener(handler, { limits: { idleMs: 10_000, rateMs: 100, leastRate: 1e12 } });
    const client = await connectRaw(listener);
    client.send(head('GET', '/'));
    await closed;
    await client.ended();
    expect(listener.countConnections()).toBe(0);
  });
});

describe('a connection', () => {
  it('without a request is ended after a while', async () => {
    const listener = await startWith({ keepAliveMs: 30, headerCheckMs: 10 });
    const client = await connectRaw(listener);
    client.send(head('GET', '/'));
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('is one of so many', async () => {
    const listener = await startWith({ connections: 2 });
    const clients = [await connectRaw(listener), await connectRaw(listener)];
    for (const client of clients) {
      client.send(head('GET', '/'));
      await client.until('200 OK');
    }
    const third = await connectRaw(listener);
    expect(await third.ended()).toBe('');
    expect(listener.countConnections()).toBe(2);
  });
});

describe('a body that nobody reads', () => {
  const refuse = async () => say(413, 'too large');

  it('is read on when it is small, and the connection goes on', async () => {
    const listener = await startListener(refuse);
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', 'Content-Length: 65536') + 'x'.repeat(65_536) + head('GET', '/', 'Connection: close'));
    const text = await client.ended();
    expect(text.match(/HTTP\/1\.1 413/g)).toHaveLength(2);
    expect(listener.countConnections()).toBe(0);
  });

  it.each([
    ['a length', 'Content-Length: 4000000', (body: string) => body],
    ['chunks', 'Transfer-Encoding: chunked', (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
  ])('closes the connection when it is large (%s), and the client sees the answer', async (_, field, frame) => {
    const client = await connectRaw(await startListener(refuse));
    client.send(head('PUT', '/', field));
    client.send(frame('x'.repeat(4_000_000)) + head('GET', '/smuggled'));
    const text = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 413 .*Connection: close\r\n.*too large$/s);
    expect(text.match(/HTTP\//g)).toHaveLength(1);
  });

  it.each([
    ['endless', {}],
    ['slow', {}],
  ])('is not read for ever when it is %s', async (kind) => {
    const client = await connectRaw(await startListener(refuse, { limits: { lingerBytes: 1_000_000, lingerMs: 50 } }));
    client.send(head('PUT', '/', 'Content-Length: 1000000000'));
    const more = () => void client.socket.write('x'.repeat(kind === 'slow' ? 1 : 100_000));
    const drip = setInterval(more, 2);
    client.socket.once('close', () => clearInterval(drip));
    expect(await client.ended()).toContain('HTTP/1.1 413');
  });

  it('is cut off when a few bytes of it do not come', async () => {
    const client = await connectRaw(await startListener(refuse, { limits: { lingerMs: 30 } }));
    client.send(head('PUT', '/', 'Content-Length: 10') + 'half');
    expect(await client.ended()).toContain('too large');
  });

  it('is left alone when the handler stopped half way', async () => {
    const handler = async ({ body }: RegistryRequest) => {
      for await (const chunk of body) return say(400, `after ${chunk.byteLength > 0}`);
      return say(200);
    };
    const client = await connectRaw(await startListener(handler));
    client.send(head('PUT', '/', 'Content-Length: 3000000'));
    client.send('x'.repeat(3_000_000));
    expect(await client.ended()).toMatch(/Connection: close\r\n.*after true$/s);
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (length: number) => head('PUT', '/', 'Expect: 100-continue', `Content-Length: ${length}`);

  it('is answered when the body is wanted', async () => {
    const client = await connectRaw(await startListener(echo));
    client.send(expecting(5));
    expect(await client.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('hello');
    await client.until('hello');
    expect(client.text()).toContain('HTTP/1.1 200 OK');
  });

  it('is not when it is not: the connection is closed, so that a body that comes all the same is no request', async () => {
    const targets: string[] = [];
    const client = await connectRaw(await startListener(async ({ target }) => (targets.push(target), say(401))));
    client.send(expecting(10) + head('GET', '/smuggled'));
    const text = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n.*Connection: close\r\n/s);
    expect(targets).toEqual(['/']);
  });
});

describe('closing', () => {
  it('ends connections without a request at once, and lets the others end', async () => {
    let isBegun = () => {};
    const begun = new Promise<void>((resolve) => (isBegun = resolve));
    const handler = async (request: RegistryRequest) => {
      if (request.target === '/slow') isBegun();
      return echo(request);
    };
    const listener = await listen(handler, { address: { host: '127.0.0.1', port: 0 } });
    const idle = await connectRaw(listener);
    const busy = await connectRaw(listener);
    const silent = await connectRaw(listener);
    idle.send(head('GET', '/'));
    await idle.until('200 OK');
    busy.send(head('PUT', '/slow', 'Content-Length: 4'));
    await begun;
    await vi.waitFor(() => expect(listener.countConnections()).toBe(3));
    const closed = listener.close(60_000);
    await idle.ended();
    busy.send('last');
    await closed;
    expect(await busy.ended()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n.*last$/s);
    await silent.ended();
    expect(listener.countConnections()).toBe(0);
    await expect(connectRaw(listener)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('cuts what takes too long, and what is read throws', async () => {
    const failures: unknown[] = [];
    let isBegun = () => {};
    const begun = new Promise<void>((resolve) => (isBegun = resolve));
    const listener = await listen(
      async (request) => {
        isBegun();
        return echo(request).catch((error: { code: string }) => (failures.push(error.code), say(400)));
      },
      { address: { host: '127.0.0.1', port: 0 } },
    );
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', 'Content-Length: 100') + 'begin');
    await begun;
    await listener.close(20);
    await client.ended();
    expect(failures).toEqual(['registry/interrupted']);
  });

  it('waits for no connection that never says anything', async () => {
    const listener = await startListener(echo);
    const client = await connectRaw(listener);
    const ended = once(client.socket, 'close');
    await vi.waitFor(() => expect(listener.countConnections()).toBe(1));
    await listener.close(60_000);
    await ended;
  });
});
