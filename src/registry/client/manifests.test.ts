import { describe, expect, it } from 'vitest';
import {
  createBench,
  descriptorOf,
  digestOf,
  makeManifest,
  patternBytes,
  readAll,
  startBench,
  startProxy,
  startRegistry,
} from '../../../test/support/client-bench.js';
import { serve } from '../../../test/support/http-bench.js';
import { defaultLimits } from '../../core/index.js';
import { mediaTypes } from '../../oci/index.js';

const layer = descriptorOf(patternBytes(1000));
const bytes = makeManifest(layer);
const descriptor = descriptorOf(bytes, mediaTypes.manifest);

/** A registry that answers every request for a manifest like this. */
const answering = async (headers: Readonly<Record<string, string>>, body: Uint8Array | string, status = 200) => {
  const server = await serve((_, response) => response.writeHead(status, headers).end(body));
  return createBench(server.host);
};

describe('a manifest by its tag', () => {
  it('is described by what it says and what it hashes to', async () => {
    const { registry, open } = await startBench();
    registry.putManifest('demo/model', 'v1', bytes);
    expect(await open().resolve('v1')).toEqual({ ...descriptor, artifactType: 'application/vnd.test.model' });
    expect(await open().resolve('v2')).toBeUndefined();
  });

  it('comes also without a digest in the header', async () => {
    const { registry, open } = await startBench({ dropContentDigest: true });
    registry.putManifest('demo/model', 'v1', bytes);
    expect(await open().resolve('v1')).toMatchObject(descriptor);
    expect(await open().findDigest('v1')).toBeUndefined();
  });

  it('is held against the digest in the header', async () => {
    const { registry, open } = await startBench({ wrongContentDigest: true });
    registry.putManifest('demo/model', 'v1', bytes);
    await expect(open().resolve('v1')).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
  });

  it('is asked for again when it breaks off', async () => {
    const registry = await startRegistry();
    const large = makeManifest(layer, { annotations: { text: 'x'.repeat(300_000) } });
    registry.putManifest('demo/model', 'v1', large);
    const proxy = await startProxy(registry, { kind: 'faults', down: { kind: 'cut', after: 100_000, how: 'reset', times: 2 } });
    const { open } = createBench(proxy.host);
    expect(await open().resolve('v1')).toMatchObject({ digest: digestOf(large) });
    expect(proxy.struck).toBe(2);
  });

  it.each([
    ['a web page', { 'content-type': 'text/html; charset=utf-8' }, '<!doctype html><p>Log in', 'registry/bad-answer'],
    ['a web page that calls itself otherwise', { 'content-type': mediaTypes.manifest }, '<html>', 'registry/bad-answer'],
    ['another type than it says', { 'content-type': mediaTypes.index }, bytes, 'oci/bad-manifest'],
    ['nothing', {}, '', 'core/bad-json'],
    ['other JSON', {}, '{"errors":[]}', 'oci/bad-manifest'],
    ['layers and manifests', {}, makeManifest(layer, { manifests: [] }), 'oci/bad-manifest'],
    ['a key that stands twice', {}, `{"schemaVersion":2,${bytes.toString().slice(1)}`, 'core/bad-json'],
  ])('is refused when it is %s', async (_what, headers, body, code) => {
    const { open } = await answering(headers, body);
    await expect(open().resolve('v1')).rejects.toMatchObject({ code });
  });

  it.each([undefined, 'application/json', 'text/plain; charset=utf-8', `${mediaTypes.manifest}; charset=utf-8`])(
    'may come as %j',
    async (contentType) => {
      const { open } = await answering(contentType === undefined ? {} : { 'content-type': contentType }, bytes);
      expect(await open().resolve('v1')).toMatchObject(descriptor);
    },
  );

  it('is read up to the limit, however long it is', async () => {
    const endless = await serve((_, response) => {
      response.writeHead(200, { 'content-type': mediaTypes.manifest });
      const pour = () => {
        while (response.write('x'.repeat(64 * 1024)));
        response.once('drain', pour);
      };
      pour();
    });
    const { open, counters } = createBench(endless.host, { limits: { ...defaultLimits, manifestBytes: 100_000 } });
    await expect(open().resolve('v1')).rejects.toMatchObject({ code: 'bytes/limit' });
    expect(counters.received).toBeLessThan(1_000_000);
  });
});

describe('a manifest by its digest', () => {
  it.each([
    ['is another one', makeManifest(layer, { artifactType: 'application/vnd.other' }), {}, 'bytes/digest-mismatch'],
    ['is called by another one', bytes, { 'docker-content-digest': digestOf(Buffer.from('x')) }, undefined],
    ['is a web page', '<html>', { 'content-type': 'text/html' }, 'registry/bad-answer'],
  ])('that %s is judged by the digest that was asked for', async (_what, body, headers, code) => {
    const { open } = await answering(headers, body);
    const found = open().findBlob(descriptor.digest);
    if (code === undefined) expect(await found).toMatchObject(descriptor);
    else await expect(found).rejects.toMatchObject({ code });
  });

  it('of sha512 is hashed by it', async () => {
    const digest = digestOf(bytes, 'sha512');
    const { open } = await answering({}, bytes);
    expect(await open().findBlob(digest)).toMatchObject({ digest });
    expect((await readAll(open().open({ ...descriptor, digest }))).equals(bytes)).toBe(true);
  });

  it('may lie among the blobs', async () => {
    const { registry, open } = await startBench();
    registry.putBlob('demo/model', bytes);
    expect((await readAll(open().open(descriptor))).equals(bytes)).toBe(true);
    await expect(readAll(open('demo/other').open(descriptor))).rejects.toMatchObject({ code: 'registry/not-found' });
  });
});

describe('a manifest on its way up', () => {
  it('keeps its bytes and its type', async () => {
    const { registry, open } = await startBench();
    registry.putBlob('demo/model', patternBytes(1000));
    const odd = Buffer.from(`${bytes.toString().replace('{', '{\n  ')}\n`);
    const stored = await open().put({ kind: 'bytes', bytes: odd }, { mediaType: mediaTypes.manifest });
    expect(stored).toEqual({ digest: digestOf(odd), size: odd.length, fresh: true });
    expect(registry.findManifest('demo/model', stored.digest)).toMatchObject({ mediaType: mediaTypes.manifest, bytes: odd });
  });

  it('is not sent when it is none, or not what was promised', async () => {
    const { registry, open } = await startBench();
    const put = (text: Uint8Array, expected = descriptor) =>
      open().put({ kind: 'bytes', bytes: text }, { mediaType: mediaTypes.manifest, expected: { digest: expected.digest, size: expected.size } });
    await expect(put(Buffer.from('{}'), descriptorOf(Buffer.from('{}')))).rejects.toMatchObject({ code: 'oci/bad-manifest' });
    await expect(put(Buffer.from('{}'))).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
    expect(registry.count('PUT')).toBe(0);
  });

  it('whose blobs are missing is refused with the reason', async () => {
    const { open } = await startBench();
    const put = open().put({ kind: 'bytes', bytes }, { mediaType: mediaTypes.manifest });
    await expect(put).rejects.toMatchObject({ code: 'registry/refused', message: expect.stringContaining('MANIFEST_BLOB_UNKNOWN') as string });
  });

  it('that the registry calls otherwise is not believed to have arrived', async () => {
    const { registry, open } = await startBench({ wrongContentDigest: true });
    registry.putBlob('demo/model', patternBytes(1000));
    const put = open().put({ kind: 'bytes', bytes }, { mediaType: mediaTypes.manifest });
    await expect(put).rejects.toMatchObject({ code: 'registry/bad-answer' });
  });
});
