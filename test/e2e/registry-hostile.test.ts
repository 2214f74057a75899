/**
 * What clients that mean it ill promise a registry: digests (R1), other bytes (R2), sizes (R3), and blobs that are not theirs (R26). Against a real server,
 * as `registry serve` makes it; at the end of each group an honest client is served.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLayout } from '../../src/store/layout.js';
import { type Answer, indexType, manifestType, pushBlob, pushPackage, sha256, toManifest } from '../support/ask-registry.js';
import { expectRefused, expectUntouched, type HostileBench, startHostileBench } from '../support/hostile-registry.js';

let bench: HostileBench;
beforeAll(async () => {
  bench = await startHostileBench();
  await bench.checkHonest();
});
afterAll(() => bench.close());

const ask: HostileBench['ask'] = (...question) => bench.ask(...question);
const putManifest = (target: string, body: string | Uint8Array, type = manifestType): Promise<Answer> =>
  ask('PUT', `/v2/${target}`, { headers: { 'Content-Type': type }, body });

async function begin(repository: string): Promise<string> {
  return (await ask('POST', `/v2/${repository}/blobs/uploads/`)).headers['location'] ?? '';
}

const hex = 'ab'.repeat(32);

describe('R1 digests', () => {
  afterAll(() => bench.checkHonest());

  const wrong = [
    'sha256:../../etc/passwd',
    'sha256:%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    `sha256:..%2f${'a'.repeat(61)}`,
    `sha256:${hex.toUpperCase()}`,
    `SHA256:${hex}`,
    'sha256:abc',
    'sha256:',
    `sha256:${hex}0`,
    `sha256:${hex}%00`,
    `sha256:${hex}%0a`,
    `sha256:%20${hex}`,
    `sha256:sha256:${hex}`,
    `sha512:${hex}`,
    `md5:${'a'.repeat(32)}`,
    `__proto__:${hex}`,
    `constructor:${hex}`,
    `sha256+b64:${hex}`,
    `:${hex}`,
    `sha256%3a${hex}%2f..`,
  ];

  it.each([...wrong, `sha256-${hex}`])('%s is no blob, no subject, nothing to mount or to finish with', async (digest) => {
    const location = await begin('r1/x');
    await expectUntouched(bench, async () => {
      for (const method of ['GET', 'HEAD', 'DELETE']) expectRefused(await ask(method, `/v2/r1/x/blobs/${digest}`), [400, 404, 405]);
      expectRefused(await ask('GET', `/v2/r1/x/referrers/${digest}`), [400, 404]);
      expectRefused(await ask('POST', `/v2/r1/x/blobs/uploads/?mount=${digest}&from=r1/y`), 400, 'DIGEST_INVALID');
      expectRefused(await ask('POST', `/v2/r1/x/blobs/uploads/?digest=${digest}`, { body: 'x' }), 400, 'DIGEST_INVALID');
      expectRefused(await ask('PUT', `${location}?digest=${digest}`, { body: 'x' }), 400, 'DIGEST_INVALID');
    });
    expect((await ask('DELETE', location)).status).toBe(204);
  });

  it.each(wrong)('%s is no manifest', async (digest) => {
    await expectUntouched(bench, async () => {
      for (const method of ['GET', 'HEAD', 'DELETE']) expectRefused(await ask(method, `/v2/r1/x/manifests/${digest}`), [400, 404, 405]);
      expectRefused(await putManifest(`r1/x/manifests/${digest}`, toManifest([]).text), [400, 404]);
      expectRefused(await putManifest(`r1/x/manifests/v1?digest=${digest}`, toManifest([]).text), 400);
      expectRefused(await putManifest('r1/x/manifests/v1', toManifest([]).text.replace(/sha256:\w+/, decodeURIComponent(digest))), 400);
    });
  });

  it.each(['md5', '__proto__', 'toString', '', '../sha256', 'SHA256', 'x'.repeat(5000)])('%j hashes no upload', async (algorithm) => {
    await expectUntouched(bench, async () => {
      expectRefused(await ask('POST', `/v2/r1/x/blobs/uploads/?digest-algorithm=${algorithm}`), 400, 'DIGEST_INVALID');
    });
  });
});

describe('R2 bytes that hash to something else', () => {
  afterAll(() => bench.checkHonest());

  const bytes = Buffer.from('these bytes are others');
  const promised = sha256('the bytes that were promised');
  const half = bytes.length / 2;
  const finish = (location: string, digest: string, body: Uint8Array | string = '', headers: Record<string, string> = {}) =>
    ask('PUT', `${location}?digest=${digest}`, { body, headers });
  const range = (from: number, to: number) => ({ 'Content-Range': `${from}-${to - 1}` });
  const styles: Readonly<Record<string, (repository: string, digest: string) => Promise<Answer>>> = {
    'in one POST': (repository, digest) => ask('POST', `/v2/${repository}/blobs/uploads/?digest=${digest}`, { body: bytes }),
    'by POST and PUT': async (repository, digest) => finish(await begin(repository), digest, bytes),
    'in chunks': async (repository, digest) => {
      const location = await begin(repository);
      await ask('PATCH', location, { headers: range(0, half), body: bytes.subarray(0, half) });
      await ask('PATCH', location, { headers: range(half, bytes.length), body: bytes.subarray(half) });
      return finish(location, digest);
    },
    'in chunks, the last with the PUT': async (repository, digest) => {
      const location = await begin(repository);
      await ask('PATCH', location, { headers: range(0, half), body: bytes.subarray(0, half) });
      return finish(location, digest, bytes.subarray(half), range(half, bytes.length));
    },
    'as a stream': async (repository, digest) => {
      const location = await begin(repository);
      const frame = `${bytes.length.toString(16)}\r\n${bytes.toString()}\r\n0\r\n\r\n`;
      await bench.sendRaw(`PATCH ${location} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${frame}`);
      return finish(location, digest);
    },
  };

  describe.each(Object.keys(styles))('pushed %s', (style) => {
    const push = (digest: string) => styles[style]?.('r2/wrong', digest) ?? Promise.reject(new Error(style));

    it.each([promised, `sha512:${'0'.repeat(128)}`])('leave nothing behind (%s)', async (digest) => {
      await expectUntouched(bench, async () => {
        expectRefused(await push(digest), 400, 'DIGEST_INVALID');
      });
      for (const each of [digest, sha256(bytes)]) expectRefused(await ask('GET', `/v2/r2/wrong/blobs/${each}`), 404, 'BLOB_UNKNOWN');
      expectRefused(await ask('GET', '/v2/r2/wrong/tags/list'), 404, 'NAME_UNKNOWN');
      expect((await ask('GET', '/v2/_catalog?n=1000')).json.repositories).not.toContain('r2/wrong');
    });
  });

  it('leave a blob of that digest as it was', async () => {
    await pushBlob(ask, 'r2/there', 'the bytes that were promised');
    expectRefused(await ask('POST', `/v2/r2/there/blobs/uploads/?digest=${promised}`, { body: bytes }), 400, 'DIGEST_INVALID');
    expect((await ask('GET', `/v2/r2/there/blobs/${promised}`)).bytes.toString()).toBe('the bytes that were promised');
  });

  it('are no manifest, by digest or by ?digest=', async () => {
    await pushBlob(ask, 'r2/there', '{}');
    await expectUntouched(bench, async () => {
      expectRefused(await putManifest(`r2/there/manifests/${promised}`, toManifest([]).text), 400, 'DIGEST_INVALID');
      expectRefused(await putManifest(`r2/there/manifests/v1?digest=${promised}`, toManifest([]).text), 400, 'DIGEST_INVALID');
    });
  });
});

describe('R3 sizes', () => {
  afterAll(() => bench.checkHonest());

  const sizes = ['-1', '-0.5', '9007199254740993', '1e999', '-1e999', '1.5', '"5"', 'null', 'true', '[5]', '{}', '4', '6', '0', '1e308'];
  const text = toManifest(['12345']).text;

  beforeAll(async () => void (await pushPackage(ask, 'r3/x', 'good', ['12345'])));

  it.each(sizes)('%s is not that of a layer of 5 bytes, nor of a config, a subject or a child', async (size) => {
    const subject = `{"mediaType":"${manifestType}","digest":"sha256:${hex}","size":${size}}`;
    const isInteger = ['4', '6', '0'].includes(size);
    await expectUntouched(bench, async () => {
      const refuse = async (body: string) => expectRefused(await putManifest('r3/x/manifests/v1', body), 400, 'MANIFEST_INVALID');
      await refuse(text.replace('"size":5', `"size":${size}`));
      await refuse(text.replace('"size":2', `"size":${size}`));
      if (!isInteger) await refuse(text.replace('"layers"', `"subject":${subject},"layers"`));
    });
    const child = subject.replace(hex, sha256(text).slice(7));
    expectRefused(await putManifest('r3/x/manifests/v1', `{"schemaVersion":2,"manifests":[${child}]}`, indexType), 400, 'MANIFEST_INVALID');
    expect((await ask('GET', '/v2/r3/x/tags/list')).json.tags).toEqual(['good']);
  });

  it('of a layer that may be left out are right all the same when it is there', async () => {
    await pushBlob(ask, 'r3/x', '12345');
    const type = 'application/vnd.oci.image.layer.nondistributable.v1.tar';
    const lie = text.replace('application/octet-stream', type).replace('"size":5', '"size":6');
    expectRefused(await putManifest('r3/x/manifests/v1', lie), 400, 'MANIFEST_INVALID');
    expect((await ask('GET', `/v2/r3/x/blobs/${sha256('12345')}`)).bytes.toString()).toBe('12345');
  });
});

describe('R26 blobs of other repositories', () => {
  afterAll(() => bench.checkHonest());

  const secret = 'weights that are not for everybody';
  const digest = sha256(secret);
  const { text, digest: manifest } = toManifest([secret]);
  beforeAll(async () => {
    await pushPackage(ask, 'r26/secret', 'v1', [secret]);
    await pushPackage(ask, 'r26/public', 'v1', ['for everybody']);
  });
  const expectHidden = async () => {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      expectRefused(await ask(method, `/v2/r26/public/blobs/${digest}`), 404, 'BLOB_UNKNOWN');
      expectRefused(await ask(method, `/v2/r26/public/manifests/${manifest}`), 404, 'MANIFEST_UNKNOWN');
    }
  };

  it.each(['bytes=0-3', 'bytes=-1', 'bytes=0-', 'bytes=1000-2000', 'bytes=0-0,2-3'])('are not read by range %s', async (Range) => {
    for (const method of ['GET', 'HEAD'])
      expectRefused(await ask(method, `/v2/r26/public/blobs/${digest}`, { headers: { Range } }), 404, 'BLOB_UNKNOWN');
  });

  it('are not confirmed by a condition', async () => {
    const headers = { 'If-None-Match': `"${digest}"`, 'If-Match': '*' };
    expectRefused(await ask('GET', `/v2/r26/public/blobs/${digest}`, { headers }), 404);
    expectRefused(await ask('GET', `/v2/r26/public/manifests/${manifest}`, { headers }), 404);
  });

  it.each(['r26/public', 'r26/none', 'r26', 'secret', 'R26/secret', '../secret', 'r26/secret/', '', 'r26%2fsecret/..', 'r26/secret%00'])(
    'are not mounted from %j, which only begins an upload',
    async (from) => {
      const answer = await ask('POST', `/v2/r26/public/blobs/uploads/?mount=${digest}&from=${from}`);
      expect(answer.status).toBe(202);
      expect(answer.headers).not.toHaveProperty('docker-content-digest');
      await expectHidden();
      expect((await ask('DELETE', answer.headers['location'] ?? '')).status).toBe(204);
    },
  );

  it('do not come along with a manifest that names them', async () => {
    expectRefused(await putManifest('r26/public/manifests/v2', text), 400, 'MANIFEST_BLOB_UNKNOWN');
    expectRefused(await putManifest(`r26/public/manifests/${manifest}`, text), 400, 'MANIFEST_BLOB_UNKNOWN');
    const child = { mediaType: manifestType, digest: manifest, size: text.length };
    const index = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [child] });
    expectRefused(await putManifest('r26/public/manifests/v2', index, indexType), 400, 'MANIFEST_BLOB_UNKNOWN');
    const attached = toManifest(['for everybody'], { subject: child });
    expect((await putManifest('r26/public/manifests/attached', attached.text)).status).toBe(201);
    await expectHidden();
    expect((await ask('GET', `/v2/r26/secret/referrers/${manifest}`)).json.manifests).toEqual([]);
  });

  it('are not had by promising their digest', async () => {
    expectRefused(await ask('POST', `/v2/r26/public/blobs/uploads/?digest=${digest}`, { body: 'x' }), 400, 'DIGEST_INVALID');
    expectRefused(await ask('POST', `/v2/r26/public/blobs/uploads/?digest=${digest}`), 400, 'DIGEST_INVALID');
    await expectHidden();
  });

  it('nor their uploads', async () => {
    const location = await begin('r26/secret');
    await ask('PATCH', location, { body: secret });
    const foreign = location.replace('secret', 'public');
    for (const method of ['GET', 'PATCH', 'DELETE']) expectRefused(await ask(method, foreign, { body: '' }), 404, 'BLOB_UPLOAD_UNKNOWN');
    expectRefused(await ask('PUT', `${foreign}?digest=${digest}`), 404, 'BLOB_UPLOAD_UNKNOWN');
    expect((await ask('GET', location)).headers['range']).toBe(`0-${secret.length - 1}`);
    expect((await ask('DELETE', location)).status).toBe(204);
    await expectHidden();
  });

  it('that lie below names of a host that is not served are not mounted at all', async () => {
    const store = await openLayout(bench.layout);
    const bytes = Buffer.from('of another host');
    const blob = await store.put({ kind: 'bytes', bytes });
    const hidden = Buffer.from(toManifest([]).text.replace('[]', JSON.stringify([{ mediaType: 'a/b', digest: blob.digest, size: blob.size }])));
    const root = await store.put({ kind: 'bytes', bytes: hidden });
    await store.tag('example.com/r26/hidden:v1', { mediaType: manifestType, digest: root.digest, size: root.size });
    expect((await ask('POST', `/v2/r26/public/blobs/uploads/?mount=${blob.digest}`)).status).toBe(202);
    for (const repository of ['r26/public', 'r26/hidden', 'example.com/r26/hidden'])
      expectRefused(await ask('GET', `/v2/${repository}/blobs/${blob.digest}`), 404, 'BLOB_UNKNOWN');
    expectRefused(await ask('GET', '/v2/r26/hidden/manifests/v1'), 404, 'NAME_UNKNOWN');
  });
});
