/** Manifests, indexes and configs that lie: each is said by name, and no verb crashes, hangs or believes it. */
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../../src/bytes/index.js';
import { cat, convert, copy, diff, edit, list } from '../../src/ops/index.js';
import { createHostileSandbox, type HostileSandbox, sha256 } from '../support/hostile-layout.js';
import { type EditableManifest, type HostilePackage, rawLayer, tarLayer, writeManifest, writePackage } from '../support/hostile-package.js';
import { expectRefused, isAlarm, listComplaints, tryAllVerbs } from '../support/hostile-verbs.js';
import { rawTar } from '../support/raw-tar.js';
import { makeTensors } from '../support/weight-files.js';

let sandbox: HostileSandbox;
beforeEach(() => {
  sandbox = createHostileSandbox();
});
afterEach(() => sandbox.close());

const location = () => `oci:${sandbox.layout.path}:v1`;
const everyVerb = () => tryAllVerbs(sandbox, location());
const good = [rawLayer('README.md', '# hello\n')];

const nothingCopied = async () => {
  const outcome = await sandbox.attempt(() => copy({ source: location(), destination: 'copy.tar' }, sandbox.context()));
  expect(existsSync(join(sandbox.base, 'copy.tar'))).toBe(false);
  return outcome;
};

describe('descriptors', () => {
  const lies: readonly (readonly [string, Record<string, unknown>])[] = [
    ['R1 a digest that leads out', { digest: 'sha256:../../../neighbour/secret' }],
    ['R1 a digest in upper case', { digest: sha256('x').toUpperCase().replace('SHA', 'sha') }],
    ['R1 a short digest', { digest: 'sha256:abc' }],
    ['R1 a digest with a dash', { digest: sha256('x').replace(':', '-') }],
    ['R1 an unknown algorithm', { digest: 'md5:d41d8cd98f00b204e9800998ecf8427e' }],
    ['R1 no digest', { digest: undefined }],
    ['R1 a digest that is a list', { digest: [sha256('x')] }],
    ['R2 a digest of nothing that is there', { digest: sha256('not there') }],
    ['R3 too large', { size: 1_000_000 }],
    ['R3 too small', { size: 1 }],
    ['R3 negative', { size: -1 }],
    ['R3 as text', { size: '8' }],
    ['R3 a fraction', { size: 8.5 }],
    ['R3 2^53 + 2', { size: 2 ** 53 + 2 }],
    ['R3 no size', { size: undefined }],
  ];
  const places = ['layer', 'config'] as const;

  it.each(lies.flatMap(([name, over]) => places.map((place) => [name, place, over] as const)))('%s, of a %s', async (_, place, over) => {
    writePackage(sandbox.layout, {
      vintage: 'cncf',
      layers: good,
      editManifest: ({ layers, config }) => Object.assign(place === 'layer' ? (layers[0] ?? {}) : config, over),
    });
    const verdicts = await everyVerb();
    expect(isAlarm(verdicts.validate) || isAlarm(verdicts.verify)).toBe(true);
    expect(isAlarm(verdicts.verify)).toBe(true);
    if (place === 'layer') expectRefused(sandbox, verdicts, /./);
    expect(await nothingCopied()).toMatchObject({ kind: 'error', exitCode: 1 });
  });

  it.each(['1e999', '99999999999999999999999'])('R3 a size of %s', async (size) => {
    const blob = sandbox.layout.put('# hello\n');
    writeManifest(
      sandbox.layout,
      `{"schemaVersion":2,"artifactType":"application/vnd.cncf.model.manifest.v1+json","config":{"mediaType":"application/vnd.cncf.model.config.v1+json","digest":"${sandbox.layout.put('{}').digest}","size":2},"layers":[{"mediaType":"application/vnd.cncf.model.doc.v1.raw","digest":"${blob.digest}","size":${size},"annotations":{"org.cncf.model.filepath":"README.md"}}]}`,
    );
    const verdicts = await everyVerb();
    expectRefused(sandbox, verdicts, /layers\[0\]|size/);
    expect(isAlarm(verdicts.validate)).toBe(true);
  });

  it.each(lies.filter(([name]) => name.startsWith('R1')).map(([name, { digest }]) => [name, digest] as const))(
    '%s, in index.json',
    async (_, digest) => {
      writePackage(sandbox.layout, { vintage: 'cncf', layers: good });
      sandbox.layout.index({ digest, size: 5 });
      for (const outcome of Object.values(await everyVerb())) expect(outcome).toMatchObject({ kind: 'error', exitCode: 1 });
    },
  );

  it.each(['cncf', 'draft'] as const)('R2, R16 bytes that were changed in the store are never handed out: %s', async (vintage) => {
    const bytes = vintage === 'cncf' ? Buffer.from('# hello\n') : rawTar({ name: 'README.md', content: '# hello\n' });
    writePackage(sandbox.layout, { vintage, layers: vintage === 'cncf' ? good : [tarLayer(vintage, bytes)] });
    const changed = Buffer.from(bytes);
    changed[changed.indexOf('hello')] = 'j'.charCodeAt(0);
    writeFileSync(sandbox.layout.blobPath(sha256(bytes)), changed);
    const verdicts = await everyVerb();
    expectRefused(sandbox, verdicts, /digest-mismatch/);
    expect(verdicts.verify).toMatchObject({ result: { ok: false } });
    const read = async () => {
      const stream = await (await cat({ location: location(), path: 'README.md' }, sandbox.context())).open();
      return collect(stream, 100, 'README.md');
    };
    expect(await sandbox.attempt(read)).toMatchObject({ code: 'bytes/digest-mismatch', exitCode: 1 });
    expect(await nothingCopied()).toMatchObject({ code: 'bytes/digest-mismatch', exitCode: 1 });
  });

  it('R2 a manifest that is not what the index promises', async () => {
    const digest = writePackage(sandbox.layout, { vintage: 'cncf', layers: good });
    writeFileSync(sandbox.layout.blobPath(digest), '{}');
    const { list: _listed, ...others } = await everyVerb();
    expect(Object.values(others)).toEqual(Array.from({ length: 5 }, () => expect.objectContaining({ kind: 'error', exitCode: 1 })));
  });

  it.each(['blob', 'index.json', 'oci-layout'] as const)('R27 a link planted as %s is not followed', async (place) => {
    const digest = sha256('# hello\n');
    writePackage(sandbox.layout, { vintage: 'cncf', layers: good });
    const path = place === 'blob' ? sandbox.layout.blobPath(digest) : join(sandbox.layout.path, place);
    const elsewhere = join(sandbox.base, 'home');
    writeFileSync(elsewhere, place === 'blob' ? '# hello\n' : '{"imageLayoutVersion":"1.0.0","schemaVersion":2,"manifests":[]}');
    rmSync(path);
    symlinkSync(elsewhere, path);
    const { unpack, verify } = await everyVerb();
    expect(isAlarm(verify)).toBe(true);
    expect(unpack.kind).toBe('error');
    expect(existsSync(sandbox.target)).toBe(false);
  });
});

describe('manifests', () => {
  const annotated = (key: string, value: unknown) => (manifest: EditableManifest) => (manifest['annotations'] = { [key]: value });
  const odd: readonly (readonly [string, NonNullable<HostilePackage['editManifest']>])[] = [
    ['R11 both kinds in one', (manifest) => (manifest['manifests'] = [])],
    ['R11 another media type inside', (manifest) => (manifest['mediaType'] = 'application/vnd.oci.image.index.v1+json')],
    ['R11 schema 1', (manifest) => (manifest['schemaVersion'] = 1)],
    ['R11 no schema version', (manifest) => delete manifest['schemaVersion']],
    ['R11 an unknown layer type', ({ layers }) => Object.assign(layers[0] ?? {}, { mediaType: 'application/vnd.example.thing' })],
    ['R12 layers that are an object', (manifest) => Object.assign(manifest, { layers: { 0: manifest.layers[0] } })],
    ['R12 layers that are null', (manifest) => Object.assign(manifest, { layers: null })],
    ['R12 a layer that is text', ({ layers }) => Object.assign(layers, ['layer'])],
    ['R12 a layer that is null', ({ layers }) => Object.assign(layers, [null])],
    ['R12 a config that is a list', (manifest) => Object.assign(manifest, { config: [] })],
    ['R12 no config', (manifest) => Object.assign(manifest, { config: undefined })],
    ['R12 annotations that are a list', (manifest) => (manifest['annotations'] = ['x'])],
    ['R12 an annotation that is an object', annotated('x', { y: 1 })],
    ['R12 annotations of a layer that are text', ({ layers }) => Object.assign(layers[0] ?? {}, { annotations: 'x' })],
    [
      'R19 filepath and title differ',
      ({ layers }) => Object.assign(layers[0]?.annotations ?? {}, { 'org.opencontainers.image.title': '../../other' }),
    ],
  ];

  it.each(odd)('%s', async (_, editManifest) => {
    writePackage(sandbox.layout, { vintage: 'cncf', layers: good, editManifest });
    const verdicts = await everyVerb();
    expect(listComplaints(verdicts.validate).length).toBeGreaterThan(0);
  });

  const manifestOf = (rest: string) => `{"schemaVersion":2,"artifactType":"application/vnd.cncf.model.manifest.v1+json",${rest}`;
  const documents: readonly (readonly [string, () => Uint8Array | string, RegExp])[] = [
    ['R12 a key twice', () => manifestOf('"layers":[],"layers":[]}'), /bad-json.*stands twice/],
    ['R12 a key twice, spelled in two ways', () => manifestOf('"layers":[],"\\u006cayers":[]}'), /bad-json.*stands twice/],
    ['R12 a byte-order mark', () => `\ufeff${manifestOf('"layers":[]}')}`, /bad-json.*byte-order mark/],
    ['R12 NaN', () => manifestOf('"layers":[NaN]}'), /bad-json/],
    ['R12 a comment', () => manifestOf('/* no */"layers":[]}'), /bad-json/],
    ['R12 not UTF-8', () => Buffer.from(manifestOf('"x":"\xff"}'), 'latin1'), /bad-json.*UTF-8/],
    ['R12 cut off', () => manifestOf('"layers":['), /bad-json/],
    ['R12 nothing at all', () => '', /./],
    ['R12 a number', () => '5', /./],
    ['R12 a depth of 1,000,000', () => manifestOf(`"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`), /bad-json.*deeper than 64/],
    ['R12 5 MB', () => manifestOf(`"x":"${'x'.repeat(5_000_000)}"}`), /limit|bad-json/],
    [
      'R12 100,001 layers',
      () => manifestOf(`"config":{"mediaType":"x","digest":"${sha256('x')}","size":1},"layers":[${'{},'.repeat(100_000)}{}]}`),
      /10000\b.*100001|100001.*10000\b/,
    ],
  ];

  it.each(documents)('%s', async (_, make, words) => {
    writeManifest(sandbox.layout, make());
    for (const [verb, outcome] of Object.entries(await everyVerb())) {
      if (verb === 'list') expect(outcome).toMatchObject({ result: { packages: [{ format: 'damaged' }] } });
      else if (verb === 'verify') expect(isAlarm(outcome)).toBe(true);
      else expect(listComplaints(outcome)).toEqual([expect.stringMatching(words)]);
    }
  });

  it('R12 __proto__ is a key like any other', async () => {
    const blob = sandbox.layout.put('# hello\n');
    const layer = `{"mediaType":"application/vnd.cncf.model.doc.v1.raw","digest":"${blob.digest}","size":8,"annotations":{"__proto__":"x","org.cncf.model.filepath":"README.md"}}`;
    writeManifest(
      sandbox.layout,
      manifestOf(
        `"__proto__":{"polluted":true},"config":{"mediaType":"application/vnd.cncf.model.config.v1+json","digest":"${sandbox.layout.put('{}').digest}","size":2},"layers":[${layer}]}`,
      ),
    );
    await everyVerb();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(readdirSync(sandbox.target)).toEqual(['README.md']);
  });

  it('R18 an annotation of 3 MB', async () => {
    writePackage(sandbox.layout, { vintage: 'cncf', layers: good, editManifest: annotated('x', '\u001b[31m'.repeat(300_000)) });
    const { unpack } = await everyVerb();
    expect(unpack.kind).toBe('result');
  });
});

describe('indexes', () => {
  const indexType = 'application/vnd.oci.image.index.v1+json';
  const indexOf = (...manifests: object[]) => JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests });
  const entry = (blob: { digest: string; size: number }) => ({ mediaType: indexType, ...blob });

  it('R13 200 inside each other', async () => {
    let blob = sandbox.layout.put(indexOf());
    for (let depth = 0; depth < 200; depth++) blob = sandbox.layout.put(indexOf(entry(blob)));
    sandbox.layout.index(entry(blob));
    const { verify, inspect } = await everyVerb();
    expect(isAlarm(verify)).toBe(true);
    expect(inspect).toMatchObject({ result: { format: 'index' } });
    expect(await nothingCopied()).toMatchObject({ code: 'bytes/limit', exitCode: 1 });
  });

  it('R13 one that holds itself under a false digest', async () => {
    const digest = sha256('circle');
    const size = indexOf(entry({ digest, size: 100 })).length;
    sandbox.layout.put(indexOf(entry({ digest, size })), digest);
    sandbox.layout.index(entry({ digest, size }));
    const { verify, unpack } = await everyVerb();
    expect([verify, unpack].every(isAlarm)).toBe(true);
    expect(await nothingCopied()).toMatchObject({ kind: 'error', exitCode: 1 });
  });

  it('R13 2^60 ways to one leaf', async () => {
    let blob = sandbox.layout.put(indexOf());
    for (let depth = 0; depth < 7; depth++) blob = sandbox.layout.put(indexOf(...Array.from({ length: 400 }, () => entry(blob))));
    sandbox.layout.index(entry(blob));
    const { verify, list: listed } = await everyVerb();
    expect(verify).toMatchObject({ result: { ok: true } });
    expect(listed).toMatchObject({ result: { packages: [{ format: 'index' }] } });
  });

  it.each([
    ['a key twice', '{"schemaVersion":2,"manifests":[],"manifests":[]}'],
    ['not JSON', 'manifests'],
    ['a list', '[]'],
    ['deep', `{"schemaVersion":2,"manifests":${'['.repeat(100_000)}`],
    ['manifests that are text', '{"schemaVersion":2,"manifests":"x"}'],
    ['an entry that is null', '{"schemaVersion":2,"manifests":[null]}'],
    ['a size that is text', `{"schemaVersion":2,"manifests":[{"mediaType":"x","digest":"${sha256('x')}","size":"1"}]}`],
  ])('index.json: %s', async (_, text) => {
    writeFileSync(join(sandbox.layout.path, 'index.json'), text);
    for (const outcome of Object.values(await everyVerb())) expect(outcome.kind).toBe('error');
  });
});

describe('configs', () => {
  it.each<[string, Pick<HostilePackage, 'configBytes' | 'editConfig'>]>([
    ['an empty object', { configBytes: '{}' }],
    ['not JSON', { configBytes: 'config' }],
    ['a list', { configBytes: '[]' }],
    ['nothing', { configBytes: '' }],
    ['a key twice', { configBytes: '{"descriptor":{},"descriptor":{}}' }],
    ['deep', { configBytes: `{"descriptor":${'{"x":'.repeat(100_000)}1${'}'.repeat(100_000)}}` }],
    ['5 MB', { configBytes: `{"x":"${'x'.repeat(5_000_000)}"}` }],
    ['text where objects are', { editConfig: (config) => Object.assign(config, { descriptor: 'x', config: 'y', modelfs: 'z' }) }],
    [
      'objects where text is',
      { editConfig: (config) => Object.assign(config, { descriptor: { name: {}, version: [], authors: 'Ada', licenses: { a: 1 }, createdAt: 5 } }) },
    ],
    ['diffIds that are no digests', { editConfig: ({ modelfs }) => Object.assign(modelfs, { diffIds: [{}, 5, '../../x'] }) }],
    ['too many diffIds', { editConfig: ({ modelfs }) => Object.assign(modelfs, { diffIds: Array.from({ length: 50_000 }, () => sha256('x')) }) }],
    [
      'dates and names of other kinds',
      { editConfig: ({ config }) => Object.assign(config, { paramSize: 'many', precision: 16, capabilities: [1, 2], format: null }) },
    ],
  ])('%s', async (_, more) => {
    writePackage(sandbox.layout, { vintage: 'cncf', layers: good, ...more });
    const { validate, unpack } = await everyVerb();
    expect(isAlarm(validate)).toBe(true);
    expect(unpack).toMatchObject({ result: { files: 1 } });
  });
});

describe('writing verbs', () => {
  it.each<[string, HostilePackage]>([
    ['a path that leaves', { vintage: 'cncf', layers: [rawLayer('../../x')] }],
    ['a layer that is not there', { vintage: 'cncf', layers: [{ ...rawLayer('x'), descriptor: { digest: sha256('nowhere') } }] }],
    ['a malformed descriptor', { vintage: 'cncf', layers: [{ ...rawLayer('x'), descriptor: { digest: 'sha256:x' } }] }],
    ['a config that is a list', { vintage: 'cncf', layers: good, configBytes: '[]' }],
    ['a damaged tar', { vintage: 'cncf', layers: [tarLayer('cncf', Buffer.alloc(700, 'x'))] }],
    ['a link out', { vintage: 'draft', layers: [tarLayer('draft', rawTar({ name: 'l', type: '2', linkName: '/etc' }))] }],
  ])('refuse or carry %s, and never crash', async (_, hostile) => {
    writePackage(sandbox.layout, hostile);
    const source = location();
    const copied = { location: source, name: 'kept:v1', set: ['version=2'] };
    const outcomes = [
      await sandbox.attempt(() => edit(copied, sandbox.context())),
      await sandbox.attempt(() => convert({ source, destination: 'there:v1', format: 'modelpack', vintage: 'draft-2024' }, sandbox.context())),
      await sandbox.attempt(() => convert({ source, destination: 'here:v1', format: 'modelpack', vintage: 'cnai' }, sandbox.context())),
      await sandbox.attempt(() => diff({ a: source, b: source }, sandbox.context())),
      await sandbox.attempt(() => list({}, sandbox.context())),
    ];
    expect(outcomes.filter((outcome) => outcome.kind === 'error' && outcome.exitCode !== 1)).toEqual([]);
    sandbox.assertClean();
  });

  it('take a good one, so that the table above can fail', async () => {
    writePackage(sandbox.layout, {
      vintage: 'cncf',
      layers: [
        { ...rawLayer('a.safetensors', makeTensors({ w: ['F32', [4], 16] })), mediaType: 'application/vnd.cncf.model.weight.v1.raw' },
        ...good,
      ],
    });
    const verdicts = await everyVerb();
    expect(listComplaints(verdicts.inspect, verdicts.verify, verdicts.unpack)).toEqual([]);
    expect(verdicts.list).toMatchObject({ result: { packages: [{ name: 'v1', format: 'modelpack' }] } });
  });
});
