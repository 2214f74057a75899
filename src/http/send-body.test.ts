import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ByteStream } from '../core/index.js';
import { closing, createBenchClient, pattern, readAll, serve, serveRaw } from '../../test/support/http-bench.js';

const stream = (chunks: readonly (string | Uint8Array)[]) => async () =>
  (async function* (): ByteStream {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();

describe('a body that is sent', () => {
  it.each([
    [5, { 'content-length': '5' }],
    [undefined, { 'transfer-encoding': 'chunked' }],
  ])('of size %s goes out whole', async (size, framing) => {
    const seen: IncomingHttpHeaders[] = [];
    const server = await serve((request, response) => {
      seen.push(request.headers);
      void readAll(request).then((bytes) => response.writeHead(201).end(bytes));
    });
    const http = createBenchClient();
    const open = stream(['be', '', 'gin']);
    const response = await http.send({ method: 'PUT', url: server.url, body: size === undefined ? { open } : { size, open } });
    expect((await readAll(response.body)).toString()).toBe('begin');
    expect(seen).toMatchObject([framing]);
    expect(http.counters).toMatchObject({ sent: 5, received: 5, requests: 1 });
  });

  it('of no bytes has a length all the same', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const server = await serve((request, response) => (seen.push(request.headers), response.end()));
    const http = createBenchClient();
    await http.send({ method: 'POST', url: server.url });
    await http.send({ method: 'PUT', url: server.url, body: { size: 0, open: stream([]) } });
    await http.send({ method: 'GET', url: server.url });
    expect(seen.map((headers) => headers['content-length'])).toEqual(['0', '0', undefined]);
  });

  it.each([
    ['too long', ['begin', 's'], 'at least 6'],
    ['too short', ['be'], '2'],
    ['empty', [], '0'],
  ])('that is %s is not sent to its end', async (_, chunks, found) => {
    let isWhole = false;
    const server = await serve((request) =>
      request
        .on('error', () => {})
        .on('end', () => (isWhole = true))
        .resume(),
    );
    const sent = createBenchClient().send({ method: 'PUT', url: server.url, body: { size: 5, open: stream(chunks) } });
    await expect(sent).rejects.toMatchObject({ code: 'bytes/size-mismatch', message: expect.stringContaining(`expected 5 bytes, found ${found}`) });
    expect(isWhole).toBe(false);
  });

  it.each([5, undefined])('that breaks (size %s) is told as it broke, and the server does not take it for whole', async (size) => {
    const failure = new Error('the disk is gone');
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let gone: Promise<unknown> | undefined;
    let isWhole = false;
    const server = await serve((request) => {
      gone = closing(request);
      begin();
      request
        .on('error', () => {})
        .on('end', () => (isWhole = true))
        .resume();
    });
    const open = async () =>
      (async function* (): ByteStream {
        yield Buffer.from('be');
        await begun;
        throw failure;
      })();
    const sent = createBenchClient().send({ method: 'PUT', url: server.url, body: size === undefined ? { open } : { size, open } });
    await expect(sent).rejects.toBe(failure);
    await gone;
    expect(isWhole).toBe(false);
  });

  it('that cannot be opened is told as it is', async () => {
    const server = await serve((_, response) => response.end());
    const failure = new Error('no such file');
    const sent = createBenchClient().send({ method: 'PUT', url: server.url, body: { size: 5, open: () => Promise.reject(failure) } });
    await expect(sent).rejects.toBe(failure);
  });

  it('may reuse a buffer as soon as the second next chunk is asked for', async () => {
    const bytes = pattern(24 << 20);
    const chunkBytes = 1 << 20;
    const server = await serve((request, response) => void readAll(request).then((all) => response.end(String(all.equals(bytes)))));
    const open = async () =>
      (async function* (): ByteStream {
        const ring = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)];
        for (let at = 0; at < bytes.byteLength; at += chunkBytes) {
          const buffer = ring[(at / chunkBytes) % 2] as Buffer;
          bytes.copy(buffer, 0, at);
          yield buffer;
        }
      })();
    const response = await createBenchClient().send({ method: 'PUT', url: server.url, body: { size: bytes.byteLength, open } });
    expect((await readAll(response.body)).toString()).toBe('true');
  });

  it.each([401, 413, 416])('is not sent on after an early answer %i, and its connection is not used again', async (status) => {
    const server = await serve((request, response) => {
      if (request.method === 'PUT') response.writeHead(status, { 'content-length': '3' }).end('no!');
      else response.end();
    });
    let isClosed = false;
    const open = async () =>
      (async function* (): ByteStream {
        try {
          for (;;) yield Buffer.alloc(1 << 20);
        } finally {
          isClosed = true;
        }
      })();
    const http = createBenchClient();
    const response = await http.send({ method: 'PUT', url: server.url, body: { size: 2 ** 40, open } });
    expect([response.status, isClosed]).toEqual([status, true]);
    expect((await readAll(response.body)).toString()).toBe('no!');
    await http.send({ method: 'HEAD', url: server.url });
    expect(server.connections).toBe(2);
  });

  it('gives an early answer while its source hangs', async () => {
    const server = await serve((_, response) => response.writeHead(401).end());
    const open = async () =>
      (async function* (): ByteStream {
        yield Buffer.from('x');
        await new Promise(() => {});
      })();
    const response = await createBenchClient().send({ method: 'PUT', url: server.url, body: { open } });
    expect(response.status).toBe(401);
  });

  it('that the server breaks off is an interruption', async () => {
    const server = await serveRaw((socket) => socket.resetAndDestroy());
    const open = async () =>
      (async function* (): ByteStream {
        for (;;) yield Buffer.alloc(1 << 20);
      })();
    await expect(createBenchClient().send({ method: 'PUT', url: server.url, body: { open } })).rejects.toMatchObject({
      code: 'registry/interrupted',
    });
  });

  it('is given up by a signal while its source hangs', async () => {
    const abort = new AbortController();
    const server = await serve((request) => request.once('data', () => abort.abort()));
    const open = async () =>
      (async function* (): ByteStream {
        yield Buffer.from('x');
        await new Promise(() => {});
      })();
    const sent = createBenchClient().send({ method: 'PUT', url: server.url, body: { open }, signal: abort.signal });
    await expect(sent).rejects.toMatchObject({ code: 'core/cancelled' });
  });
});
