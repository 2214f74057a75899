/**
 * A registry over a folder that somebody else has been at: bytes and tags that were changed behind its back (R16), links and pipes in place of what was its
 * own (R27). What is bad is served never, nothing outside is read or written, and the rest goes on.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, manifestType, pushBlob, pushPackage, sha256, toManifest } from '../support/ask-registry.js';
import { expectRefused, type HostileBench, startHostileBench } from '../support/hostile-registry.js';

const layer = 'the weights as they were pushed';
const { text, digest } = toManifest([layer]);

let bench: HostileBench;
beforeEach(async () => {
  bench = await startHostileBench();
  await pushPackage(ask, 'r16/x', 'v1', [layer]);
});
afterEach(async () => {
  try {
    await bench.checkHonest();
  } finally {
    await bench.close();
  }
});

const ask: HostileBench['ask'] = (...question) => bench.ask(...question);
const inLayout = (...names: string[]) => join(bench.layout, ...names);
const fileOf = (of: string) => inLayout('blobs', ...of.split(':'));
const outside = () => join(bench.base, 'outside');
const claimOf = (content: string) => inLayout('registry/claims/r16/x/_', sha256(content).replace(':', '-'));

/** The registry stands on a disk that it cannot trust: this is its own fault, and says nothing of the disk. */
const expectDamaged = (answer: Answer) => expectRefused(answer, [404, 500], /^(UNKNOWN|BLOB_UNKNOWN|MANIFEST_UNKNOWN)$/);

function overwrite(file: string, content: string): void {
  chmodSync(file, 0o644);
  writeFileSync(file, content);
}

function writeIndex(...manifests: object[]): void {
  writeFileSync(inLayout('index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
}

const named = (name: string) => ({ annotations: { 'org.opencontainers.image.ref.name': name } });

describe('R16 what was poisoned on the disk', () => {
  const evil = text.replace(sha256(layer), sha256('evil weights!!!!!!!!!!!!!!!!!!!'));

  it.each([
    ['a manifest of the same length', evil],
    ['a manifest that is longer', `${evil} `],
    ['a manifest that was cut off', text.slice(0, 100)],
    ['a manifest that is empty', ''],
    ['a manifest that is as large as a disk', 'x'.repeat(5_000_000)],
  ])('is not served: %s', async (_, content) => {
    overwrite(fileOf(digest), content);
    // As the server still knows it, or not at all.
    for (const reference of ['v1', digest]) expect(['', text]).toContain(onlyManifest(await ask('GET', `/v2/r16/x/manifests/${reference}`)));
    await bench.restart();
    for (const reference of ['v1', digest]) expectDamaged(await ask('GET', `/v2/r16/x/manifests/${reference}`));
    expect(bench.told.join('\n')).toContain(digest);
    expect((await ask('GET', '/v2/r16/x/tags/list')).json.tags).toEqual(['v1']);
  });

  it('does not keep the rest of the repository back', async () => {
    await pushPackage(ask, 'r16/x', 'v2', ['others']);
    overwrite(fileOf(digest), evil);
    await bench.restart();
    expect((await ask('GET', '/v2/r16/x/manifests/v2')).status).toBe(200);
    expect((await ask('GET', `/v2/r16/x/blobs/${sha256('others')}`)).bytes.toString()).toBe('others');
    await pushPackage(ask, 'r16/x', 'v3', ['and more']);
    expectDamaged(await ask('GET', '/v2/r16/x/manifests/v1'));
  });

  it.each<[string, () => object]>([
    ['the digest of another manifest, by a lie about its size', () => ({ mediaType: manifestType, digest, size: text.length + 1 })],
    ['a blob that is no manifest', () => ({ mediaType: manifestType, digest: sha256(layer), size: layer.length })],
    ['a manifest under the name of an index', () => ({ mediaType: 'application/vnd.oci.image.index.v1+json', digest, size: text.length })],
    ['something that is not there', () => ({ mediaType: manifestType, digest: `sha256:${'0'.repeat(64)}`, size: 5 })],
    ['something with no size that can be', () => ({ mediaType: manifestType, digest, size: 2 ** 52 })],
  ])('is a tag that points to %s: that is not served', async (_, root) => {
    writeIndex({ ...root(), ...named('r16/x:v1') });
    expectDamaged(await ask('GET', '/v2/r16/x/manifests/v1'));
    await bench.restart();
    expectDamaged(await ask('GET', '/v2/r16/x/manifests/v1'));
  });

  it.each([
    ['that of a web page', 'text/html'],
    ['two lines', 'text/html\r\nSet-Cookie: a=b'],
    ['no ASCII', 'ü/ü'],
    ['longer than a head', `long/${'x'.repeat(100_000)}`],
  ])('is a media type: %s', async (_, mediaType) => {
    writeIndex({ mediaType, digest, size: text.length, ...named('r16/x:v1') });
    const answer = await ask('GET', '/v2/r16/x/manifests/v1');
    expectDamaged(answer);
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  it.each([
    ['a digest that leads out', JSON.stringify({ manifests: [{ mediaType: manifestType, digest: 'sha256:../../x', size: 5 }] })],
    ['no JSON', '{'],
    ['nothing', ''],
    ['a list', '[]'],
  ])('is an index with %s: nothing is served until it is put right', async (_, content) => {
    const good = readFileSync(inLayout('index.json'), 'utf8');
    writeFileSync(inLayout('index.json'), content);
    expect((await ask('GET', '/v2/')).status).toBe(200);
    for (const target of ['r16/x/manifests/v1', `r16/x/manifests/${digest}`, 'r16/x/tags/list', '_catalog'])
      expectRefused(await ask('GET', `/v2/${target}`), 500, 'UNKNOWN');
    expectRefused(await ask('PUT', '/v2/r16/x/manifests/v2', { headers: { 'Content-Type': manifestType }, body: text }), 500, 'UNKNOWN');
    expect(readFileSync(inLayout('index.json'), 'utf8')).toBe(content);
    writeFileSync(inLayout('index.json'), good);
    expect((await ask('GET', '/v2/r16/x/manifests/v1')).bytes.toString()).toBe(text);
  });

  it.each(['Range', 'none'])('is a blob that was cut off: it is not served (%s) until somebody pushes it again', async (header) => {
    chmodSync(fileOf(sha256(layer)), 0o644);
    truncateSync(fileOf(sha256(layer)), 10);
    const headers = header === 'none' ? {} : { Range: 'bytes=0-4' };
    for (const method of ['GET', 'HEAD']) expectRefused(await ask(method, `/v2/r16/x/blobs/${sha256(layer)}`, { headers }), 404, 'BLOB_UNKNOWN');
    expect((await ask('POST', `/v2/r16/y/blobs/uploads/?mount=${sha256(layer)}&from=r16/x`)).status).toBe(202);
    expect(bench.told.join('\n')).toContain(`expected ${layer.length} bytes, found 10`);
    await pushBlob(ask, 'r16/x', layer);
    expect((await ask('GET', `/v2/r16/x/blobs/${sha256(layer)}`)).bytes.toString()).toBe(layer);
  });

  const onlyManifest = ({ status, bytes }: Answer) => (status === 200 ? bytes.toString() : '');
});

describe('R27 links that were planted', () => {
  const secret = 'a secret of the same length'.padEnd(layer.length, '.');
  beforeEach(() => {
    mkdirSync(outside());
    writeFileSync(join(outside(), 'secret'), secret);
  });
  const expectKept = (names = ['secret']) => {
    expect(readdirSync(outside()).sort()).toEqual(names);
    expect(readFileSync(join(outside(), 'secret'), 'utf8')).toBe(secret);
  };
  const replace = (path: string, plant: (path: string) => void) => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    plant(path);
  };
  const link = (to: string) => (path: string) => symlinkSync(to, path);
  const toSecret = (path: string) => symlinkSync(join(outside(), 'secret'), path);
  const pipe = (path: string) => {
    expect(spawnSync('mkfifo', [path]).status).toBe(0);
  };
  const makeFolder = (path: string) => {
    mkdirSync(path);
  };

  it.each<[string, (path: string) => void]>([
    ['a link to a secret', toSecret],
    ['a link that leads nowhere', link('nowhere')],
    ['a link to itself', (path) => symlinkSync(path, path)],
    ['a link to something endless', link('/dev/zero')],
    ['a pipe', pipe],
    ['a folder', makeFolder],
  ])('for a blob: %s', async (_, plant) => {
    replace(fileOf(sha256(layer)), plant);
    for (const method of ['GET', 'HEAD']) {
      for (const headers of [{}, { Range: 'bytes=0-4' }]) expectDamaged(await ask(method, `/v2/r16/x/blobs/${sha256(layer)}`, { headers }));
    }
    for (const query of [`mount=${sha256(layer)}&from=r16/x`, `mount=${sha256(layer)}`, `digest=${sha256(layer)}`])
      expect([202, 201, 500]).toContain(
        (await ask('POST', `/v2/r16/z/blobs/uploads/?${query}`, { body: query.startsWith('digest') ? layer : '' })).status,
      );
    expectKept();
  });

  it.each<[string, (path: string) => void]>([
    ['a link to a secret', toSecret],
    ['a link to something endless', link('/dev/zero')],
    ['a pipe', pipe],
  ])('for a manifest: %s', async (_, plant) => {
    replace(fileOf(digest), plant);
    await bench.restart();
    for (const reference of ['v1', digest]) expectDamaged(await ask('GET', `/v2/r16/x/manifests/${reference}`));
    expectKept();
  });

  it('for a claim: it is none, and a push makes it anew', async () => {
    await pushBlob(ask, 'r16/x', 'claimed');
    replace(claimOf('claimed'), toSecret);
    expectRefused(await ask('GET', `/v2/r16/x/blobs/${sha256('claimed')}`), 404, 'BLOB_UNKNOWN');
    await pushBlob(ask, 'r16/x', 'claimed');
    expect((await ask('GET', `/v2/r16/x/blobs/${sha256('claimed')}`)).status).toBe(200);
    expect(lstatSync(claimOf('claimed')).isFile()).toBe(true);
    expectKept();
  });

  it.each<[string, (path: string) => void]>([
    ['a link to a secret', toSecret],
    ['a link to something endless', link('/dev/zero')],
    ['a pipe', pipe],
    ['a folder', makeFolder],
  ])("for an upload's data: %s", async (_, plant) => {
    const location = (await ask('POST', '/v2/r16/x/blobs/uploads/')).headers['location'] ?? '';
    replace(join(inLayout('ingest/uploads'), location.split('/').at(-1) ?? '', 'data'), plant);
    expect((await ask('GET', location)).headers['range']).toBe('0-0');
    expect((await ask('PATCH', location, { body: 'honest' })).status).toBe(202);
    expect((await ask('PUT', `${location}?digest=${sha256('honest')}`)).status).toBe(201);
    expect((await ask('GET', `/v2/r16/x/blobs/${sha256('honest')}`)).bytes.toString()).toBe('honest');
    expectKept();
  });

  it.each(['ingest', 'ingest/uploads'])('for the folder %s: nothing is begun, gone on with or removed behind it', async (folder) => {
    const location = (await ask('POST', '/v2/r16/x/blobs/uploads/')).headers['location'] ?? '';
    await ask('PATCH', location, { body: 'half' });
    const moved = join(outside(), 'moved');
    renameSync(inLayout(folder), moved);
    symlinkSync(moved, inLayout(folder));
    const before = bench.tree();
    expectRefused(await ask('POST', '/v2/r16/x/blobs/uploads/'), 500, 'UNKNOWN');
    for (const method of ['GET', 'PATCH', 'DELETE']) expectRefused(await ask(method, location, { body: '' }), 404, 'BLOB_UPLOAD_UNKNOWN');
    expect(bench.tree()).toEqual(before);
    expectKept(['moved', 'secret']);
    rmSync(inLayout(folder));
    expect((await ask('POST', '/v2/r16/x/blobs/uploads/')).status).toBe(202);
  });

  it.each<[string, (path: string) => void]>([
    ['a link to another index', (path) => symlinkSync(join(outside(), 'index.json'), path)],
    ['a link to a secret', toSecret],
    ['a link to something endless', link('/dev/zero')],
    ['a pipe', pipe],
    ['a folder', makeFolder],
  ])('for index.json: %s', async (_, plant) => {
    const kept = join(bench.base, 'kept.json');
    cpSync(inLayout('index.json'), kept);
    const other = { mediaType: manifestType, digest, size: text.length, ...named('r16/planted:v1') };
    writeFileSync(join(outside(), 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [other] }));
    replace(inLayout('index.json'), plant);
    for (const target of ['r16/x/manifests/v1', 'r16/planted/manifests/v1', '_catalog']) expectDamaged(await ask('GET', `/v2/${target}`));
    expectDamaged(await ask('PUT', '/v2/r16/x/manifests/v2', { headers: { 'Content-Type': manifestType }, body: text }));
    expect((await ask('GET', '/v2/')).status).toBe(200);
    expectKept(['index.json', 'secret']);
    expect(existsSync(join(outside(), 'index.lock'))).toBe(false);
    rmSync(inLayout('index.json'), { recursive: true });
    cpSync(kept, inLayout('index.json'));
    expect((await ask('GET', '/v2/r16/x/manifests/v1')).status).toBe(200);
  });
});
