import { describe, expect, it } from 'vitest';
import { createBenchClient, readAll, serve } from '../../test/support/http-bench.js';
import type { Network } from './reach.js';

/** 127.0.0.1 stands for the Internet, 127.0.0.2 for the inside; `hub.test` is out there. */
function testNetwork(inside: readonly string[] = ['127.0.0.2']): Network {
  const names: Record<string, readonly string[]> = {
    'hub.test': ['127.0.0.1'],
    'inside.test': ['127.0.0.2'],
    'both.test': ['127.0.0.1', '127.0.0.2'],
  };
  return {
    resolve: async (host) => (names[host] ?? []).map((address) => ({ address, family: 4 })),
    isPublic: (address) => !inside.includes(address),
  };
}

const long = 1 << 20;

describe.each([0, long])('addresses that a server names (long way from %i bytes on)', (expectedBytes) => {
  const setUp = async (target: string, network: Network, status = 307) => {
    const inner = await serve((_, response) => response.end('inside'), '127.0.0.2');
    const outer = await serve((request, response) => {
      if (request.url === '/end') response.end('outside');
      else response.writeHead(status, { location: target.replace('PORT', String(target.includes('/end') ? outer.port : inner.port)) }).end();
    });
    return { inner, outer, http: createBenchClient({}, network) };
  };

  it.each(['http://inside.test:PORT/', 'http://127.0.0.2:PORT/', 'http://2130706434:PORT/', 'http://both.test:PORT/'])(
    'are refused inside: %s',
    async (target) => {
      const { inner, outer, http } = await setUp(target, testNetwork());
      const sent = http.send({ method: 'GET', url: `http://hub.test:${outer.port}/`, expectedBytes });
      await expect(sent).rejects.toMatchObject({ code: 'registry/bad-address', message: expect.stringContaining('private network') });
      expect(inner.connections).toBe(0);
    },
  );

  it('are followed outside', async () => {
    const { outer, http } = await setUp('http://127.0.0.1:PORT/end', testNetwork());
    const response = await http.send({ method: 'GET', url: `http://hub.test:${outer.port}/`, expectedBytes });
    expect((await readAll(response.body)).toString()).toBe('outside');
  });

  it('are followed inside when the server is there itself', async () => {
    const { outer, http } = await setUp('http://inside.test:PORT/', testNetwork(['127.0.0.1', '127.0.0.2']));
    const response = await http.send({ method: 'GET', url: `http://hub.test:${outer.port}/`, expectedBytes });
    expect((await readAll(response.body)).toString()).toBe('inside');
  });

  it('are not reached by a connection that was made for someone else', async () => {
    const { inner, outer, http } = await setUp('http://inside.test:PORT/', testNetwork());
    await readAll((await http.send({ method: 'GET', url: `http://inside.test:${inner.port}/`, expectedBytes })).body);
    const sent = http.send({ method: 'GET', url: `http://hub.test:${outer.port}/`, expectedBytes });
    await expect(sent).rejects.toMatchObject({ code: 'registry/bad-address' });
    expect(inner.connections).toBe(1);
  });

  it('stay refused when the name of the server moves inside later', async () => {
    let inside: readonly string[] = ['127.0.0.2'];
    const network: Network = { ...testNetwork(), isPublic: (address) => !inside.includes(address) };
    const { outer, http } = await setUp('http://inside.test:PORT/', network);
    const send = () => http.send({ method: 'GET', url: `http://hub.test:${outer.port}/`, expectedBytes });
    await expect(send()).rejects.toMatchObject({ code: 'registry/bad-address' });
    inside = ['127.0.0.1', '127.0.0.2'];
    await expect(send()).rejects.toMatchObject({ code: 'registry/bad-address' });
  });

  it.each([
    ['http://hub.test', false],
    ['http://inside.test', true],
    ['http://nowhere.test', false],
  ])('named by %s elsewhere than in a redirect: %s', async (foundAt, isAllowed) => {
    const { inner, http } = await setUp('', testNetwork());
    const sent = http.send({ method: 'GET', url: `http://127.0.0.2:${inner.port}/`, foundAt, expectedBytes }).then(({ status }) => status);
    await expect(sent.catch((error: { code: string }) => error.code)).resolves.toBe(isAllowed ? 200 : 'registry/bad-address');
  });

  it('may always be those of the server itself', async () => {
    const { inner, http } = await setUp('', testNetwork());
    const url = `http://127.0.0.2:${inner.port}`;
    expect((await http.send({ method: 'GET', url: `${url}/x`, foundAt: url, expectedBytes })).status).toBe(200);
  });

  it('stay refused over several hops', async () => {
    const inner = await serve((_, response) => response.end('inside'), '127.0.0.2');
    const network = testNetwork();
    const outer = await serve((request, response) => {
      const location = request.url === '/' ? `http://127.0.0.1:${outer.port}/next` : `http://inside.test:${inner.port}/`;
      response.writeHead(302, { location }).end();
    });
    const sent = createBenchClient({}, network).send({ method: 'GET', url: `http://hub.test:${outer.port}/`, expectedBytes });
    await expect(sent).rejects.toMatchObject({ code: 'registry/bad-address' });
    expect(inner.connections).toBe(0);
  });
});
