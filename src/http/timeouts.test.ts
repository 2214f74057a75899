import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromBytes } from '../bytes/index.js';
import { createBenchClient, passTime, pattern, readAll, serve, serveRaw } from '../../test/support/http-bench.js';

const timeouts = { connect: 5000, stall: 50 };

/** For what must not take too long: other work on this machine must not count. */
const patient = { connect: 5000, stall: 300 };
const long = 1 << 20;

describe.each([0, long])('time (long way from %i bytes on)', (expectedBytes) => {
  it('to connect is limited, the look-up included', async () => {
    const network = { resolve: () => new Promise<never>(() => {}), isPublic: () => true };
    const http = createBenchClient({ timeouts: { connect: 30, stall: 5000 } }, network);
    await expect(http.send({ method: 'GET', url: 'http://hub.test/', expectedBytes })).rejects.toMatchObject({
      code: 'registry/unreachable',
      message: 'Cannot reach "hub.test:80": no connection within 0.03 s',
    });
  });

  it('to connect is limited, the TLS handshake included', async () => {
    const server = await serveRaw(() => {});
    const http = createBenchClient({ timeouts: { connect: 30, stall: 5000 } });
    const sent = http.send({ method: 'GET', url: server.url.replace('http:', 'https:'), expectedBytes });
    await expect(sent).rejects.toMatchObject({ code: 'registry/unreachable', message: expect.stringContaining('within 0.03 s') });
  });

  it('to connect may be ended by a signal', async () => {
    const network = { resolve: () => new Promise<never>(() => {}), isPublic: () => true };
    const abort = new AbortController();
    const sent = createBenchClient({}, network).send({ method: 'GET', url: 'http://hub.test/', signal: abort.signal, expectedBytes });
    setImmediate(() => abort.abort());
    await expect(sent).rejects.toMatchObject({ code: 'core/cancelled' });
  });

  it('without a byte is limited before the answer', async () => {
    const server = await serve(() => {});
    const sent = createBenchClient({ timeouts }).send({ method: 'GET', url: server.url, expectedBytes });
    await expect(sent).rejects.toMatchObject({ code: 'registry/interrupted', message: expect.stringContaining('0.05 s') });
  });

  it('without a byte is limited in the middle of the answer, of which nothing is lost', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half');
    });
    const { body } = await createBenchClient({ timeouts }).send({ method: 'GET', url: server.url, expectedBytes });
    const iterator = body[Symbol.asyncIterator]();
    expect(Buffer.from((await iterator.next()).value as Uint8Array).toString()).toBe('half');
    await expect(iterator.next()).rejects.toMatchObject({ code: 'registry/interrupted', message: expect.stringContaining('0.05 s') });
  });

  it('that we take ourselves is not', async () => {
    const bytes = pattern(8 << 20);
    const server = await serve((_, response) => response.writeHead(200, { 'content-length': bytes.byteLength }).end(bytes));
    const { body } = await createBenchClient({ timeouts: patient }).send({ method: 'GET', url: server.url, expectedBytes });
    await passTime(2 * patient.stall);
    const iterator = body[Symbol.asyncIterator]();
    let size = 0;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
      if (size === 0) await passTime(2 * patient.stall);
      size += step.value.byteLength;
    }
    expect(size).toBe(bytes.byteLength);
  });

  it('is counted anew with each byte', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '12' });
      let left = 12;
      const timer = setInterval(() => (left-- > 0 ? response.write('x') : clearInterval(timer)), patient.stall / 10);
    });
    const { body } = await createBenchClient({ timeouts: patient }).send({ method: 'GET', url: server.url, expectedBytes });
    expect((await readAll(body)).toString()).toBe('x'.repeat(12));
  });
});

describe('time of a body that is sent', () => {
  async function* slowBody() {
    yield Buffer.from('be');
    await passTime(2 * patient.stall);
    yield Buffer.from('gin');
  }

  it('is not limited while the body is made', async () => {
    const server = await serve((request, response) => void readAll(request).then((bytes) => response.end(bytes)));
    const body = { size: 5, open: async () => slowBody() };
    const response = await createBenchClient({ timeouts: patient }).send({ method: 'PUT', url: server.url, body });
    expect((await readAll(response.body)).toString()).toBe('begin');
  });

  it('is limited while the server does not read', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).pause());
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    const chunk = pattern(1 << 20);
    let isClosed = false;
    const body = {
      size: 1 << 30,
      open: async () =>
        (async function* () {
          try {
            for (;;) yield chunk;
          } finally {
            isClosed = true;
          }
        })(),
    };
    const http = createBenchClient({ timeouts });
    const sent = http.send({ method: 'PUT', url: `http://127.0.0.1:${port}/`, body });
    await expect(sent).rejects.toMatchObject({ code: 'registry/interrupted', message: expect.stringContaining('0.05 s') });
    expect(isClosed).toBe(true);
    expect(http.counters.sent).toBeLessThan(1 << 30);
  });

  it('is limited while the answer is waited for', async () => {
    const server = await serve((request) => request.resume());
    const body = { size: 5, open: async () => fromBytes(Buffer.from('begin')) };
    const sent = createBenchClient({ timeouts }).send({ method: 'PUT', url: server.url, body });
    await expect(sent).rejects.toMatchObject({ code: 'registry/interrupted', message: expect.stringContaining('0.05 s') });
  });
});
