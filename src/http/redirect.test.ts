import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { certificate, createBenchClient, readAll, serve, serveTls } from '../../test/support/http-bench.js';
import type { HttpMethod } from './http.js';

/** Sends on to `location`, and remembers what came. */
function redirecting(location: string | ((url: string) => string), status = 307, seen: IncomingHttpHeaders[] = []): RequestListener {
  return (request, response) => {
    seen.push(request.headers);
    request.resume();
    request.on('end', () => {
      response.statusCode = status;
      response.setHeader('location', typeof location === 'string' ? location : location(request.url ?? ''));
      response.setHeader('content-length', 5).end('moved');
    });
  };
}

const secret = { authorization: 'Bearer t', headers: { 'x-key': 'k', accept: 'a/b', range: 'bytes=0-', 'if-range': '"e"', cookie: 'c' } } as const;

describe('redirects', () => {
  it.each([301, 302, 303, 307, 308])('%i is followed by GET and HEAD, the address may be relative', async (status) => {
    for (const method of ['GET', 'HEAD'] as const) {
      const server = await serve((request, response) =>
        request.url === '/v2/end?q=1' ? response.setHeader('content-length', 5).end('there') : redirecting('end?q=1', status)(request, response),
      );
      const http = createBenchClient();
      const response = await http.send({ method, url: `${server.url}/v2/start` });
      expect((await readAll(response.body)).toString()).toBe(method === 'GET' ? 'there' : '');
      expect(response).toMatchObject({ status: 200, url: `${server.url}/v2/end?q=1` });
      expect([http.counters.requests, server.connections]).toEqual([2, 1]);
    }
  });

  it.each([
    [301, false],
    [302, false],
    [303, false],
    [307, true],
    [308, true],
  ])('%i is followed with a body: %s', async (status, isFollowed) => {
    const bodies: string[] = [];
    const server = await serve((request, response) => {
      void readAll(request).then((bytes) => {
        bodies.push(bytes.toString());
        return request.url === '/end' ? response.writeHead(201).end() : response.writeHead(status, { location: '/end' }).end();
      });
    });
    let opened = 0;
    const body = {
      size: 4,
      open: async () => {
        opened++;
        return (async function* () {
          yield Buffer.from('body');
        })();
      },
    };
    const response = await createBenchClient().send({ method: 'PUT', url: `${server.url}/start`, body });
    expect(response.status).toBe(isFollowed ? 201 : status);
    expect(bodies).toEqual(isFollowed ? ['body', 'body'] : ['body']);
    expect(opened).toBe(bodies.length);
  });

  it.each<[HttpMethod, number, number]>([
    ['GET', 304, 304],
    ['GET', 300, 300],
    ['DELETE', 302, 302],
    ['POST', 307, 200],
  ])('%s with %i ends with %i', async (method, status, expected) => {
    const server = await serve((request, response) => (request.url === '/end' ? response.end() : redirecting('/end', status)(request, response)));
    expect((await createBenchClient().send({ method, url: server.url })).status).toBe(expected);
  });

  it('without a Location is an answer', async () => {
    const server = await serve((_, response) => response.writeHead(302).end('where?'));
    const response = await createBenchClient().send({ method: 'GET', url: server.url });
    expect([response.status, (await readAll(response.body)).toString()]).toEqual([302, 'where?']);
  });

  it('to another port loses every header that may be secret, and back again too', async () => {
    const first: IncomingHttpHeaders[] = [];
    const second: IncomingHttpHeaders[] = [];
    const other = await serve(redirecting((url) => `http://${url.slice(1)}/back`, 302, second));
    const server = await serve((request, response) =>
      request.url === '/back'
        ? (first.push(request.headers), response.end())
        : redirecting(`${other.url}/${request.headers.host}`, 302, first)(request, response),
    );
    for (const expectedBytes of [0, 1 << 20]) {
      first.length = 0;
      second.length = 0;
      await createBenchClient().send({ method: 'GET', url: server.url, ...secret, expectedBytes });
      expect(first[0]).toMatchObject({ authorization: 'Bearer t', 'x-key': 'k', cookie: 'c' });
      for (const headers of [second[0], first[1]]) {
        expect(headers).toMatchObject({ accept: 'a/b', range: 'bytes=0-', 'if-range': '"e"', 'user-agent': expect.any(String) });
        expect(Object.keys(headers ?? {}).filter((name) => ['authorization', 'x-key', 'cookie'].includes(name))).toEqual([]);
      }
    }
  });

  it('on the same origin keeps them', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const server = await serve((request, response) =>
      request.url === '/end' ? (seen.push(request.headers), response.end()) : redirecting('/end')(request, response),
    );
    await createBenchClient().send({ method: 'GET', url: server.url, ...secret });
    expect(seen).toMatchObject([{ authorization: 'Bearer t', 'x-key': 'k' }]);
  });

  it('are followed ten times, not eleven', async () => {
    const server = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      return left === 0 ? response.end() : redirecting(`/${left - 1}`)(request, response);
    });
    const http = createBenchClient();
    expect((await http.send({ method: 'GET', url: `${server.url}/10` })).status).toBe(200);
    await expect(http.send({ method: 'GET', url: `${server.url}/11` })).rejects.toMatchObject({ code: 'registry/bad-address' });
    expect(http.counters.requests).toBe(22);
  });

  it('from https to http are refused', async () => {
    const plain = await serve((_, response) => response.end());
    const server = await serveTls(redirecting(`${plain.url}/?signature=hunter2`));
    const http = createBenchClient({ tls: { ca: certificate.ca } });
    const refused = { code: 'registry/bad-address', message: expect.not.stringContaining('hunter2') };
    await expect(http.send({ method: 'GET', url: server.url })).rejects.toMatchObject(refused);
    await expect(http.send({ method: 'GET', url: plain.url, foundAt: server.url })).rejects.toMatchObject(refused);
    expect(plain.connections).toBe(0);
  });

  it.each(['ftp://hub.test/x', 'file:///etc/passwd', 'http://user:hunter2@127.0.0.1/', '//', 'http://[::1', 'javascript:alert(1)', 'http://'])(
    'to %s are refused',
    async (location) => {
      const server = await serve(redirecting(location));
      for (const expectedBytes of [0, 1 << 20]) {
        const sent = createBenchClient().send({ method: 'GET', url: server.url, expectedBytes });
        await expect(sent).rejects.toMatchObject({ code: 'registry/bad-address', message: expect.not.stringContaining('hunter2') });
      }
    },
  );
});
