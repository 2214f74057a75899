import { describe, expect, it } from 'vitest';
import { createBench, descriptorOf, makeManifest, patternBytes, startBench } from '../../../test/support/client-bench.js';
import { serve } from '../../../test/support/http-bench.js';
import type { Behaviour } from '../../../test/support/registry/behaviour.js';
import { defaultLimits } from '../../core/index.js';
import { mediaTypes } from '../../oci/index.js';
import type { RemoteRepository } from './repository.js';
import { toFallbackTag } from './referrers.js';

const layer = descriptorOf(patternBytes(1000));
const subjectBytes = makeManifest(layer);
const subject = descriptorOf(subjectBytes, mediaTypes.manifest);
const tag = toFallbackTag(subject.digest);

const start = async (behaviour: Partial<Behaviour> = {}) => {
  const bench = await startBench(behaviour);
  bench.registry.putBlob('demo/model', patternBytes(1000));
  bench.registry.putManifest('demo/model', 'v1', subjectBytes);
  return bench;
};

const attach = (repository: RemoteRepository, name: string, artifactType = 'application/vnd.test.signature') => {
  const bytes = makeManifest(layer, { subject, artifactType, annotations: { name } });
  return repository.put({ kind: 'bytes', bytes }, { mediaType: mediaTypes.manifest });
};

const namesOf = async (repository: RemoteRepository, artifactType?: string) =>
  (await repository.listReferrers(subject.digest, artifactType)).map(({ annotations }) => annotations?.['name']).toSorted();

describe.each([
  ['with the API', {}],
  ['with the API that filters nothing', { filtersReferrers: false }],
  ['with the API in pages', { referrersPageSize: 1 }],
  ['without the API', { referrers: false }],
])('a registry %s', (_what, behaviour) => {
  it('tells what was attached, all of it or by type', async () => {
    const { open } = await start(behaviour);
    expect(await namesOf(open())).toEqual([]);
    for (const name of ['a', 'b']) expect(await attach(open(), name)).toMatchObject({ fresh: true });
    const { digest } = await attach(open(), 'c', 'application/vnd.test.sbom');
    expect(await namesOf(open())).toEqual(['a', 'b', 'c']);
    expect(await namesOf(open(), 'application/vnd.test.sbom')).toEqual(['c']);
    expect(await namesOf(open(), 'application/vnd.test.none')).toEqual([]);
    expect(await open().listReferrers(subject.digest, 'application/vnd.test.sbom')).toEqual([
      expect.objectContaining({ digest, mediaType: mediaTypes.manifest, artifactType: 'application/vnd.test.sbom' }),
    ]);
  });

  it('tells no more of what was removed', async () => {
    const { open } = await start(behaviour);
    const { digest } = await attach(open(), 'a');
    await attach(open(), 'b');
    expect(await open().remove(digest)).toBe(true);
    expect(await namesOf(open())).toEqual(['b']);
  });

  it('tells of everything that many attach at once', async () => {
    const { open, registry } = await start(behaviour);
    const names = ['a', 'b', 'c', 'd'];
    const benches = names.map(() => createBench(registry.host));
    await Promise.all(benches.map(({ open: openOwn }, index) => attach(openOwn(), names[index] ?? '')));
    expect(await namesOf(open())).toEqual(names);
  });
});

describe('the tag that stands in for the API', () => {
  it('is named by the digest, and is no name of a package', async () => {
    const { open, registry } = await start({ referrers: false });
    await attach(open(), 'a');
    expect(tag).toBe(subject.digest.replace(':', '-'));
    expect(registry.findManifest('demo/model', tag)?.mediaType).toBe(mediaTypes.index);
    expect((await open().list()).map(({ name }) => name)).toEqual(['v1']);
  });

  it('gets the entry that a run did not come to write', async () => {
    const { open, registry } = await start({ referrers: false });
    registry.behaviour.failStatus = ({ method, path }) => (method === 'PUT' && path.endsWith(tag) ? 403 : undefined);
    await expect(attach(open(), 'a')).rejects.toMatchObject({ code: 'registry/denied' });
    registry.behaviour.failStatus = undefined;
    expect(await attach(open(), 'a')).toMatchObject({ fresh: false });
    expect(await namesOf(open())).toEqual(['a']);
  });

  it('is written again when another one wrote in between', async () => {
    const { open, registry } = await start({ referrers: false });
    const other = makeManifest(layer, { subject, artifactType: 'application/vnd.other', annotations: { name: 'other' } });
    const put = () => {
      const { digest, size } = registry.putManifest('demo/model', descriptorOf(other).digest, other);
      const entry = { mediaType: mediaTypes.manifest, digest, size, artifactType: 'application/vnd.other', annotations: { name: 'other' } };
      registry.putManifest('demo/model', tag, { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [entry] });
    };
    let reads = 0;
    registry.behaviour.headers = ({ method, path }) => {
      // The client is told of the state before, and finds out when it writes.
      if (method === 'GET' && path.endsWith(tag) && ++reads === 1) put();
      return {};
    };
    await attach(open(), 'a');
    expect(await namesOf(open())).toEqual(['a', 'other']);
  });

  it('is given up when others never let one write', async () => {
    const { open, registry } = await start({ referrers: false });
    registry.behaviour.failStatus = ({ method, path }) => (method === 'PUT' && path.endsWith(tag) ? 412 : undefined);
    await expect(attach(open(), 'a')).rejects.toMatchObject({ code: 'registry/refused', message: expect.stringContaining(tag) as string });
  });
});

describe('a list of referrers', () => {
  const answering = async (headers: Readonly<Record<string, string>>, body: string) => {
    const server = await serve((request, response) => {
      if (request.url?.includes('/referrers/') === true) response.writeHead(200, headers).end(body);
      else response.writeHead(404).end();
    });
    return createBench(server.host, { limits: { ...defaultLimits, manifestLayers: 10, manifestBytes: 10_000 } }).open();
  };
  const index = (count: number) =>
    JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: Array.from({ length: count }, () => subject) });

  it.each([
    ['a web page', { 'content-type': 'text/html' }, '<html>'],
    ['no list', { 'content-type': 'application/json' }, '{"errors":[]}'],
  ])('that is %s stands for a registry without the API', async (_what, headers, body) => {
    const repository = await answering(headers, body);
    expect(await repository.listReferrers(subject.digest)).toEqual([]);
  });

  it.each([
    ['goes in a circle', { link: '</v2/demo/model/referrers/x>; rel="next"' }, index(1), 'registry/bad-answer'],
    ['goes on at another host', { link: '<https://other.test/v2/>; rel="next"' }, index(1), 'registry/bad-answer'],
    ['has too many entries', { link: '</v2/demo/model/referrers/x>; rel="next"' }, index(6), 'bytes/limit'],
    ['has too many entries on one page', {}, index(11), 'oci/bad-manifest'],
    ['is too long', {}, ' '.repeat(20_000), 'bytes/limit'],
    ['is damaged', {}, '{"manifests":[', 'core/bad-json'],
    ['names no digest', {}, index(1).replace('sha256:', 'md5:'), 'oci/bad-manifest'],
  ])('that %s is refused', async (_what, headers, body, code) => {
    const repository = await answering(headers, body);
    await expect(repository.listReferrers(subject.digest)).rejects.toMatchObject({ code });
  });
});
