/**
 * Manifests that were made to do harm, sent to a registry: ambiguous ones (R11), JSON that readers differ over or choke on (R12), graphs without a bottom
 * (R13), annotations for terminals and browsers (R18). At the end of each group an honest client is served.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLayout } from '../../src/store/layout.js';
import { prune } from '../../src/store/prune.js';
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

const hex = 'ab'.repeat(32);

describe('R11 manifests that are two things at once', () => {
  afterAll(() => bench.checkHonest());

  const manifest = JSON.parse(toManifest([]).text) as object;
  const index = { schemaVersion: 2, mediaType: indexType, manifests: [] };

  beforeAll(() => pushBlob(ask, 'r11/x', '{}'));

  it.each<[string, unknown, string]>([
    ['manifests beside layers', { ...manifest, manifests: [] }, manifestType],
    ['manifests beside layers, as an index', { ...manifest, mediaType: indexType, manifests: [] }, indexType],
    ['config in an index', { ...index, config: (manifest as { config: unknown }).config }, indexType],
    ['a manifest sent as an index', { ...manifest, mediaType: undefined }, indexType],
    ['an index sent as a manifest', { ...index, mediaType: undefined }, manifestType],
    ['a media type that is not the one it was sent as', manifest, 'application/vnd.docker.distribution.manifest.v2+json'],
    ['a manifest that says it is an index', { ...manifest, mediaType: indexType }, manifestType],
    ['a web page', { ...manifest, mediaType: undefined }, 'text/html'],
    ['a web page that says so', { ...manifest, mediaType: 'text/html' }, 'text/html'],
    ['schema 1', { schemaVersion: 1, name: 'x', tag: 'v1', fsLayers: [], history: [] }, 'application/vnd.docker.distribution.manifest.v1+json'],
    ['schema 1 as schema 2', { schemaVersion: 1, fsLayers: [] }, manifestType],
    ['the artifact manifest that was withdrawn', { mediaType: manifestType, blobs: [] }, manifestType],
    ['nothing', {}, manifestType],
    ['a list', [], manifestType],
    ['a text', 'manifest', manifestType],
  ])('%s', async (_, value, type) => {
    await expectUntouched(bench, async () => {
      expectRefused(await putManifest('r11/x/manifests/v1', JSON.stringify(value), type), 400, 'MANIFEST_INVALID');
    });
    expectRefused(await ask('GET', '/v2/r11/x/manifests/v1'), 404);
  });
});

describe('R12 JSON', () => {
  afterAll(() => bench.checkHonest());

  const good = toManifest(['x']).text;
  const nested = (open: string, close: string, depth: number) =>
    good.replace('"layers"', `"more":${open.repeat(depth)}1${close.repeat(depth)},"layers"`);
  const layer = `{"mediaType":"a/b","digest":"sha256:${hex}","size":0}`;
  const layers = (count: number) => `{"schemaVersion":2,"config":${layer},"layers":[${Array.from({ length: count }, () => layer).join(',')}]}`;
  const twice = `"digest":"${sha256('x')}"`;

  const documents: readonly [string, string | Uint8Array, number][] = [
    ['a digest twice', good.replace(twice, `${twice},"digest":"${sha256('y')}"`), 400],
    ['a digest twice, once with an escape', good.replace(twice, `${twice},"dig\\u0065st":"${sha256('y')}"`), 400],
    ['layers twice', good.replace('"layers"', '"layers":[],"layers"'), 400],
    ['all of it below __proto__', `{"schemaVersion":2,"__proto__":${good}}`, 400],
    ['a descriptor below __proto__', `{"schemaVersion":2,"config":{"__proto__":${layer}},"layers":[]}`, 400],
    ['a byte-order mark', `\ufeff${good}`, 400],
    ['UTF-16', Buffer.from(good, 'utf16le'), 400],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from(good.slice(0, -1)), Buffer.from(',"x":"\xff"}', 'latin1')]), 400],
    ['NaN', good.replace('"size":1', '"size":NaN'), 400],
    ['Infinity', good.replace('"size":1', '"size":Infinity'), 400],
    ['a comment', good.replace('{', '{/* x */'), 400],
    ['a trailing comma', good.replace(/}$/, ',}'), 400],
    ['something behind it', `${good}{}`, 400],
    ['a NUL behind it', `${good}\0`, 400],
    ['half of it', good.slice(0, good.length / 2), 400],
    ['nothing', '', 400],
    ['100,000 lists in each other', nested('[', ']', 100_000), 400],
    ['100,000 objects in each other', nested('{"a":', '}', 100_000), 400],
    ['a million brackets', '['.repeat(1_000_000), 400],
    ['36,000 layers', layers(36_000), 400],
    ['100,000 layers', layers(100_000), 413],
    ['5 MB', good.replace('"layers"', `"more":"${'x'.repeat(5_000_000)}","layers"`), 413],
  ];

  beforeAll(async () => {
    for (const content of ['{}', 'x']) await pushBlob(ask, 'r12/x', content);
  });

  it.each(documents)('%s', async (_, body, status) => {
    await expectUntouched(bench, async () => {
      const begun = performance.now();
      expectRefused(await putManifest('r12/x/manifests/v1', body), status, status === 413 ? 'SIZE_INVALID' : 'MANIFEST_INVALID');
      expect(performance.now() - begun).toBeLessThan(3000);
    });
    expect({}).not.toHaveProperty('layers');
  });

  it('keys of every name are kept word by word', async () => {
    const odd = toManifest([]).text.replace('"layers"', '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"layers"');
    expect((await putManifest('r12/x/manifests/odd', odd)).status).toBe(201);
    expect((await ask('GET', '/v2/r12/x/manifests/odd')).bytes.toString()).toBe(odd);
    expect({}).not.toHaveProperty('polluted');
  });

  it('without end is not read to it, and takes no memory', async () => {
    const before = process.memoryUsage().rss;
    const piece = `100000\r\n${'x'.repeat(1_048_576)}\r\n`;
    const head = 'PUT /v2/r12/x/manifests/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answers = await Promise.all(Array.from({ length: 4 }, () => bench.sendRaw(head + piece.repeat(32))));
    for (const answer of answers) expect(answer).toMatch(/^(HTTP\/1\.1 413 .*"SIZE_INVALID".*|)$/s);
    expect(process.memoryUsage().rss - before).toBeLessThan(600_000_000);
  });
});

describe('R13 graphs', () => {
  afterAll(() => bench.checkHonest());

  const index = (children: readonly string[], more: object = {}) =>
    JSON.stringify({
      schemaVersion: 2,
      mediaType: indexType,
      manifests: children.map((text) => ({
        mediaType: text.includes('"manifests"') ? indexType : manifestType,
        digest: sha256(text),
        size: text.length,
      })),
      ...more,
    });
  const put = (repository: string, text: string) =>
    putManifest(`${repository}/manifests/${sha256(text)}`, text, text.includes('"manifests"') ? indexType : manifestType);

  it('are not deeper than anybody walks, so that a collector goes on', async () => {
    await pushPackage(ask, 'r13/deep', 'v1', []);
    let text = toManifest([]).text;
    const statuses = [];
    for (let depth = 1; depth <= 100; depth++) statuses.push((await put('r13/deep', (text = index([text])))).status);
    expect(statuses).toEqual(statuses.map((_, depth) => (depth < 8 ? 201 : 400)));
    await expect(prune(await openLayout(bench.layout))).resolves.toMatchObject({ removed: [] });
  });

  it('with a million ways down are walked once', async () => {
    await pushPackage(ask, 'r13/wide', 'v1', []);
    const begun = performance.now();
    let level = [toManifest([]).text];
    for (let depth = 1; depth <= 8; depth++) {
      // Eight of a level, and each of them names all eight below: 8^7 ways.
      level = Array.from({ length: depth === 8 ? 1 : 8 }, (_, at) => index(level, { annotations: { at: String(at) } }));
      for (const text of level) expect((await put('r13/wide', text)).status).toBe(201);
    }
    expect((await ask('GET', `/v2/r13/wide/manifests/${sha256(level[0] ?? '')}`)).status).toBe(200);
    await bench.restart();
    expect((await ask('GET', `/v2/r13/wide/blobs/${sha256('{}')}`)).status).toBe(200);
    await prune(await openLayout(bench.layout));
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  it('of the same child ten thousand times', async () => {
    await pushPackage(ask, 'r13/same', 'v1', []);
    const same = Array.from({ length: 10_000 }, () => toManifest([]).text);
    expect((await put('r13/same', index(same))).status).toBe(201);
    expectRefused(await put('r13/same', index([...same, toManifest([]).text])), 400, 'MANIFEST_INVALID');
  });

  it('of subjects that are not there, or attached to each other, end', async () => {
    await pushBlob(ask, 'r13/attached', '{}');
    const subjectOf = (digest: string) => ({ subject: { mediaType: manifestType, digest, size: 5 }, artifactType: 'a/b' });
    const first = `sha256:${hex}`;
    let digest = first;
    for (let count = 0; count < 50; count++) {
      const { text } = toManifest([], subjectOf(digest));
      const answer = await put('r13/attached', text);
      expect([answer.status, answer.headers['oci-subject']]).toEqual([201, digest]);
      digest = sha256(text);
    }
    expect((await ask('GET', `/v2/r13/attached/referrers/${first}`)).json.manifests).toHaveLength(1);
    expect((await ask('GET', `/v2/r13/attached/referrers/${digest}`)).json.manifests).toEqual([]);
    await prune(await openLayout(bench.layout));
    expect((await ask('GET', `/v2/r13/attached/manifests/${digest}`)).status).toBe(200);
  });
});

describe('R18 annotations', () => {
  afterAll(() => bench.checkHonest());

  const odd = {
    esc: '\u001b[2J\u001b]0;x\u0007',
    html: '</script><script>alert(1)</script>',
    line: 'a\r\nSet-Cookie: x=1',
    long: 'x'.repeat(1_000_000),
  };
  const subject = { mediaType: manifestType, digest: `sha256:${hex}` as const, size: 5 };

  it('are data, in answers that no browser takes for a page', async () => {
    const digest = await pushPackage(ask, 'r18/x', 'v1', [], { subject, artifactType: odd.html, annotations: odd });
    const listed = await ask('GET', `/v2/r18/x/referrers/${subject.digest}`);
    expect(listed.json.manifests).toMatchObject([{ digest, artifactType: odd.html, annotations: odd }]);
    for (const answer of [listed, await ask('GET', '/v2/r18/x/manifests/v1')]) {
      expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'content-type': expect.stringMatching(/^application\/.*json$/) });
      expect(answer.headers).not.toHaveProperty('set-cookie');
      expect([...answer.bytes].filter((byte) => byte < 0x20)).toEqual([]);
    }
  });

  it('that are long go on pages of their own, and a client gets all of them', async () => {
    const found: string[] = [];
    for (let count = 0; count < 4; count++)
      await pushPackage(ask, 'r18/long', `v${count}`, [], { subject, annotations: { ...odd, count: String(count) } });
    for (let target: string | undefined = `/v2/r18/long/referrers/${subject.digest}`; target !== undefined;) {
      const { bytes, json, headers } = await ask('GET', target);
      expect(bytes.length).toBeLessThan(4 * 1024 * 1024);
      found.push(...json.manifests.map(({ digest }) => digest));
      target = /^<([^>]+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
    }
    expect(new Set(found).size).toBe(4);
    expect(found).toHaveLength(4);
  });

  it.each([
    `/v2/%3Cscript%3E/tags/list`,
    `/v2/x/manifests/%3Cscript%3E:`,
    `/v2/x/blobs/%1b%5b2J`,
    `/v2/x/blobs/uploads/%3Cscript%3E`,
    `/v2/x/tags/list?n=%3Cscript%3E`,
    `/v2/${'%3Cb%3E'.repeat(1000)}/tags/list`,
  ])('and whatever else a client says comes back short and escaped: %s', async (target) => {
    const answer = await ask('GET', target);
    expectRefused(answer, [400, 404]);
    expect([...answer.bytes].filter((byte) => byte < 0x20)).toEqual([]);
  });
});
