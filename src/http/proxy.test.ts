import { once } from 'node:events';
import { createServer, type IncomingMessage, request as forward } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { certificate, closing, createBenchClient, pattern, readAll, serve, serveTls } from '../../test/support/http-bench.js';

const network = { resolve: () => Promise.reject(new Error('no look-up here')), isPublic: (address: string) => !address.startsWith('10.') };

/** A proxy that reaches every host on this machine, as `hub.test` exists nowhere. */
async function createProxy() {
  const seen: { method: string; target: string; authorization: string | undefined }[] = [];
  const note = ({ method, url, headers }: IncomingMessage) =>
    seen.push({ method: method ?? '', target: url ?? '', authorization: headers['proxy-authorization'] });
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    note(request);
    const { port, pathname } = new URL(request.url ?? '');
    request.pipe(
      forward({ port, host: '127.0.0.1', path: pathname, method: request.method, headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (request, socket: Socket) => {
    note(request);
    const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream);
    for (const end of [upstream, socket]) end.on('error', () => {});
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { seen, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('a proxy', () => {
  it('carries http, with its own login', async () => {
    const proxy = await createProxy();
    const bytes = pattern(2 << 20);
    const { port } = await serve((request, response) => void readAll(request).then((body) => response.end(body.byteLength > 0 ? body : bytes)));
    const http = createBenchClient({ env: { http_proxy: `http://user:p%40ss@${proxy.host}` } }, network);
    const url = `http://hub.test:${port}/v2/`;
    expect((await readAll((await http.send({ method: 'GET', url, expectedBytes: bytes.byteLength })).body)).equals(bytes)).toBe(true);
    const body = {
      size: 3,
      open: async () =>
        (async function* () {
          yield Buffer.from('abc');
        })(),
    };
    expect((await readAll((await http.send({ method: 'PUT', url, body })).body)).toString()).toBe('abc');
    const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(proxy.seen).toEqual(['GET', 'PUT'].map((method) => ({ method, target: url, authorization })));
  });

  it('carries https through a tunnel that is kept, and the login stays with it', async () => {
    const proxy = await createProxy();
    const logins: (string | undefined)[] = [];
    const server = await serveTls((request, response) => (logins.push(request.headers['proxy-authorization']), response.end('secret')));
    const http = createBenchClient({ env: { HTTPS_PROXY: `http://user:pass@${proxy.host}` }, tls: { insecure: true } }, network);
    for (let turn = 0; turn < 2; turn++) {
      expect((await readAll((await http.send({ method: 'GET', url: `https://hub.test:${server.port}/` })).body)).toString()).toBe('secret');
    }
    const authorization = `Basic ${Buffer.from('user:pass').toString('base64')}`;
    expect(proxy.seen).toEqual([{ method: 'CONNECT', target: `hub.test:${server.port}`, authorization }]);
    expect(logins).toEqual([undefined, undefined]);
  });

  it('does not stand between us and the proof of who is there', async () => {
    const proxy = await createProxy();
    const { port } = await serveTls((_, response) => response.end('secret'));
    const http = createBenchClient({ env: { HTTPS_PROXY: proxy.host }, tls: { ca: certificate.ca } }, network);
    await expect(http.send({ method: 'GET', url: `https://hub.test:${port}/` })).rejects.toMatchObject({ code: 'registry/untrusted' });
  });

  it('is not asked for this machine, nor for what NO_PROXY names', async () => {
    const proxy = await createProxy();
    const { url, port } = await serve((_, response) => response.end('direct'));
    const env = { ALL_PROXY: proxy.host, no_proxy: 'hub.test' };
    const direct = { ...network, resolve: async () => [{ address: '127.0.0.1', family: 4 }] };
    for (const address of [url, `http://hub.test:${port}/`]) {
      const response = await createBenchClient({ env }, direct).send({ method: 'GET', url: address });
      expect((await readAll(response.body)).toString()).toBe('direct');
    }
    expect(proxy.seen).toEqual([]);
  });

  it('is not asked for an inner address that a server outside named', async () => {
    const proxy = await createProxy();
    const { port } = await serve((_, response) => response.writeHead(307, { location: 'http://10.0.0.1/' }).end());
    const http = createBenchClient({ env: { http_proxy: proxy.host } }, network);
    await expect(http.send({ method: 'GET', url: `http://hub.test:${port}/` })).rejects.toMatchObject({ code: 'registry/bad-address' });
    expect(proxy.seen).toHaveLength(1);
  });

  it.each([
    ['http', 407, 'asks for a login'],
    ['https', 407, 'asks for a login'],
    ['https', 502, 'NO_PROXY'],
    ['https', 401, 'NO_PROXY'],
  ])('that answers %s with %i is not taken for the server', async (scheme, status, hint) => {
    const server = createNetServer((socket) => {
      socket
        .on('error', () => {})
        .once('data', () => socket.end(`HTTP/1.1 ${status} No\r\nwww-authenticate: Bearer realm="http://x/"\r\ncontent-length: 0\r\n\r\n`));
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const http = createBenchClient({ env: { ALL_PROXY: `http://user:hunter2@${host}` } }, network);
    const error: unknown = await http.send({ method: 'GET', url: `${scheme}://hub.test/` }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'registry/unreachable',
      message: `Cannot reach "hub.test:${scheme === 'http' ? 80 : 443}": the proxy "${host}" answered ${status}`,
      hint: expect.stringContaining(hint),
    });
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  it('that does not answer is given up, and so is its connection', async () => {
    let closed: Promise<unknown> | undefined;
    const server = createNetServer((socket) => {
      closed = closing(socket.on('error', () => {}).resume());
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const http = createBenchClient({ env: { HTTPS_PROXY: `http://user:hunter2@${host}` }, timeouts: { connect: 50, stall: 5000 } }, network);
    await expect(http.send({ method: 'GET', url: 'https://hub.test/' })).rejects.toMatchObject({
      code: 'registry/unreachable',
      message: `Cannot reach "hub.test:443": no connection through the proxy "${host}" within 0.05 s`,
    });
    await closed;
    expect(closed).toBeDefined();
  });

  it('that is not there is unreachable', async () => {
    const server = createNetServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    await closing(server.close());
    for (const scheme of ['http', 'https']) {
      const http = createBenchClient({ env: { ALL_PROXY: `http://user:hunter2@127.0.0.1:${port}` } }, network);
      await expect(http.send({ method: 'GET', url: `${scheme}://hub.test/` })).rejects.toMatchObject({
        code: 'registry/unreachable',
        message: expect.not.stringContaining('hunter2'),
      });
    }
  });
});
