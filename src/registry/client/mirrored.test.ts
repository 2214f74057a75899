import { describe, expect, it } from 'vitest';
import { createBench, descriptorOf, makeManifest, patternBytes, readAll, startRegistry } from '../../../test/support/client-bench.js';
import { serve } from '../../../test/support/http-bench.js';
import type { Behaviour } from '../../../test/support/registry/behaviour.js';
import { mediaTypes } from '../../oci/index.js';

const bytes = patternBytes(50_000);
const blob = descriptorOf(bytes);
const manifest = makeManifest(blob);
const root = descriptorOf(manifest, mediaTypes.manifest);

/** An origin and a mirror that both have everything, the mirror below a prefix. */
const start = async (behaviour: Partial<Behaviour> = {}) => {
  const [origin, mirror] = await Promise.all([startRegistry(), startRegistry(behaviour)]);
  for (const [registry, name] of [
    [origin, 'demo/model'],
    [mirror, 'cache/demo/model'],
  ] as const) {
    registry.putBlob(name, bytes);
    registry.putManifest(name, 'v1', manifest);
  }
  const bench = createBench(origin.host, {
    mirrorsOf: (host) => (host === origin.host ? [`http://${mirror.host}/cache/`] : []),
    logins: { [origin.host]: { kind: 'password', username: 'ann', password: 'secret' } },
  });
  return { ...bench, origin, mirror, source: bench.client.source(origin.host, 'demo/model') };
};

describe('a mirror', () => {
  it('is asked first, and told for whom it stands', async () => {
    const { source, origin, mirror, warnings } = await start();
    expect(await source.resolve('v1')).toMatchObject(root);
    expect((await readAll(source.open(root))).equals(manifest)).toBe(true);
    expect((await readAll(source.open(blob))).equals(bytes)).toBe(true);
    expect((await readAll(source.open(blob, { start: 5, end: 9 }))).equals(bytes.subarray(5, 9))).toBe(true);
    expect(await source.findBlob(root.digest)).toMatchObject(root);
    expect(origin.log).toEqual([]);
    expect(mirror.log.every(({ query, path }) => query.get('ns') === origin.host && path.startsWith('/v2/cache/demo/model/'))).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('gets no login of the registry that it stands for', async () => {
    const asked: (string | undefined)[] = [];
    const mirror = await serve((request, response) => {
      asked.push(request.headers.authorization);
      response.writeHead(401, { 'www-authenticate': 'Basic realm="mirror"' }).end();
    });
    const origin = await startRegistry({}, { auth: { kind: 'basic', user: 'ann', password: 'secret' } });
    origin.putManifest('demo/model', 'v1', manifest);
    const { client, warnings } = createBench(origin.host, {
      mirrorsOf: (host) => (host === origin.host ? [mirror.host] : []),
      logins: { [origin.host]: { kind: 'password', username: 'ann', password: 'secret' } },
    });
    expect(await client.source(origin.host, 'demo/model').resolve('v1')).toMatchObject(root);
    expect(asked).toEqual([undefined]);
    expect(warnings.join()).toContain(mirror.host);
    expect(warnings.join()).not.toContain('secret');
  });

  it('that has nothing leaves it to the registry', async () => {
    const { source, origin, mirror } = await start({ failStatus: () => 404 });
    expect(await source.resolve('v1')).toMatchObject(root);
    expect((await readAll(source.open(blob))).equals(bytes)).toBe(true);
    expect(await source.resolve('v2')).toBeUndefined();
    expect(mirror.log.length).toBe(3);
    expect(origin.log.length).toBe(3);
  });

  it('that cannot be reached is asked once', async () => {
    const { source, origin, mirror, warnings } = await start();
    await mirror.close();
    for (let turn = 0; turn < 3; turn++) expect(await source.resolve('v1')).toMatchObject(root);
    expect(origin.log.length).toBe(3);
    expect(warnings.length).toBe(1);
  });

  it.each([500, 401, 403, 429])('that answers %d leaves it to the registry', async (status) => {
    const { source, warnings } = await start({ failStatus: () => status });
    expect(await source.resolve('v1')).toMatchObject(root);
    expect((await readAll(source.open(blob))).equals(bytes)).toBe(true);
    expect(warnings.length).toBeGreaterThan(0);
  });

  it('whose manifest is not what its digest says leaves it to the registry', async () => {
    const { source, mirror } = await start({ wrongContentDigest: true });
    expect(await source.resolve('v1')).toMatchObject(root);
    expect(mirror.log.length).toBe(1);
  });

  it('that gave wrong bytes is passed over when they are asked for again', async () => {
    const { source, origin, mirror } = await start();
    mirror.behaviour.corruptBlob.set(blob.digest, 'always');
    await expect(readAll(source.open(blob))).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect((await readAll(source.open(blob))).equals(bytes)).toBe(true);
    expect([mirror.count('GET'), origin.count('GET')]).toEqual([1, 1]);
  });

  it('is passed over for bytes that nobody verified when they are asked for again', async () => {
    const { source, origin, mirror } = await start();
    const whole = { start: 0, end: blob.size };
    for (let turn = 0; turn < 3; turn++) expect((await readAll(source.open(blob, whole))).equals(bytes)).toBe(true);
    expect([mirror.count('GET'), origin.count('GET')]).toEqual([1, 2]);
  });

  it('that breaks off for good in the midst is passed over afterwards', async () => {
    const { source, origin, mirror } = await start();
    let answers = 0;
    mirror.behaviour.truncateBlob.set(blob.digest, { after: 20_000, framing: 'length', times: 'once' });
    mirror.behaviour.failStatus = () => (++answers > 1 ? 500 : undefined);
    await expect(readAll(source.open(blob))).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect((await readAll(source.open(blob, { start: 20_000 }))).equals(bytes.subarray(20_000))).toBe(true);
    expect(origin.count('GET')).toBe(1);
  });

  it('is no place for what is written, listed or removed', async () => {
    const { source, mirror, open } = await start();
    expect((await source.list()).map(({ name }) => name)).toEqual(['v1']);
    expect(await source.has(blob)).toBe(true);
    expect(await source.listReferrers(root.digest)).toEqual([]);
    expect(await source.remove('v1')).toBe(true);
    await open().put({ kind: 'bytes', bytes: patternBytes(3) });
    expect(mirror.log).toEqual([]);
  });

  it.each(['', 'http://', 'a b', 'host.test/../x', 'ftp://host.test', 'host.test/A'])('at %j is refused', async (text) => {
    const { client, origin } = await start();
    const { client: other } = createBench(origin.host, { mirrorsOf: () => [text] });
    expect(client).not.toBe(other);
    expect(() => other.source(origin.host, 'demo/model')).toThrow(expect.objectContaining({ code: 'core/bad-location' }) as Error);
  });
});
