import { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { pattern, readAll } from '../../../../test/support/http-bench.js';
import { connectRaw, head, say, startListener } from '../../../../test/support/listen-bench.js';
import type { ByteStream } from '../../../core/index.js';
import { DirectLane, findLane } from './direct-lane.js';

const longBytes = 4 * 1024 * 1024;

const isShared = (chunk: Uint8Array) => chunk.byteLength === 0 || chunk.buffer instanceof SharedArrayBuffer;

/** What came before the stream failed, and how it failed. */
async function readUntilFailure(body: ByteStream): Promise<{ bytes: Buffer; failure: unknown }> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) chunks.push(Buffer.from(chunk));
    return { bytes: Buffer.concat(chunks), failure: undefined };
  } catch (failure) {
    return { bytes: Buffer.concat(chunks), failure };
  }
}

describe('a long body', () => {
  it.each([0, 1, 7, 65_536, 1_000_003])('of %i bytes more than need be comes whole, in memory that threads share', async (more) => {
    const bytes = pattern(longBytes + more);
    const listener = await startListener(async ({ body }) => {
      let shared = true;
      const watched = (async function* () {
        for await (const chunk of body) {
          shared &&= isShared(chunk);
          yield chunk;
        }
      })();
      return say(200, String((await readAll(watched)).equals(bytes) && shared));
    });
    const response = await fetch(listener.url, { method: 'PUT', body: new Uint8Array(bytes) });
    expect(await response.text()).toBe('true');
    expect(response.headers.get('connection')).toBe('close');
  });

  it('comes whole when a reader is slower than the client, and others read beside it', async () => {
    const bytes = pattern(3 * longBytes);
    const listener = await startListener(async ({ body }) => {
      const chunks: Buffer[] = [];
      for await (const chunk of body) {
        await new Promise((resolve) => setImmediate(resolve));
        chunks.push(Buffer.from(chunk));
      }
      return say(200, String(Buffer.concat(chunks).equals(bytes)));
    });
    const answers = Array.from({ length: 12 }, async () => (await fetch(listener.url, { method: 'PUT', body: new Uint8Array(bytes) })).text());
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['true']));
  });

  it('takes nothing of what a client sends behind it, and nobody answers that', async () => {
    const targets: string[] = [];
    const bytes = pattern(longBytes);
    const listener = await startListener(async ({ target, body }) => (targets.push(target), say(200, String((await readAll(body)).equals(bytes)))));
    const client = await connectRaw(listener);
    client.send(Buffer.concat([Buffer.from(head('PUT', '/long', `Content-Length: ${longBytes}`)), bytes, Buffer.from(head('GET', '/behind'))]));
    expect(await client.ended()).toMatch(/\r\nConnection: close\r\n[^]*\r\n\r\ntrue$/);
    expect(targets).toEqual(['/long']);
  });

  it('behind a short request on the same connection is read after it was answered', async () => {
    const bytes = pattern(longBytes);
    const listener = await startListener(async ({ target, body }) => say(200, `${target} ${(await readAll(body)).byteLength};`));
    const client = await connectRaw(listener);
    client.send(head('PUT', '/short', 'Content-Length: 2') + 'hi' + head('PUT', '/long', `Content-Length: ${longBytes}`));
    client.send(bytes);
    expect(await client.ended()).toMatch(new RegExp(`/short 2;[^]*/long ${longBytes};$`));
  });

  it('is asked for where the client waits to be told', async () => {
    const bytes = pattern(longBytes);
    const listener = await startListener(async ({ body }) => say(200, String((await readAll(body)).equals(bytes))));
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', `Content-Length: ${longBytes}`, 'Expect: 100-continue'));
    expect(await client.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send(bytes);
    expect(await client.ended()).toMatch(/true$/);
  });

  it.each([
    ['goes away', (socket: Socket) => void socket.destroy()],
    ['ends its half', (socket: Socket) => void socket.end()],
  ])('gives what came when the client %s, and then fails', async (_, leave) => {
    const bytes = pattern(longBytes);
    let told = (_result: { bytes: Buffer; failure: unknown }) => {};
    const result = new Promise<{ bytes: Buffer; failure: unknown }>((resolve) => (told = resolve));
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const listener = await startListener(async ({ body }) => {
      const counted = (async function* () {
        for await (const chunk of body) {
          begun();
          yield chunk;
        }
      })();
      told(await readUntilFailure(counted));
      return say(200);
    });
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', `Content-Length: ${longBytes}`));
    client.send(bytes.subarray(0, 3_000_000));
    await isBegun;
    leave(client.socket);
    const { bytes: came, failure } = await result;
    expect(failure).toMatchObject({ code: 'registry/interrupted' });
    expect(came.byteLength).toBeGreaterThan(0);
    expect(came.equals(bytes.subarray(0, came.byteLength))).toBe(true);
  });

  it('that is refused in the middle is read on for a while, so that the client sees the answer', async () => {
    const listener = await startListener(async ({ body }) => {
      for await (const chunk of body) if (chunk.byteLength > 0) break;
      return say(413, 'enough');
    });
    const client = await connectRaw(listener);
    client.send(head('PUT', '/', `Content-Length: ${2 * longBytes}`));
    client.send(pattern(2 * longBytes));
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 413 [^]*enough$/);
  });

  it('leaves no connection behind', async () => {
    const listener = await startListener(async ({ body }) => say(200, String((await readAll(body)).byteLength)), { limits: { connections: 1 } });
    for (let time = 0; time < 3; time++) {
      const client = await connectRaw(listener);
      client.send(head('PUT', '/', `Content-Length: ${longBytes}`));
      client.send(pattern(longBytes));
      expect(await client.ended()).toMatch(new RegExp(`${longBytes}$`));
      // The client may see the end before the server has put it away.
      await vi.waitFor(() => expect(listener.countConnections()).toBe(0), { interval: 1 });
    }
  });
});

describe('a connection', () => {
  it('goes on after a body that is not long', async () => {
    const listener = await startListener(async ({ body }) => say(200, `${(await readAll(body)).byteLength};`));
    const client = await connectRaw(listener);
    const short = pattern(longBytes - 1);
    client.send(head('PUT', '/', `Content-Length: ${short.byteLength}`));
    client.send(short);
    await client.until(`${short.byteLength};`);
    client.send(head('PUT', '/', 'Content-Length: 0', 'Connection: close'));
    expect(await client.ended()).toMatch(/\r\n\r\n0;$/);
  });

  it('without a handle that takes buffers stays as it is', () => {
    const socket = new Socket();
    expect(DirectLane.open(socket, 65_536)).toBe(socket);
    expect(findLane(socket)).toBeUndefined();
  });
});
