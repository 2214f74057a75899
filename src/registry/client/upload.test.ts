import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type BenchOptions,
  createBench,
  descriptorOf,
  digestOf,
  patternBytes,
  readAll,
  requestsOf,
  startBench,
  startRegistry,
  startTokens,
  toFile,
  toStream,
} from '../../../test/support/client-bench.js';
import type { BlobContent, BlobSource, TarContent } from '../../core/index.js';

const KiB = 1024;
const MiB = KiB * KiB;

const bytes = patternBytes(100_000);
const blob = descriptorOf(bytes);
const pieces: BenchOptions = { quirks: { chunkBytes: 16 * KiB } };

const tarOf = (content: BlobContent & { kind: 'file' }, compression: TarContent['compression']): TarContent => ({
  kind: 'tar',
  compression,
  members: [{ name: 'w.bin', mode: 0o644, mtime: 0, content }],
});

describe('a blob of known digest', () => {
  it('is asked for first, and not sent when it is there', async () => {
    const { registry, open, counters } = await startBench();
    registry.putBlob('demo/model', bytes);
    expect(await open().put(toFile(bytes), { expected: blob })).toEqual({ digest: blob.digest, size: blob.size, fresh: false });
    expect(requestsOf(registry)).toEqual([`HEAD blobs/${blob.digest} 200`]);
    expect(counters).toMatchObject({ read: 0, hashed: 0, sent: 0, skipped: blob.size });
  });

  it('is sent in one request when it is small, and not hashed', async () => {
    const { registry, open, counters } = await startBench();
    expect(await open().put(toFile(bytes), { expected: blob })).toMatchObject({ digest: blob.digest, fresh: true });
    expect(requestsOf(registry)).toEqual([`HEAD blobs/${blob.digest} 404`, 'POST blobs/uploads/ 202', 'PUT blobs/uploads/ID 201']);
    expect(registry.log[1]?.query.get('mount')).toBe(blob.digest);
    expect(counters).toMatchObject({ read: blob.size, hashed: 0, sent: blob.size, skipped: 0 });
  });

  it('is sent in pieces when it is not', async () => {
    const { registry, open, counters } = await startBench({}, pieces);
    await open().put(toFile(bytes), { expected: blob });
    expect(registry.count('PATCH')).toBe(7);
    expect(counters).toMatchObject({ read: blob.size, hashed: 0, sent: blob.size });
    expect(Buffer.from(registry.readBlob(blob.digest)).equals(bytes)).toBe(true);
  });
});

describe('a blob of unknown digest', () => {
  it('is hashed and asked for first when it is small', async () => {
    const { registry, open, counters } = await startBench();
    registry.putBlob('demo/model', bytes);
    expect(await open().put(toFile(bytes))).toMatchObject({ digest: blob.digest, fresh: false });
    expect(registry.log.map(({ method }) => method)).toEqual(['HEAD']);
    expect(counters).toMatchObject({ read: blob.size, hashed: blob.size, sent: 0, skipped: blob.size });
  });

  it.each([
    ['a large file', (large: Buffer) => toFile(large), 3 * MiB],
    ['a stream of known size', (large: Buffer) => toStream(large), 0],
  ])('is hashed while it goes out: %s', async (_what, toContent, read) => {
    const large = patternBytes(3 * MiB);
    const { registry, open, counters } = await startBench({}, { quirks: { chunkBytes: MiB } });
    expect(await open().put(toContent(large))).toEqual({ digest: digestOf(large), size: large.length, fresh: true });
    expect(registry.count('HEAD')).toBe(0);
    expect(registry.count('PATCH')).toBe(3);
    expect(counters).toMatchObject({ read, hashed: large.length, sent: large.length, resumed: 0 });
  });

  it.each(['none', 'gzip', 'zstd'] as const)('is a tar with compression %s', async (compression) => {
    const { registry, open } = await startBench({}, pieces);
    const { digest, size, diffId } = await open().put(tarOf(toFile(bytes) as BlobContent & { kind: 'file' }, compression));
    expect(descriptorOf(registry.readBlob(digest))).toMatchObject({ digest, size });
    expect(diffId).toBe(compression === 'none' ? digest : (await open().put(tarOf(toFile(bytes) as BlobContent & { kind: 'file' }, 'none'))).digest);
  });
});

describe('a blob that the registry has elsewhere', () => {
  it('is mounted from where it comes from', async () => {
    const { registry, open, counters } = await startBench();
    registry.putBlob('demo/source', bytes);
    const content = { kind: 'blob', blobs: open('demo/source'), descriptor: blob } as const;
    expect(await open().put(content, { expected: blob })).toMatchObject({ fresh: false });
    expect(Object.fromEntries(registry.log[1]?.query ?? [])).toEqual({ mount: blob.digest, from: 'demo/source' });
    expect(counters).toMatchObject({ sent: 0, received: 0, skipped: blob.size });
  });

  it('is mounted without saying from where', async () => {
    const { registry, open } = await startBench({}, pieces);
    registry.putBlob('demo/source', bytes);
    expect(await open().put(toFile(bytes), { expected: blob })).toMatchObject({ fresh: false });
    expect([registry.hasBlob('demo/model', blob.digest), registry.count('PATCH')]).toEqual([true, 0]);
  });

  it.each([400, 403, 404, 405])('is sent when the registry answers a mount by %d', async (status) => {
    const { registry, open } = await startBench({ failStatus: ({ query }) => (query.has('mount') ? status : undefined) });
    expect(await open().put(toFile(bytes), { expected: blob })).toMatchObject({ fresh: true });
    expect(registry.hasBlob('demo/model', blob.digest)).toBe(true);
  });

  it.each(['refuse', 'upload'] as const)('is sent when its source may not be read (%s)', async (mountWithoutRight) => {
    const rights = (_user: string | undefined, { name }: { name: string }) => (name === 'demo/model' ? ['pull', 'push'] : []);
    const server = await startTokens({ users: { ann: 'secret' }, rights });
    const registry = await startRegistry({ mountWithoutRight }, { auth: { kind: 'token', server } });
    registry.putBlob('demo/source', bytes);
    const { open } = createBench(registry.host, { logins: { [registry.host]: { kind: 'password', username: 'ann', password: 'secret' } } });
    const source = open('demo/source');
    // Read elsewhere, so that only the mount needs the right.
    const content = { kind: 'blob', blobs: Object.assign(source, { open: async () => [bytes] }) as unknown as BlobSource, descriptor: blob } as const;
    expect(await open().put(content, { expected: blob })).toMatchObject({ fresh: true });
    expect(registry.hasBlob('demo/model', blob.digest)).toBe(true);
  });
});

describe('a token that ends in the midst of a transfer', () => {
  it('is renewed', async () => {
    const server = await startTokens({ users: { ann: 'secret' } });
    const registry = await startRegistry({}, { auth: { kind: 'token', server } });
    const { open, counters } = createBench(registry.host, {
      ...pieces,
      logins: { [registry.host]: { kind: 'password', username: 'ann', password: 'secret' } },
    });
    let patches = 0;
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now');
    onTestFinished(() => clock.mockRestore());
    registry.behaviour.failStatus = ({ method }) => {
      if (method !== 'PATCH' || ++patches !== 3) return undefined;
      // One that is refused at once would be taken for a refusal of everything it might be renewed to.
      clock.mockImplementation(() => now() + 60_000);
      server.expireAll();
      return undefined;
    };
    await expect(open().put(toStream(bytes))).resolves.toMatchObject({ digest: blob.digest });
    expect(server.requests.length).toBe(2);
    expect(registry.log.map(({ status }) => status).filter((status) => status === 401).length).toBe(2);
    expect(counters.hashed).toBe(blob.size);
    expect(Buffer.from(registry.readBlob(blob.digest)).equals(bytes)).toBe(true);
  });
});

describe('many at once', () => {
  it('do not get in each other’s way', async () => {
    const { registry, open, counters } = await startBench({}, pieces);
    const all = Array.from({ length: 12 }, (_, seed) => patternBytes(60_000, seed + 2));
    const stored = await Promise.all(all.map((each, index) => open().put(index % 2 === 0 ? toStream(each) : toFile(each))));
    expect(stored.map(({ digest }) => digest)).toEqual(all.map((each) => digestOf(each)));
    expect(counters).toMatchObject({ sent: 12 * 60_000, hashed: 12 * 60_000 });
    for (const each of all) expect((await readAll(open().open(descriptorOf(each)))).equals(each)).toBe(true);
    expect(registry.uploads()).toEqual([]);
  });

  it('are cancelled together', async () => {
    const control = new AbortController();
    const { registry, open } = await startBench({}, { ...pieces, signal: control.signal });
    registry.behaviour.failStatus = ({ method }) => {
      if (method === 'PATCH') control.abort();
      return undefined;
    };
    const puts = Array.from({ length: 3 }, (_, seed) => open().put(toStream(patternBytes(60_000, seed + 2))));
    for (const result of await Promise.allSettled(puts)) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'core/cancelled' } });
  });
});
