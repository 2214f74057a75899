import { once } from 'node:events';
import { request as requestTls } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { certificate, pattern, readAll } from '../../../../test/support/http-bench.js';
import { connectRaw, echo, head, say, startListener, stream } from '../../../../test/support/listen-bench.js';
import type { ByteStream } from '../../../core/index.js';
import type { RegistryRequest } from '../http.js';
import { listen } from './listen.js';

const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4);

async function* pieces(...chunks: readonly (string | Uint8Array)[]): ByteStream {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

describe('a request', () => {
  it('comes as it was sent', async () => {
    const seen: RegistryRequest[] = [];
    const listener = await startListener(async (request) => (seen.push(request), echo(request)));
    const client = await connectRaw(listener);
    client.send(head('PATCH', '/v2/a%2fb?x=%20', 'X-A: 1', 'x-a: 2', 'Content-Length: 5') + 'hello');
    await client.until('hello');
    expect(seen[0]).toMatchObject({ method: 'PATCH', target: '/v2/a%2fb?x=%20', client: { address: '127.0.0.1', isSecure: false } });
    expect(seen[0]?.headers).toEqual({ host: '127.0.0.1', 'x-a': '1, 2', 'content-length': '5' });
  });

  it.each([0, 1, 65_536, 262_144, 262_145, 5_000_003])('has a body of %i bytes, with a length or in pieces', async (length) => {
    const listener = await startListener(async ({ body }) => say(200, String((await readAll(body)).equals(bytes))));
    const bytes = pattern(length);
    for (const init of [
      { body: bytes },
      { body: new ReadableStream({ start: (c) => (length > 0 && c.enqueue(new Uint8Array(bytes)), c.close()) }), duplex: 'half' },
    ]) {
      const response = await fetch(listener.url, { method: 'PUT', ...init } as RequestInit);
      expect(await response.text()).toBe('true');
    }
  });

  it('that is large lies where a thread can hash it', async () => {
    const listener = await startListener(async ({ body }) => {
      let isShared = true;
      for await (const chunk of body) isShared &&= chunk.byteLength === 0 || chunk.buffer instanceof SharedArrayBuffer;
      return say(200, String(isShared));
    });
    expect(await (await fetch(listener.url, { method: 'PUT', body: new Uint8Array(3_000_000) })).text()).toBe('true');
  });

  it('is answered after the one before, when several are sent ahead', async () => {
    const order: string[] = [];
    const listener = await startListener(async (request) => {
      order.push(`begin ${request.target}`);
      const answer = await echo(request);
      order.push(`end ${request.target}`);
      return { ...answer, headers: { ...answer.headers, 'X-Target': request.target } };
    });
    const client = await connectRaw(listener);
    client.send(
      head('PUT', '/1', 'Content-Length: 3') +
        'one' +
        head('GET', '/2') +
        head('PUT', '/3', 'Transfer-Encoding: chunked') +
        '5\r\nthree\r\n0\r\n\r\n',
    );
    const text = await client.until('three');
    expect([...text.matchAll(/X-Target: (\/\d)/g)].map(([, target]) => target)).toEqual(['/1', '/2', '/3']);
    expect(order).toEqual(['begin /1', 'end /1', 'begin /2', 'end /2', 'begin /3', 'end /3']);
  });

  it('is the last when too many are sent ahead', async () => {
    let count = 0;
    const listener = await startListener(async (request) => (count++, echo(request)), { limits: { requestsAhead: 10 } });
    const client = await connectRaw(listener);
    client.send(head('GET', '/').repeat(50));
    await client.ended();
    expect(count).toBeLessThan(50);
  });
});

describe('an answer', () => {
  it('has the status, the fields and the bytes of the handler, and lets the connection go on', async () => {
    const listener = await startListener(async () => ({ ...say(202, 'hi'), headers: { 'Content-Length': '2', 'X-Tag': ['a', 'b'], 'X-One': 'c' } }));
    const client = await connectRaw(listener);
    for (let turn = 1; turn <= 3; turn++) {
      client.send(head('GET', '/'));
      while (client.text().split('\r\n\r\nhi').length <= turn) await once(client.socket, 'data');
    }
    expect(client.text()).toMatch(/^HTTP\/1\.1 202 Accepted\r\n/);
    expect(client.text()).toContain('Content-Length: 2\r\nX-Tag: a\r\nX-Tag: b\r\nX-One: c\r\n');
    expect(client.text()).not.toMatch(/access-control/i);
    expect(listener.countConnections()).toBe(1);
  });

  it('to HEAD has a length and no body', async () => {
    let isOpened = false;
    const listener = await startListener(async ({ target }) =>
      target === '/s' ? stream(7, () => ((isOpened = true), pieces('content'))) : say(200, 'content'),
    );
    const client = await connectRaw(listener);
    client.send(head('HEAD', '/') + head('HEAD', '/s', 'Connection: close'));
    const text = await client.ended();
    expect(text.match(/Content-Length: 7\r\n/g)).toHaveLength(2);
    expect(text).not.toContain('content\r\n');
    expect(text).toMatch(/\r\n\r\n$/);
    expect(isOpened).toBe(false);
  });

  it('of 204 has neither', async () => {
    const listener = await startListener(async () => ({ status: 204, headers: { Range: '0-1' }, subject: { endpoint: 'upload' } }));
    const client = await connectRaw(listener);
    client.send(head('GET', '/', 'Connection: close'));
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 204 No Content\r\nRange: 0-1\r\nDate: [^\r]*\r\nConnection: close\r\n\r\n$/);
  });

  it.each([30_000_007, undefined])('of a stream (length %s) comes whole, and buffers may be reused', async (length) => {
    const bytes = pattern(30_000_007);
    const open = async function* (): ByteStream {
      const ring = [Buffer.alloc(1 << 20), Buffer.alloc(1 << 20)];
      for (let at = 0, turn = 0; at < bytes.byteLength; turn++) {
        const buffer = ring[turn % 2] as Buffer;
        const count = bytes.copy(buffer, 0, at);
        at += count;
        yield buffer.subarray(0, count);
        if (turn === 3) yield new Uint8Array(0);
        // Now the chunk before may be overwritten.
      }
    };
    const listener = await startListener(async () => stream(length, open));
    const response = await fetch(listener.url);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it.each([
    ['breaks in the middle', 10, () => broken('begin')],
    ['is too short', 10, () => pieces('begin')],
    ['is too long', 10, () => pieces('begin', 'the rest of it')],
    ['breaks, and has no length', undefined, () => broken('begin')],
  ])('that %s is cut off, so that nobody takes it for whole', async (_, length, open) => {
    const told: string[] = [];
    const listener = await startListener(async () => stream(length, open), { announce: (problem) => told.push(problem) });
    const client = await connectRaw(listener);
    client.send(head('GET', '/'));
    const text = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    if (length === undefined) expect(text).not.toContain('\r\n0\r\n');
    else expect(bodyOf(text).length).toBeLessThan(length);
    expect(told).toEqual([expect.stringMatching(/^Cannot answer GET: /)]);
  });

  it.each([
    ['a stream that cannot be opened', async () => ({ ...say(200), body: () => Promise.reject(new Error('secret path')) })],
    ['a stream whose first step fails', async () => stream(9, () => broken())],
    ['bytes of another length than was said', async () => ({ ...say(200, 'abc'), headers: { 'Content-Length': '4' } })],
    ['a field that cannot be sent', async () => ({ ...say(200), headers: { 'X-Bad': 'a\r\nb' } })],
    ['a handler that throws', () => Promise.reject(new Error('secret path'))],
  ])('instead of %s is an error, and the connection goes on', async (_, handler) => {
    const told: string[] = [];
    const listener = await startListener(handler, { announce: (problem) => told.push(problem) });
    const client = await connectRaw(listener);
    client.send(head('GET', '/'));
    await client.until('}]}');
    client.send(head('GET', '/', 'Connection: close'));
    const text = await client.ended();
    expect(text.match(/HTTP\/1\.1 500 .*?"code":"UNKNOWN"/gs)).toHaveLength(2);
    expect(text).not.toContain('secret');
    expect(told).toHaveLength(2);
  });
});

async function* broken(...before: readonly string[]): ByteStream {
  yield* pieces(...before);
  throw new Error('the disk is gone');
}

describe('a client that goes away', () => {
  it('ends the body with an error after what has come', async () => {
    let done = (_seen: unknown) => {};
    const seen = new Promise((resolve) => (done = resolve));
    const listener = await startListener(async ({ body, signal }) => {
      let bytes = 0;
      const failure: unknown = await (async () => {
        for await (const chunk of body) bytes += chunk.byteLength;
      })().catch((error: unknown) => error);
      done({ bytes, code: (failure as { code?: string }).code, isAborted: signal.aborted });
      return say(200);
    });
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', 'Content-Length: 1000000') + 'x'.repeat(300_001));
    client.socket.end();
    client.socket.destroySoon();
    expect(await seen).toEqual({ bytes: 300_001, code: 'registry/interrupted', isAborted: true });
  });

  it('aborts the signal and closes what was being sent', async () => {
    let isClosed = (_signal: AbortSignal) => {};
    const closed = new Promise<AbortSignal>((resolve) => (isClosed = resolve));
    const told: string[] = [];
    const handler = async ({ signal }: RegistryRequest) =>
      stream(1e12, async function* (): ByteStream {
        try {
          for (;;) yield new Uint8Array(1 << 20);
        } finally {
          isClosed(signal);
        }
      });
    const listener = await startListener(handler, { announce: (problem) => told.push(problem) });
    const client = await connectRaw(listener);
    client.send(head('GET', '/'));
    await client.until('\r\n\r\n');
    client.socket.destroy();
    expect((await closed).aborted).toBe(true);
    expect(told).toEqual([]);
  });

  it('does not abort what was answered', async () => {
    const signals: AbortSignal[] = [];
    const listener = await startListener(async ({ signal }) => (signals.push(signal), say(200, 'ok')));
    const client = await connectRaw(listener);
    client.send(head('GET', '/', 'Connection: close'));
    await client.ended();
    await listener.close(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describe('TLS', () => {
  it('works, and the handler knows', async () => {
    const listener = await startListener(async ({ client }) => say(200, String(client?.isSecure)), {
      tls: { cert: certificate.cert, key: certificate.key },
    });
    expect(listener.url).toMatch(/^https:/);
    const request = requestTls(listener.url, { ca: certificate.ca }).end();
    const [response] = await once(request, 'response');
    expect((await readAll(response)).toString()).toBe('true');
  });

  it('is not spoken by everybody: those are cut off, and others go on', async () => {
    const listener = await startListener(async () => say(200, 'ok'), { tls: { cert: certificate.cert, key: certificate.key } });
    const plain = await connectRaw(listener);
    plain.send(head('GET', '/'));
    expect(await plain.ended()).not.toContain('HTTP/');
    const socket = connectTls(listener.address.port, '127.0.0.1', { ca: certificate.ca });
    await once(socket, 'secureConnect');
    socket.end(head('GET', '/', 'Connection: close'));
    expect((await readAll(socket)).toString()).toMatch(/^HTTP\/1\.1 200/);
  });

  it('needs a certificate that is one', async () => {
    const started = listen(async () => say(200), { address: { host: '127.0.0.1', port: 0 }, tls: { cert: 'x', key: certificate.key } });
    await expect(started).rejects.toMatchObject({ code: 'registry/cannot-listen', message: expect.not.stringContaining('PRIVATE') });
  });
});

it('says when a port is taken, and where it listens', async () => {
  const { address, url } = await startListener(async () => say(200));
  expect(url).toBe(`http://127.0.0.1:${address.port}`);
  await expect(listen(async () => say(200), { address })).rejects.toMatchObject({
    code: 'registry/cannot-listen',
    message: `Cannot listen on "127.0.0.1:${address.port}": another program listens there`,
    hint: expect.stringContaining('--listen'),
  });
});

it('listens on every address', async () => {
  const listener = await startListener(async () => say(200, 'ok'), { address: { host: '0.0.0.0', port: 0 } });
  expect(await (await fetch(listener.url)).text()).toBe('ok');
});
