import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  createBench,
  descriptorOf,
  patternBytes,
  quick,
  readAll,
  startBench,
  startProxy,
  startRegistry,
} from '../../../test/support/client-bench.js';
import { serve } from '../../../test/support/http-bench.js';
import type { Behaviour, Truncation } from '../../../test/support/registry/behaviour.js';

const MiB = 1024 * 1024;

/** Beyond a mebibyte they come by the way for long answers, below it by the ordinary one. */
const sizes = [
  ['short', patternBytes(100_000)],
  ['long', patternBytes(3 * MiB + 17)],
] as const;

/** Heads of answers are shorter than this. */
const headBytes = 1000;

describe.each(sizes)('a %s blob', (_kind, bytes) => {
  const blob = descriptorOf(bytes);

  const start = async (behaviour: Partial<Behaviour> = {}) => {
    const bench = await startBench(behaviour);
    bench.registry.putBlob('demo/model', bytes);
    return bench;
  };

  it('comes whole in one request, hashed on the way', async () => {
    const { open, registry, counters } = await start();
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
    expect(registry.log.map(({ method, range }) => [method, range])).toEqual([['GET', undefined]]);
    expect(counters).toMatchObject({ received: blob.size, hashed: blob.size, requests: 1 });
  });

  it('comes in part', async () => {
    const { open, registry } = await start();
    const range = { start: 10, end: bytes.length - 5 };
    expect((await readAll(open().open(blob, range))).equals(bytes.subarray(range.start, range.end))).toBe(true);
    expect((await readAll(open().open(blob, { start: bytes.length }))).length).toBe(0);
    expect(registry.log.every(({ status }) => status === 206)).toBe(true);
  });

  it.each([0, 1, headBytes, 0.5, 0.999])('goes on behind a cut at %d of its connection', async (at) => {
    const registry = await startRegistry();
    registry.putBlob('demo/model', bytes);
    const after = at > 0 && at < 1 ? Math.floor(at * bytes.length) : at;
    const proxy = await startProxy(registry, { kind: 'faults', down: { kind: 'cut', after, how: after % 2 === 0 ? 'reset' : 'close', times: 1 } });
    const { open, counters } = createBench(proxy.host);
    // What was never reached is not asked again.
    await createReached(open);
    proxy.plan = { kind: 'faults', down: { kind: 'cut', after, how: 'reset', times: 1 } };
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
    expect(proxy.struck).toBe(1);
    expect(counters.hashed).toBe(blob.size);
    expect(registry.log.at(-1)?.range === undefined).toBe(after < headBytes);
  });

  it('comes through a line that breaks again and again', async () => {
    const registry = await startRegistry();
    registry.putBlob('demo/model', bytes);
    const proxy = await startProxy(registry);
    const { open } = createBench(proxy.host);
    proxy.plan = { kind: 'faults', down: { kind: 'cut', after: Math.ceil(bytes.length / 5), how: 'reset' } };
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
    expect(proxy.struck).toBeGreaterThan(3);
  });

  it('goes on when the line falls silent', async () => {
    const registry = await startRegistry();
    registry.putBlob('demo/model', bytes);
    const proxy = await startProxy(registry, { kind: 'faults', down: { kind: 'stall', after: 50_000, times: 1 } });
    const { open } = createBench(proxy.host, { timeouts: { connect: 5000, stall: 150 } });
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
    expect([proxy.struck, registry.count('GET')]).toEqual([1, 2]);
  });

  it('comes from a server without ranges, also from its middle', async () => {
    const { open, registry } = await start({ ignoreRange: true });
    expect((await readAll(open().open(blob, { start: 40_000 }))).equals(bytes.subarray(40_000))).toBe(true);
    registry.behaviour.truncateBlob.set(blob.digest, { after: 60_000, framing: 'length', times: 'once' });
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
  });

  const truncations: readonly (readonly [Truncation['framing'], Truncation['times'], string | undefined])[] = [
    ['length', 'once', undefined],
    ['chunked', 'always', undefined],
    ['close', 'always', undefined],
    ['shorter', 'once', 'bytes/size-mismatch'],
    ['shorter', 'always', 'bytes/size-mismatch'],
  ];

  it.each(truncations)('cut short (%s, %s) is made whole or refused', async (framing, times, code) => {
    const { open, registry } = await start();
    const after = Math.floor(bytes.length / 4);
    registry.behaviour.truncateBlob.set(blob.digest, { after, framing, times });
    const read = readAll(open().open(blob));
    if (code !== undefined) return expect(read).rejects.toMatchObject({ code });
    expect((await read).equals(bytes)).toBe(true);
    expect(registry.log.map(({ range }) => range)).toContain(`bytes=${after}-${blob.size - 1}`);
  });

  it.each(['length', 'chunked', 'close', 'shorter'] as const)(
    'of which a part is always cut short (%s) is given up when nothing comes',
    async (framing) => {
      const { open, registry } = await start();
      registry.behaviour.truncateBlob.set(blob.digest, { after: 0, framing, times: 'always' });
      await expect(readAll(open().open(blob, { start: 1000, end: bytes.length }))).rejects.toMatchObject({ code: 'registry/interrupted' });
      expect(registry.count('GET')).toBeLessThanOrEqual(2 * quick.attempts);
    },
  );

  it('that is damaged on the way is found out, and right the next time', async () => {
    const { open, registry } = await start();
    registry.behaviour.corruptBlob.set(blob.digest, 'once');
    await expect(readAll(open().open(blob))).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
    registry.behaviour.corruptBlob.set(blob.digest, 'always');
    for (let turn = 0; turn < 2; turn++) await expect(readAll(open().open(blob))).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
  });

  const lies: readonly (readonly [string, Readonly<Record<string, string | undefined>>, string])[] = [
    ['another range', { 'content-range': `bytes 0-${bytes.length - 1001}/${bytes.length}` }, 'registry/bad-answer'],
    ['a range of another blob', { 'content-range': `bytes 1000-${bytes.length - 1}/${bytes.length + 1}` }, 'registry/bad-answer'],
    ['a longer range', { 'content-range': `bytes 1000-${bytes.length}/*` }, 'registry/bad-answer'],
    ['no range', { 'content-range': undefined }, 'registry/bad-answer'],
    ['half a range', { 'content-range': 'bytes 1000-' }, 'registry/bad-answer'],
  ];

  it.each(lies)('whose registry answers %s is refused', async (_what, headers, code) => {
    const { open } = await start({ headers: () => headers });
    await expect(readAll(open().open(blob, { start: 1000 }))).rejects.toMatchObject({ code });
  });

  it('that becomes another one in the midst is not spliced', async () => {
    const { open, registry } = await start();
    registry.behaviour.truncateBlob.set(blob.digest, { after: 30_000, framing: 'length', times: 'once' });
    registry.behaviour.headers = ({ range }): Record<string, string> => (range === undefined ? {} : { etag: '"another"' });
    await expect(readAll(open().open(blob))).rejects.toMatchObject({
      code: 'registry/bad-answer',
      message: expect.stringContaining('another one') as string,
    });
  });

  it.each(['W/"a"', undefined])('that is marked by %j or not at all goes on', async (etag) => {
    const { open, registry } = await start();
    registry.behaviour.truncateBlob.set(blob.digest, { after: 30_000, framing: 'length', times: 'once' });
    registry.behaviour.headers = ({ range }) => (range === undefined ? {} : { etag });
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
  });

  it('is not decoded, whatever its answer says', async () => {
    const { open } = await start({ headers: () => ({ 'content-encoding': 'gzip' }) });
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
  });

  it('is fetched from where the registry sends, without the login', async () => {
    const registry = await startRegistry({ blobRedirect: 'storage' }, { auth: { kind: 'basic', user: 'ann', password: 'secret' } });
    registry.putBlob('demo/model', bytes);
    const { open } = createBench(registry.host, { logins: { [registry.host]: { kind: 'password', username: 'ann', password: 'secret' } } });
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
    expect((await readAll(open().open(blob, { start: 1000, end: 2000 }))).equals(bytes.subarray(1000, 2000))).toBe(true);
    expect(registry.storage.log.length).toBeGreaterThan(1);
    for (const { headers } of registry.storage.log) expect(headers['authorization']).toBeUndefined();
    expect(registry.log.at(-1)?.headers['authorization']).toBe('Basic');
  });

  it('is not paid for with the login when the storage asks for one', async () => {
    const asked: (string | undefined)[] = [];
    const storage = await serve((request, response) => {
      asked.push(request.headers.authorization);
      response.writeHead(401, { 'www-authenticate': 'Basic realm="storage"', 'content-length': '0' }).end();
    });
    const registry = await startRegistry({ blobRedirect: () => `${storage.url}/x` }, { auth: { kind: 'basic', user: 'ann', password: 'secret' } });
    registry.putBlob('demo/model', bytes);
    const { open } = createBench(registry.host, { logins: { [registry.host]: { kind: 'password', username: 'ann', password: 'secret' } } });
    await expect(readAll(open().open(blob))).rejects.toMatchObject({ code: 'registry/login' });
    expect(new Set(asked)).toEqual(new Set([undefined]));
    expect(registry.log.length).toBe(2);
  });

  it('that the registry does not have is not there', async () => {
    const { open } = await startBench();
    await expect(readAll(open().open(blob))).rejects.toMatchObject({
      code: 'registry/not-found',
      message: expect.stringContaining('does not have it') as string,
    });
  });
});

describe('a server of its own kind', () => {
  const bytes = patternBytes(1_500_000);
  const blob = descriptorOf(bytes);
  const range = { start: 10, end: 1_400_000 };
  const wanted = bytes.subarray(range.start, range.end);
  const part = { 'content-range': `bytes ${range.start}-${range.end - 1}/${blob.size}` };

  const answering = async (answer: (range: string | undefined) => { status: number; headers: Record<string, string>; body: Uint8Array }) => {
    const server = await serve((request, response) => {
      const { status, headers, body } = answer(request.headers.range);
      response.writeHead(status, headers).end(body);
    });
    return createBench(server.host).open();
  };

  const longer = bytes.subarray(range.start, range.end + 5);

  it.each([
    ['more than the range', 206, { ...part, 'content-length': String(longer.length) }, longer],
    ['more than the range, in chunks', 206, part, longer],
    ['more than the blob', 200, {}, Buffer.concat([bytes, bytes])],
    ['another length', 200, { 'content-length': '5' }, bytes.subarray(0, 5)],
  ])('that sends %s is refused', async (_what, status, headers, body) => {
    const repository = await answering(() => ({ status, headers: headers, body }));
    const asked = status === 206 ? range : undefined;
    await expect(readAll(repository.open(blob, asked))).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
  });

  it('that sends less than the range is asked for the rest', async () => {
    const repository = await answering((asked) => {
      const start = Number(/\d+/.exec(asked ?? '')?.[0]);
      const headers = { 'content-range': `bytes ${start}-${range.end - 1}/${blob.size}` };
      return { status: 206, headers, body: bytes.subarray(start, Math.min(range.end, start + 500_000)) };
    });
    expect((await readAll(repository.open(blob, range))).equals(wanted)).toBe(true);
  });

  it('that encodes what it sends is refused', async () => {
    const repository = await answering(() => ({ status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync(bytes) }));
    await expect(readAll(repository.open(blob))).rejects.toMatchObject({ code: expect.stringMatching(/mismatch|interrupted/) as string });
  });

  it('that has only web pages is refused', async () => {
    const page = Buffer.from('<html>log in</html>');
    const repository = await answering(() => ({ status: 200, headers: { 'content-type': 'text/html' }, body: page }));
    await expect(readAll(repository.open(blob))).rejects.toMatchObject({ code: expect.stringMatching(/mismatch|interrupted/) as string });
  });

  it('that sends whole blobs only is not read through to a far part', async () => {
    const far = { ...blob, size: 200 * MiB };
    const repository = await answering(() => ({ status: 200, headers: {}, body: bytes }));
    await expect(readAll(repository.open(far, { start: 100 * MiB }))).rejects.toMatchObject({ code: 'registry/unsupported' });
  });
});

/** Makes sure that the client has spoken to the registry once. */
async function createReached(open: () => { has: (descriptor: ReturnType<typeof descriptorOf>) => Promise<boolean> }): Promise<void> {
  for (let turn = 0; turn < 3; turn++)
    await open()
      .has(descriptorOf(patternBytes(1)))
      .catch(() => false);
}
