import { describe, expect, it } from 'vitest';
import {
  type BenchOptions,
  createBench,
  descriptorOf,
  digestOf,
  patternBytes,
  startBench,
  startRegistry,
  toFile,
  toStream,
} from '../../../test/support/client-bench.js';
import { serve } from '../../../test/support/http-bench.js';
import type { Behaviour } from '../../../test/support/registry/behaviour.js';

const KiB = 1024;
const MiB = KiB * KiB;

const bytes = patternBytes(100_000);
const blob = descriptorOf(bytes);
const pieces: BenchOptions = { quirks: { chunkBytes: 16 * KiB } };

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
