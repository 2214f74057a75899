import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { certificate, closing, createBenchClient, passTime, pattern, readAll, serve, serveRaw, serveTls } from '../../../test/support/http-bench.js';

const long = 1 << 20;

/** An answer of one piece. */
const plain = (body: string | Buffer, extra = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${extra}\r\n`), Buffer.from(body)]);

const get = async (http: ReturnType<typeof createBenchClient>, url: string, signal?: AbortSignal) => {
  const response = await http.send({ method: 'GET', url, expectedBytes: long, signal });
  return { ...response, bytes: await readAll(response.body) };
};

describe('long answers', () => {
  it.each(['http', 'https'])('come whole over %s, by few chunks in shared memory', async (scheme) => {
    const bytes = pattern(20 * long + 17);
    const open = scheme === 'https' ? serveTls : serve;
    const server = await open((request, response) =>
      response.writeHead(206, { 'content-length': bytes.byteLength, 'x-range': request.headers.range }).end(bytes),
    );
    const http = createBenchClient({ tls: { ca: certificate.ca } });
    const headers = { range: 'bytes=0-' };
    const response = await http.send({
      method: 'GET',
      url: `${server.url}/a?b=c`,
      headers,
      authorization: 'Bearer t',
      expectedBytes: bytes.byteLength,
    });
    expect(response).toMatchObject({ status: 206, url: `${server.url}/a?b=c`, headers: { 'x-range': 'bytes=0-' } });
    let position = 0;
    let chunks = 0;
    for await (const chunk of response.body) {
      if (chunk.byteLength === 0) continue;
      expect(chunk.buffer).toBeInstanceOf(SharedArrayBuffer);
      expect(bytes.subarray(position, position + chunk.byteLength).equals(chunk)).toBe(true);
      position += chunk.byteLength;
      chunks++;
    }
    expect([position, chunks]).toEqual([bytes.byteLength, 81]);
    expect(http.counters).toMatchObject({ requests: 1, received: bytes.byteLength });
    response.drop();
  });

  it('send the same request as others do', async () => {
    const seen: Record<string, unknown>[] = [];
    const server = await serve((request, response) => {
      seen.push({ url: request.url, headers: request.headers });
      response.setHeader('content-length', 0).end();
    });
    for (const expectedBytes of [0, long]) {
      await createBenchClient().send({
        method: 'GET',
        url: `${server.url}/a%20b?c='`,
        headers: { 'x-key': 'k' },
        authorization: 'Bearer t',
        expectedBytes,
      });
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({ headers: { authorization: 'Bearer t', 'x-key': 'k', 'accept-encoding': 'identity' } });
  });

  it('keep their connection from one to the next, and let it go with the client', async () => {
    let closed: Promise<unknown> | undefined;
    const server = await serveRaw((socket, _, turn) => {
      closed ??= closing(socket);
      socket.write(plain(`turn ${turn}`));
    });
    const http = createBenchClient();
    const bodies = [];
    for (let turn = 0; turn < 3; turn++) bodies.push((await get(http, server.url)).bytes.toString());
    expect([bodies, server.connections]).toEqual([['turn 1', 'turn 2', 'turn 3'], 1]);
    http.close();
    await closed;
  });

  it.each([
    ['the server says so', plain('x', 'connection: close\r\n')],
    ['more came than was announced', Buffer.concat([plain('x'), Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil')])],
  ])('do not keep their connection when %s', async (_, answer) => {
    const server = await serveRaw((socket) => socket.write(answer));
    const http = createBenchClient();
    expect((await get(http, server.url)).bytes.toString()).toBe('x');
    expect((await get(http, server.url)).bytes.toString()).toBe('x');
    expect(server.connections).toBe(2);
  });

  it('get a new connection when the kept one is closed, but for that reason only', async () => {
    let last: Socket | undefined;
    const server = await serveRaw((socket, _, turn) => {
      if (turn === 2) return socket.destroy();
      last = socket;
      return turn === 4 ? socket.end('HTTP/1.1 200') : socket.write(plain(`turn ${turn}`));
    });
    const http = createBenchClient();
    expect((await get(http, server.url)).bytes.toString()).toBe('turn 1');
    expect((await get(http, server.url)).bytes.toString()).toBe('turn 3');
    expect([server.connections, http.counters.requests]).toEqual([2, 2]);
    await expect(get(http, server.url)).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect(last).toBeDefined();
  });

  it('do not use a connection that ended while it rested', async () => {
    let first: Socket | undefined;
    const server = await serveRaw((socket, _, turn) => {
      first ??= socket;
      socket.write(plain(`turn ${turn}`));
    });
    const http = createBenchClient();
    await get(http, server.url);
    const ended = closing(first!);
    first!.end('HTTP/1.1 408 Request Timeout\r\n\r\n');
    await ended;
    expect((await get(http, server.url)).bytes.toString()).toBe('turn 2');
    expect(server.connections).toBe(2);
  });

  it.each([
    ['in the head', 'HTTP/1.1 200 OK\r\ncontent-le', ''],
    ['before the body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n', ''],
    ['in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort', 'short'],
  ])('that end %s are interrupted, and give what came', async (_, answer, expected) => {
    const server = await serveRaw((socket) => socket.end(answer));
    let text = '';
    const read = async () => {
      const { body } = await createBenchClient().send({ method: 'GET', url: `${server.url}/?signature=hunter2`, expectedBytes: long });
      for await (const chunk of body) text += Buffer.from(chunk).toString();
    };
    await expect(read()).rejects.toMatchObject({ code: 'registry/interrupted', message: expect.not.stringContaining('hunter2') });
    expect(text).toBe(expected);
  });

  it.each([
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
    ['without a length', 'HTTP/1.1 200 OK\r\n\r\nabc'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nabc'],
  ])('%s are read by node:http, and the next ones at once', async (_, answer) => {
    const server = await serveRaw((socket) => socket.end(answer));
    const http = createBenchClient();
    expect((await get(http, server.url)).bytes.toString()).toBe('abc');
    expect(http.counters.requests).toBe(2);
    expect((await get(http, server.url)).bytes.toString()).toBe('abc');
    expect(http.counters.requests).toBe(3);
  });

  it.each([
    ['of more than 32 KiB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40 * 1024)}\r\ncontent-length: 3\r\n\r\nabc`],
    ['of more than 32 KiB with the interim ones', `${`HTTP/1.1 103 Hints\r\nx: ${'y'.repeat(1000)}\r\n\r\n`.repeat(40)}HTTP/1.1 204 No\r\n\r\n`],
    ['that two parsers read differently', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc'],
    ['of something else', 'SSH-2.0-OpenSSH_9.9\r\n\r\n'],
  ])('with a head %s are refused', async (_, answer) => {
    const server = await serveRaw((socket) => socket.write(answer));
    await expect(get(createBenchClient(), server.url)).rejects.toMatchObject({ code: 'registry/bad-answer' });
  });

  it('may turn out to be a refusal, which is an answer', async () => {
    const server = await serveRaw((socket) => socket.write('HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 2\r\n\r\n{}'));
    const http = createBenchClient();
    for (let turn = 0; turn < 2; turn++) {
      expect(await get(http, server.url)).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Basic' }, bytes: Buffer.from('{}') });
    }
    expect([server.connections, http.counters.requests]).toEqual([1, 2]);
  });

  it('end with their reader', async () => {
    const closed: Promise<unknown>[] = [];
    const server = await serve((request, response) => {
      closed.push(closing(request.socket));
      response.writeHead(200, { 'content-length': 100 * long });
      response.write(Buffer.alloc(2 * long));
    });
    const http = createBenchClient();
    const { body } = await http.send({ method: 'GET', url: server.url, expectedBytes: long });
    for await (const chunk of body) if (chunk.byteLength > 0) break;
    const second = await http.send({ method: 'GET', url: server.url, expectedBytes: long });
    second.drop();
    second.drop();
    await expect(readAll(second.body)).rejects.toMatchObject({ code: 'registry/interrupted' });
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it('end with a signal, before the answer and in it', async () => {
    const abort = new AbortController();
    const server = await serve((request, response) => {
      if (request.url === '/head') return abort.abort();
      response.writeHead(200, { 'content-length': 100 * long });
      response.write('begin');
    });
    const http = createBenchClient();
    await expect(get(http, `${server.url}/head`, abort.signal)).rejects.toMatchObject({ code: 'core/cancelled' });
    const second = new AbortController();
    const { body } = await http.send({ method: 'GET', url: server.url, expectedBytes: long, signal: second.signal });
    const read = readAll(body);
    second.abort();
    await expect(read).rejects.toMatchObject({ code: 'core/cancelled' });
  });

  it.each(['http', 'https'])('over %s wait for their reader', async (scheme) => {
    const open = scheme === 'https' ? serveTls : serve;
    let accepted = 0;
    const server = await open((_, response) => {
      response.writeHead(200, { 'content-length': 64 * long });
      const chunk = Buffer.alloc(64 * 1024);
      const write = () => {
        if (accepted < 64 * long) {
          accepted += chunk.byteLength;
          response.write(chunk, write);
        }
      };
      write();
    });
    const { body } = await createBenchClient({ tls: { ca: certificate.ca } }).send({ method: 'GET', url: server.url, expectedBytes: 64 * long });
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    // Until the server gets nothing more rid of.
    for (let before = -1; before !== accepted;) {
      before = accepted;
      await passTime(50);
    }
    expect(accepted).toBeLessThan(32 * long);
    let size = 0;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) size += step.value.byteLength;
    expect(size).toBe(64 * long - 256 * 1024);
  });

  it('are the same however they are cut', async () => {
    const body = pattern(3000);
    const answer = Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n'), plain(body, 'x: y\r\n')]);
    let cuts: readonly number[] = [];
    const server = createServer((socket) => {
      socket.setNoDelay().on('error', () => {});
      socket.on('data', () => {
        let from = 0;
        const next = (index: number): unknown => {
          const to = cuts[index] ?? answer.byteLength;
          const piece = answer.subarray(from, to);
          from = to;
          return socket.write(piece, () => (index < cuts.length ? setImmediate(() => next(index + 1)) : undefined));
        };
        next(0);
      });
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    const http = createBenchClient();
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: answer.byteLength - 1 }), { maxLength: 12 }), async (places) => {
        cuts = places.sort((a, b) => a - b);
        const { bytes, headers } = await get(http, `http://127.0.0.1:${port}/`);
        expect(bytes.equals(body)).toBe(true);
        expect(headers['x']).toBe('y');
      }),
      { numRuns: 60 },
    );
  });
});
