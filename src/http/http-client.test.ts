import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { closing, createBenchClient, pattern, readAll, serve, serveRaw } from '../../test/support/http-bench.js';

describe('a request', () => {
  it('carries its headers and gives status, headers and body', async () => {
    const seen: Record<string, unknown>[] = [];
    const server = await serve((request, response) => {
      seen.push({ ...request.headers, method: request.method, url: request.url });
      response.writeHead(404, { 'X-Two': ['a', 'b'], 'content-type': 'text/plain' }).end('nothing');
    });
    const http = createBenchClient();
    const response = await http.send({ method: 'GET', url: `${server.url}/v2/?n=1#part`, headers: { range: 'bytes=1-' }, authorization: 'Bearer t' });
    expect(response).toMatchObject({ status: 404, url: `${server.url}/v2/?n=1`, headers: { 'x-two': 'a, b', 'content-type': 'text/plain' } });
    expect((await readAll(response.body)).toString()).toBe('nothing');
    expect(seen).toEqual([
      expect.objectContaining({
        method: 'GET',
        url: '/v2/?n=1',
        host: server.host,
        range: 'bytes=1-',
        authorization: 'Bearer t',
        'accept-encoding': 'identity',
        'user-agent': expect.stringMatching(/^modelport\/\d/),
      }),
    ]);
    expect(http.counters).toMatchObject({ requests: 1, received: 7, sent: 0 });
  });

  it('keeps its connection', async () => {
    const server = await serve((_, response) => response.setHeader('content-length', 1).end('x'));
    const http = createBenchClient();
    for (let turn = 0; turn < 3; turn++) await readAll((await http.send({ method: 'GET', url: server.url })).body);
    for (let turn = 0; turn < 2; turn++) await http.send({ method: 'HEAD', url: server.url });
    expect(server.connections).toBe(1);
    expect(http.counters.requests).toBe(5);
  });

  it('closes its connection when much of an answer is dropped', async () => {
    let closed: Promise<void> | undefined;
    const server = await serve((request, response) => {
      closed = closing(request.socket);
      response.end(pattern(50_000_000));
    });
    const http = createBenchClient();
    const response = await http.send({ method: 'GET', url: server.url });
    response.drop();
    await closed;
    await expect(readAll(response.body)).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect(http.counters.received).toBe(0);
  });

  it('does not take the rest of a dropped answer for its end', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '8' });
      response.write('half');
    });
    const response = await createBenchClient().send({ method: 'GET', url: server.url });
    const iterator = response.body[Symbol.asyncIterator]();
    expect(Buffer.from((await iterator.next()).value as Uint8Array).toString()).toBe('half');
    response.drop();
    response.drop();
    await expect(iterator.next()).rejects.toMatchObject({ code: 'registry/interrupted' });
  });

  it('sends a GET again when the server had closed the kept connection', async () => {
    let kept: Socket | undefined;
    const server = await serveRaw((socket, _, turn) => {
      if (turn === 2) return socket.resetAndDestroy();
      kept = socket;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
    const http = createBenchClient();
    const get = async () => (await readAll((await http.send({ method: 'GET', url: server.url })).body)).toString();
    expect([await get(), await get()]).toEqual(['ok', 'ok']);
    expect(kept?.destroyed).toBe(false);
    expect([server.connections, http.counters.requests]).toEqual([2, 2]);
  });

  it('never sends a POST again by itself', async () => {
    const server = await serveRaw((socket, _, turn) => {
      if (turn === 2) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n');
    });
    const http = createBenchClient();
    await readAll((await http.send({ method: 'POST', url: server.url })).body);
    await expect(http.send({ method: 'POST', url: server.url })).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect(server.connections).toBe(1);
  });

  it('does not pass on a header that would be two', async () => {
    const server = await serve((_, response) => response.end());
    const sent = createBenchClient().send({ method: 'GET', url: server.url, authorization: 'Bearer hunter2\r\nx: y' });
    await expect(sent).rejects.toMatchObject({ code: 'core/bug', message: expect.not.stringContaining('hunter2') });
    expect(server.connections).toBe(0);
  });

  it.each(['ftp://hub.test/', 'http://user:hunter2@hub.test/', 'hub.test', ''])('refuses the address %s', async (url) => {
    const sent = createBenchClient().send({ method: 'GET', url });
    await expect(sent).rejects.toMatchObject({ code: 'registry/bad-address', message: expect.not.stringContaining('hunter2') });
  });
});

describe('an answer', () => {
  const ask = async (answer: string, end = true) => {
    const server = await serveRaw((socket) => (end ? socket.end(answer, 'latin1') : socket.write(answer, 'latin1')));
    return createBenchClient().send({ method: 'GET', url: `${server.url}/blob?signature=hunter2` });
  };

  it.each([
    ['shorter than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'],
    ['without its last chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n'],
  ])('%s is an interruption', async (_, text) => {
    const { body } = await ask(text);
    const chunks: string[] = [];
    const read = async () => {
      for await (const chunk of body) chunks.push(Buffer.from(chunk).toString());
    };
    await expect(read()).rejects.toMatchObject({ code: 'registry/interrupted', message: expect.not.stringContaining('hunter2') });
    expect(chunks).toEqual(['short']);
  });

  it('may end with the connection when it has no length', async () => {
    const { body } = await ask('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nall of it');
    expect((await readAll(body)).toString()).toBe('all of it');
  });

  it('may come after interim ones', async () => {
    const { status } = await ask('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n');
    expect(status).toBe(204);
  });

  it.each([
    ['more than 32 interim ones', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(40)],
    ['a head of more than 32 KiB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(33 * 1024)}\r\n\r\n`],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
  ])('is refused when it is %s', async (_, text) => {
    await expect(ask(text, false)).rejects.toMatchObject({ code: 'registry/bad-answer', message: expect.not.stringContaining('hunter2') });
  });

  it('that never begins before the end is an interruption', async () => {
    await expect(ask('')).rejects.toMatchObject({ code: 'registry/interrupted', message: expect.not.stringContaining('hunter2') });
  });

  it('with a head just below the limit is taken', async () => {
    const { headers } = await ask(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(31 * 1024)}\r\ncontent-length: 0\r\n\r\n`);
    expect(headers['x']).toHaveLength(31 * 1024);
  });

  it('has no property that nobody sent', async () => {
    const { headers } = await ask('HTTP/1.1 200 OK\r\n__proto__: x\r\ncontent-length: 0\r\n\r\n');
    expect(Object.entries(headers)).toEqual([
      ['__proto__', 'x'],
      ['content-length', '0'],
    ]);
  });
});

describe('what cannot be reached', () => {
  it('is named with its port, and the query is not', async () => {
    const server = await serve(() => {});
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    const free = (socket.address() as { port: number }).port;
    socket.destroy();
    await closing(socket);
    const sent = createBenchClient().send({ method: 'GET', url: `http://127.0.0.1:${free}/?signature=hunter2` });
    await expect(sent).rejects.toMatchObject({
      code: 'registry/unreachable',
      message: `Cannot reach "127.0.0.1:${free}": nothing listens there`,
      hint: expect.any(String),
    });
  });

  it.each(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ETIMEDOUT'])('is unreachable by %s', async (code) => {
    const network = { resolve: () => Promise.reject(Object.assign(new Error(code), { code })), isPublic: () => true };
    for (const expectedBytes of [0, 1 << 20]) {
      const sent = createBenchClient({}, network).send({ method: 'GET', url: 'http://hub.test/', expectedBytes });
      await expect(sent).rejects.toMatchObject({ code: 'registry/unreachable', message: expect.stringContaining('"hub.test:80"') });
    }
  });
});

describe('a signal', () => {
  it('keeps a request from being sent', async () => {
    const server = await serve((_, response) => response.end());
    const sent = createBenchClient().send({ method: 'GET', url: server.url, signal: AbortSignal.abort() });
    await expect(sent).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(server.connections).toBe(0);
  });

  it('ends the wait for an answer, and the connection', async () => {
    const abort = new AbortController();
    let closed: Promise<unknown> | undefined;
    const server = await serve((request) => {
      closed = closing(request.socket);
      abort.abort();
    });
    await expect(createBenchClient().send({ method: 'GET', url: server.url, signal: abort.signal })).rejects.toMatchObject({
      code: 'core/cancelled',
    });
    await closed;
  });

  it('ends a body', async () => {
    const abort = new AbortController();
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('begin');
    });
    const { body } = await createBenchClient().send({ method: 'GET', url: server.url, signal: abort.signal });
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    const next = iterator.next();
    abort.abort();
    await expect(next).rejects.toMatchObject({ code: 'core/cancelled' });
  });
});
