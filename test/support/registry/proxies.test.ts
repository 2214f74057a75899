import { createServer, connect, type Socket } from 'node:net';
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { startConnectProxy } from './connect-proxy.js';
import { type FlakyPlan, type FlakyProxy, startFlakyProxy } from './flaky-proxy.js';
import { listen } from './listen.js';
import { startTestRegistry } from './test-registry.js';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** In front of a server that says back what it hears. */
async function startEcho(plan?: FlakyPlan): Promise<FlakyProxy> {
  const echo = await listen(createServer((socket) => socket.on('error', () => {}).pipe(socket)));
  closers.push(() => echo.close());
  const proxy = await startFlakyProxy(`127.0.0.1:${echo.port}`, plan);
  closers.push(() => proxy.close());
  return proxy;
}

const dial = (proxy: FlakyProxy): Socket => connect(Number(proxy.host.split(':')[1]), '127.0.0.1');

/** What comes back, and how the connection ended. */
function say(proxy: FlakyProxy, words: string): Promise<{ readonly heard: string; readonly error: string | undefined }> {
  return new Promise((resolve) => {
    const socket = dial(proxy);
    let heard = '';
    let error: string | undefined;
    socket.on('data', (chunk) => (heard += chunk.toString()));
    socket.on('error', (problem: NodeJS.ErrnoException) => (error = problem.code));
    socket.on('close', () => resolve({ heard, error }));
    socket.end(words);
  });
}

describe('the flaky proxy', () => {
  it('passes everything on, and counts', async () => {
    const proxy = await startEcho();
    expect(await say(proxy, 'hello')).toEqual({ heard: 'hello', error: undefined });
    expect([proxy.bytes, proxy.connections]).toEqual([{ up: 5, down: 5 }, 1]);
  });

  it('cuts at the byte, as often as it should', async () => {
    const proxy = await startEcho({ kind: 'faults', down: { kind: 'cut', after: 3, how: 'reset', times: 1 } });
    expect((await say(proxy, 'hello')).heard).toBe('hel');
    expect((await say(proxy, 'hello')).heard).toBe('hello');
    proxy.plan = { kind: 'faults', down: { kind: 'cut', after: 2, how: 'close' } };
    expect(await say(proxy, 'hello')).toEqual({ heard: 'he', error: undefined });
    expect(proxy.struck).toBe(1);
  });

  it('flips, repeats and refuses', async () => {
    const proxy = await startEcho({ kind: 'faults', up: { kind: 'flip', at: 1 }, down: { kind: 'repeat', at: 4, length: 2 } });
    expect((await say(proxy, 'abcdef')).heard).toBe('accdcdef');
    proxy.plan = { kind: 'refuse', times: 1 };
    expect((await say(proxy, 'abc')).error).toBe('ECONNRESET');
    expect((await say(proxy, 'abc')).heard).toBe('abc');
  });

  it('stalls until it is told to break, also in open connections', async () => {
    const proxy = await startEcho();
    const socket = dial(proxy);
    const heard = () => new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
    socket.write('one');
    expect(await heard()).toBe('one');
    proxy.plan = { kind: 'faults', down: { kind: 'stall', after: 2 } };
    socket.write('two');
    expect(await heard()).toBe('tw');
    expect([proxy.open, proxy.struck]).toEqual([1, 1]);
    const ended = new Promise<string | undefined>((resolve) => socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code)));
    proxy.breakAll();
    expect(await ended).toBe('ECONNRESET');
  });
});

describe('the HTTP proxy', () => {
  it('tunnels and forwards for whom it knows, by its own map of names', async () => {
    const registry = await startTestRegistry();
    closers.push(() => registry.close());
    const proxy = await startConnectProxy({ user: { user: 'me', password: 'pw' }, routes: { 'models.example:80': registry.host } });
    closers.push(() => proxy.close());
    const [host = '', port] = proxy.host.split(':');
    const authorized = { 'proxy-authorization': `Basic ${Buffer.from('me:pw').toString('base64')}` };
    const ask = (options: object) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request({ host, port, agent: false, ...options });
        sent.on('response', (answer) => resolve(answer.resume().statusCode));
        sent.on('connect', (answer, socket) => {
          socket.destroy();
          resolve(answer.statusCode);
        });
        sent.on('error', reject);
        sent.end();
      });
    expect(await ask({ path: 'http://models.example/v2/' })).toBe(407);
    expect(await ask({ path: 'http://models.example/v2/', headers: authorized })).toBe(200);
    expect(await ask({ path: 'http://other.example/v2/', headers: authorized })).toBe(502);
    expect(await ask({ method: 'CONNECT', path: registry.host, headers: authorized })).toBe(200);
    expect(proxy.requests.map(({ kind, target, status }) => [kind, target, status])).toEqual([
      ['absolute', 'models.example:80', 407],
      ['absolute', 'models.example:80', 200],
      ['absolute', 'other.example:80', 502],
      ['connect', registry.host, 200],
    ]);
    expect(registry.log.map(({ path, headers }) => [path, headers['proxy-authorization']])).toEqual([['/v2/', undefined]]);
  });
});
