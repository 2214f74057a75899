import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type BenchOptions,
  createBench,
  descriptorOf,
  digestOf,
  makeManifest,
  patternBytes,
  quick,
  readAll,
  requestsOf,
  startBench,
  startProxy,
  startRegistry,
  startTokens,
  toFile,
  toStream,
} from '../../../test/support/client-bench.js';
import { serve } from '../../../test/support/http-bench.js';
import type { Behaviour } from '../../../test/support/registry/behaviour.js';
import type { BlobContent, BlobSource, TarContent } from '../../core/index.js';
import { mediaTypes } from '../../oci/index.js';

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

/** (reference: registries that differ) */
describe('a registry that', () => {
  const odd: readonly (readonly [string, Partial<Behaviour>, number])[] = [
    ['takes no pieces', { chunked: 'refuse-416' }, 1],
    ['answers 201 to the first piece', { firstPatchAnswers201: true }, 7],
    ['gives relative addresses', { relativeLocation: true }, 7],
    ['gives addresses with a query', { locationWithQuery: true }, 7],
    ['gives relative addresses with a query', { relativeLocation: true, locationWithQuery: true }, 7],
    ['leaves out its port', { locationHost: '127.0.0.1' }, 7],
    ['says 0--1 of an empty upload', { emptyRange: '0--1' }, 7],
    ['says nothing of an empty upload', { emptyRange: 'absent' }, 7],
    ['mounts nothing', { acceptsMount: false }, 7],
    ['wants larger pieces', { chunkMinLength: 40 * KiB }, 3],
    ['wants pieces larger than the blob', { chunkMinLength: 400 * KiB }, 1],
  ];

  it.each(odd)('%s gets its blobs all the same', async (_what, behaviour, patches) => {
    const { registry, open } = await startBench(behaviour, pieces);
    expect(await open().put(toFile(bytes), { expected: blob })).toMatchObject({ digest: blob.digest, fresh: true });
    expect(await open('demo/other').put(toStream(bytes))).toMatchObject({ digest: blob.digest });
    expect(await open('demo/third').put(toStream(bytes, { size: false }))).toMatchObject({ digest: blob.digest });
    const repositories = ['demo/model', 'demo/other', 'demo/third'];
    expect(repositories.map((name) => registry.hasBlob(name, blob.digest))).toEqual([true, true, true]);
    expect(registry.count('PATCH', 'demo/model')).toBe(patches);
  });

  it.each([
    ['a file', (large: Buffer) => toFile(large)],
    ['a stream of unknown size', (large: Buffer) => toStream(large, { size: false, chunkBytes: MiB })],
  ])('takes no pieces above 4 MiB gets them in one: %s', async (_what, toContent) => {
    const large = patternBytes(5 * MiB);
    const { registry, open } = await startBench({ chunked: 'refuse-above-4MiB' });
    expect(await open().put(toContent(large))).toMatchObject({ digest: digestOf(large), size: large.length });
    expect(registry.log.filter(({ method, status }) => method === 'PUT' && status === 201).map(({ requestBytes }) => requestBytes)).toEqual([
      large.length,
    ]);
  });

  it('is known to take no pieces is not asked to', async () => {
    const { registry, open, counters } = await startBench({ chunked: 'refuse-416' }, { quirks: { upload: 'monolithic', chunkBytes: 1 } });
    expect(await open().put(toStream(bytes))).toMatchObject({ digest: blob.digest });
    expect(await open('demo/other').put(toStream(patternBytes(10, 7), { size: false }))).toMatchObject({ size: 10 });
    expect(registry.count('PATCH')).toBe(0);
    expect(counters).toMatchObject({ hashed: blob.size + 10, sent: blob.size + 10 });
  });

  it('takes blobs up to a size gets no larger ones', async () => {
    const { registry, open } = await startBench({}, { quirks: { maxBlobBytes: 1000 } });
    await expect(open().put(toStream(bytes))).rejects.toMatchObject({ code: 'registry/refused', hint: 'Split the weights into shards' });
    expect(registry.log).toEqual([]);
  });

  it('takes uploads at another host gets them there, without the login', async () => {
    const arrived: { url: string; authorization: string | undefined }[] = [];
    const depot = await serve((request, response) => {
      arrived.push({ url: request.url ?? '', authorization: request.headers.authorization });
      request.resume().once('end', () => response.writeHead(201).end());
    });
    const registry = await startRegistry({}, { auth: { kind: 'basic', user: 'ann', password: 'secret' } });
    registry.behaviour.headers = ({ method }): Record<string, string> =>
      method === 'POST' ? { location: `http://localhost:${depot.port}/up?sig=a%2Fb` } : {};
    const { open } = createBench(registry.host, { logins: { [registry.host]: { kind: 'password', username: 'ann', password: 'secret' } } });
    await open().put(toFile(bytes), { expected: blob });
    expect(arrived).toEqual([{ url: `/up?sig=a%2Fb&digest=${encodeURIComponent(blob.digest)}`, authorization: undefined }]);
  });

  it.each(['ftp://127.0.0.1/x', 'http://ann:secret@localhost/x', '', 'http://'])('sends uploads to %j is not followed', async (location) => {
    const { registry, open } = await startBench();
    registry.behaviour.headers = ({ method }): Record<string, string | undefined> => (method === 'POST' ? { location } : {});
    const failure = await open()
      .put(toFile(bytes), { expected: blob })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: expect.stringMatching(/^registry\/bad-(address|answer)$/) as string });
    expect(String(failure)).not.toContain('secret');
    expect(registry.count('PUT')).toBe(0);
  });
});

describe('a registry in trouble', () => {
  /** Fails the first `times` requests that match. */
  const failing = (status: number, times: number, matches: (method: string) => boolean): Partial<Behaviour> => {
    let left = times;
    return { failStatus: ({ method }) => (matches(method) && left-- > 0 ? status : undefined) };
  };

  it.each([
    ['HEAD', 503],
    ['POST', 502],
    ['PATCH', 500],
    ['PATCH', 429],
    ['PUT', 504],
  ])('that answers %s by %d for a while gets the blob', async (verb, status) => {
    const { registry, open } = await startBench(
      failing(status, 2, (method) => method === verb),
      pieces,
    );
    expect(await open().put(toFile(bytes), { expected: blob })).toMatchObject({ fresh: true });
    const small = patternBytes(100, 9);
    expect(await open().put({ kind: 'bytes', bytes: small })).toMatchObject({ fresh: true });
    expect(registry.hasBlob('demo/model', blob.digest)).toBe(true);
  });

  it.each([
    ['POST', 503, 'registry/busy', quick.attempts],
    ['PATCH', 503, 'registry/busy', quick.attempts],
    ['PUT', 500, 'registry/interrupted', quick.attempts],
    ['POST', 403, 'registry/denied', 1],
    ['PATCH', 403, 'registry/denied', 1],
    ['PUT', 403, 'registry/denied', 1],
  ])('that answers every %s by %d is given up', async (verb, status, code, times) => {
    // The request that would mount is a POST of its own, and a refused one no reason to give up.
    const isStruck = (method: string) => method === verb;
    const { registry, open } = await startBench(failing(status, Infinity, isStruck), pieces);
    await expect(open().put(toStream(bytes))).rejects.toMatchObject({ code });
    expect(registry.count(verb)).toBe(times);
  });

  it('that takes pieces and confirms none is given up', async () => {
    const { registry, open } = await startBench({ headers: ({ method }) => (method === 'PATCH' ? { range: '0-0' } : {}) }, pieces);
    registry.behaviour.failStatus = ({ method }) => (method === 'GET' ? 404 : undefined);
    await expect(open().put(toStream(bytes))).rejects.toMatchObject({ code: 'registry/refused' });
    expect(registry.count('PATCH')).toBeLessThanOrEqual(2 * quick.attempts);
  });

  it('that forgets every upload after its first piece is given up', async () => {
    let patches = 0;
    const { registry, open } = await startBench({}, pieces);
    registry.behaviour.failStatus = ({ method }) => (method === 'GET' || (method === 'PATCH' && patches++ % 2 === 1) ? 404 : undefined);
    await expect(open().put(toStream(bytes))).rejects.toMatchObject({ code: 'registry/refused' });
    expect(registry.count('PATCH')).toBeLessThanOrEqual(3 * quick.attempts);
  });

  it('that lost one upload gets it anew, hashed once', async () => {
    let patches = 0;
    const { registry, open, counters } = await startBench({}, pieces);
    registry.behaviour.failStatus = ({ method }) => (method === 'PATCH' && ++patches === 4 ? 404 : undefined);
    const forget = registry.behaviour.failStatus;
    registry.behaviour.failStatus = (entry) => forget(entry) ?? (entry.method === 'GET' && patches === 4 ? 404 : undefined);
    expect(await open().put(toStream(bytes))).toMatchObject({ digest: blob.digest });
    expect(counters).toMatchObject({ hashed: blob.size });
    expect(registry.count('POST')).toBe(2);
  });

  it('whose answer to the end of an upload never came is asked whether the blob is there', async () => {
    const registry = await startRegistry();
    const proxy = await startProxy(registry);
    const { open } = createBench(proxy.host, pieces);
    let ends = 0;
    registry.behaviour.headers = ({ method }) => {
      // The blob is stored by now, and only the answer is on its way.
      if (method === 'PUT' && ++ends === 1) proxy.plan = { kind: 'faults', down: { kind: 'cut', after: 0, how: 'reset', times: 1 } };
      return {};
    };
    await expect(open().put(toStream(bytes))).resolves.toMatchObject({ digest: blob.digest });
    expect(requestsOf(registry).slice(-3)).toEqual(['PUT blobs/uploads/ID 201', 'PUT blobs/uploads/ID 404', `HEAD blobs/${blob.digest} 200`]);
  });

  it('that finds other bytes than were promised is believed', async () => {
    const { registry, open } = await startBench({}, pieces);
    const wrong = { digest: digestOf(patternBytes(3)), size: bytes.length };
    await expect(open().put(toStream(bytes), { expected: wrong })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    await expect(open().put({ kind: 'bytes', bytes }, { expected: wrong })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect(registry.uploads().length + registry.count('GET')).toBe(0);
  });

  it('that calls a blob otherwise is not believed', async () => {
    const { open } = await startBench({ wrongContentDigest: true });
    await expect(open().put(toFile(bytes), { expected: blob })).rejects.toMatchObject({ code: 'registry/bad-answer' });
  });

  it('that takes no such manifest says why', async () => {
    const { registry, open } = await startBench({ manifestLimit: 100 });
    registry.putBlob('demo/model', bytes);
    const put = open().put({ kind: 'bytes', bytes: makeManifest(blob) }, { mediaType: mediaTypes.manifest });
    await expect(put).rejects.toMatchObject({ code: 'registry/refused', message: expect.stringContaining('100 bytes') as string });
  });

  it('that wants its repositories made first says so', async () => {
    const refusalHint = 'Make the repository first';
    const { open } = await startBench({ failStatus: () => 404 }, { quirks: { refusalHint } });
    await expect(open().put(toStream(bytes))).rejects.toMatchObject({ code: 'registry/not-found', hint: refusalHint });
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
    const { now } = performance;
    const clock = vi.spyOn(performance, 'now');
    onTestFinished(() => clock.mockRestore());
    registry.behaviour.failStatus = ({ method }) => {
      if (method !== 'PATCH' || ++patches !== 3) return undefined;
      // One that is refused at once would be taken for a refusal of everything it might be renewed to.
      clock.mockImplementation(() => now.call(performance) + 60_000);
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
