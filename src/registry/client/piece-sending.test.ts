import { describe, expect, it } from 'vitest';
import {
  type BenchOptions,
  createBench,
  descriptorOf,
  digestOf,
  makeManifest,
  patternBytes,
  quick,
  requestsOf,
  startBench,
  startProxy,
  startRegistry,
  toFile,
  toStream,
} from '../../../test/support/client-bench.js';
import type { Behaviour } from '../../../test/support/registry/behaviour.js';
import { mediaTypes } from '../../oci/index.js';

const KiB = 1024;

const bytes = patternBytes(100_000);
const blob = descriptorOf(bytes);
const pieces: BenchOptions = { quirks: { chunkBytes: 16 * KiB } };

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
