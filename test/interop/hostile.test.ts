/**
 * Packages made to do harm, in layouts that are sound but for that: where `carried` is true, oras takes them from one layout to the
 * next without a word. Ours: refused with exit status 1, the entry named, nothing outside the target and no target left.
 */
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RawEntry, rawTar } from '../support/raw-tar.js';
import { readFiles, sha256 } from './support/folders.js';
import { Layout, type LayerRecipe, putModelPack } from './support/layouts.js';
import { Shelf } from './support/shelf.js';
import { must, run } from './support/tools.js';

let shelf: Shelf;
beforeAll(() => {
  shelf = new Shelf();
});
afterAll(() => shelf.close());

const content = Buffer.from('harmless as such\n');
const raw = (filepath: string, bytes: Uint8Array = content): LayerRecipe => ({ type: 'weight.v1.raw', filepath, bytes });
const tar = (...entries: readonly RawEntry[]): LayerRecipe => ({ type: 'weight.v1.tar', filepath: 'all', bytes: rawTar(...entries) });
const file = (name: string, fields: Partial<RawEntry> = {}): RawEntry => ({ name, content, ...fields });
const digest = `sha256:${sha256(content)}`;

interface Case {
  readonly what: string;
  readonly layers: readonly LayerRecipe[];
  /** What the message has to say. */
  readonly named: string;
  readonly carried?: false;
}

const cases: readonly Case[] = [
  { what: 'filepath up and out', layers: [raw('../evil.txt')], named: '../evil.txt' },
  { what: 'filepath down, up and out', layers: [raw('a/../../evil.txt')], named: 'a/../../evil.txt' },
  { what: 'absolute filepath', layers: [raw('/evil.txt')], named: '/evil.txt' },
  { what: 'filepath with backslashes', layers: [raw('..\\evil.txt')], named: 'evil.txt' },
  { what: 'filepath of the root', layers: [raw('.')], named: '"."' },
  { what: 'filepath with a zero byte', layers: [raw('a\0b')], named: 'a\\u{0}b' },
  { what: 'two layers with one filepath', layers: [raw('model.bin'), raw('model.bin', Buffer.from('another'))], named: 'model.bin' },
  { what: 'tar entry over the file of a raw layer', layers: [raw('model.bin'), tar(file('model.bin', { content: 'other' }))], named: 'model.bin' },
  { what: 'one path twice in a tar', layers: [tar(file('model.bin'), file('model.bin'))], named: 'model.bin' },
  { what: 'a file where a folder is', layers: [raw('a'), raw('a/b')], named: 'a' },
  { what: 'tar entry up and out', layers: [tar(file('fine.txt'), file('../evil.txt'))], named: '../evil.txt' },
  { what: 'absolute tar entry', layers: [tar(file('/evil.txt'))], named: '/evil.txt' },
  { what: 'symlink out, then a file through it', layers: [tar({ name: 'd', type: '2', linkName: '..' }, file('d/evil.txt'))], named: 'd' },
  { what: 'absolute symlink', layers: [tar({ name: 'passwd', type: '2', linkName: '/etc/passwd' })], named: 'passwd' },
  { what: 'hard link to a file outside', layers: [tar({ name: 'link', type: '1', linkName: '../outside.txt' })], named: 'link' },
  { what: 'character device', layers: [tar({ name: 'null', type: '3' })], named: 'null' },
  { what: 'named pipe', layers: [tar({ name: 'pipe', type: '6' })], named: 'pipe' },
  { what: 'set-user-id file', layers: [tar(file('run', { mode: 0o4755 }))], named: 'run' },
  {
    what: 'tar cut off within a file',
    layers: [
      {
        ...tar(file('long.bin', { content: Buffer.alloc(4096) })),
        bytes: rawTar(file('long.bin', { content: Buffer.alloc(4096) })).subarray(0, 2000),
      },
    ],
    named: 'layers[0]',
  },
  { what: 'no tar at all', layers: [{ ...raw('all', Buffer.alloc(2048, 'x')), type: 'weight.v1.tar' }], named: 'layers[0]' },
  {
    what: 'gzip cut off',
    layers: [{ type: 'weight.v1.tar+gzip', filepath: 'all', bytes: gzipSync(rawTar(file('a'))).subarray(0, 60) }],
    named: 'layers[0]',
  },
  { what: 'layer with another size', layers: [{ ...raw('model.bin'), lies: { size: content.length + 1 } }], named: 'model.bin', carried: false },
  {
    what: 'layer that is absent',
    layers: [{ ...raw('model.bin'), lies: { digest: `sha256:${'0'.repeat(64)}` } }],
    named: '0'.repeat(64),
    carried: false,
  },
  {
    what: 'digest in upper case',
    layers: [{ ...raw('model.bin'), lies: { digest: digest.toUpperCase().replace('SHA256', 'sha256') } }],
    named: 'layers[0]',
    carried: false,
  },
  { what: 'md5 digest', layers: [{ ...raw('model.bin'), lies: { digest: `md5:${'0'.repeat(32)}` } }], named: 'layers[0]', carried: false },
  {
    what: 'digest that is a path',
    layers: [{ ...raw('model.bin'), lies: { digest: 'sha256:../../../outside.txt' } }],
    named: 'layers[0]',
    carried: false,
  },
];

/** A folder with a file in it, beside which nothing may appear. */
function makeSandbox(): { sandbox: string; layout: Layout; location: string } {
  const sandbox = shelf.path('sandbox');
  mkdirSync(sandbox);
  writeFileSync(join(sandbox, 'outside.txt'), 'outside\n');
  const layout = Layout.create(shelf.path('layout'));
  return { sandbox, layout, location: `oci:${layout.folder}:v1` };
}

function expectRefused(location: string, sandbox: string, named: string): void {
  const { code, stdout, stderr } = shelf.modelport.run(['unpack', location, '-o', join(sandbox, 'target')]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(named);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(Object.keys(readFiles(sandbox))).toEqual(['outside.txt']);
}

describe('unpack refuses', () => {
  it.each(cases)('$what', ({ layers, named, carried = true }) => {
    const { sandbox, layout, location } = makeSandbox();
    putModelPack(layout, 'v1', layers);
    expect(run('oras', ['copy', '--no-tty', '--from-oci-layout', `${layout.folder}:v1`, '--to-oci-layout', `${shelf.path()}:v1`]).code === 0).toBe(
      carried,
    );
    expectRefused(location, sandbox, named);
  });

  it('an existing target keeps what it held', () => {
    const { sandbox, layout, location } = makeSandbox();
    putModelPack(layout, 'v1', [raw('new.txt'), tar(file('fine.txt'), file('../evil.txt'))]);
    mkdirSync(join(sandbox, 'target'));
    writeFileSync(join(sandbox, 'target/old.txt'), 'old\n');
    expect(shelf.modelport.run(['unpack', location, '-o', join(sandbox, 'target'), '--overwrite']).code).toBe(1);
    expect(Object.keys(readFiles(sandbox))).toEqual(['outside.txt', 'target/old.txt']);
  });

  it('a layer that zstd blew up from next to nothing', () => {
    const { sandbox, layout, location } = makeSandbox();
    const zeros = shelf.path('zeros');
    writeFileSync(zeros, '');
    truncateSync(zeros, 512 * 1024 * 1024);
    must('zstd', ['-q', '-19', zeros, '-o', `${zeros}.zst`]);
    const bytes = readFileSync(`${zeros}.zst`);
    expect(bytes.length).toBeLessThan(100_000);
    putModelPack(layout, 'v1', [{ type: 'weight.v1.tar+zstd', filepath: 'all', bytes, diffId: `sha256:${'0'.repeat(64)}` }]);
    expectRefused(location, sandbox, 'layers[0]');
  });
});

describe('verify refuses', () => {
  const expectProblem = (location: string, said: RegExp): void => {
    const { code, stdout, stderr } = shelf.modelport.run(['verify', location, '--json']);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(said);
  };

  it('a diffId that compressed bytes do not come to', () => {
    const { layout, location } = makeSandbox();
    const bytes = gzipSync(rawTar(file('a')));
    putModelPack(layout, 'v1', [{ type: 'weight.v1.tar+gzip', filepath: 'all', bytes, diffId: `sha256:${'1'.repeat(64)}` }]);
    expectProblem(location, /1{64}/);
  });

  it('a diffId that is not the digest of a raw layer', () => {
    const { layout, location } = makeSandbox();
    putModelPack(layout, 'v1', [{ ...raw('model.bin'), diffId: `sha256:${'1'.repeat(64)}` }]);
    expectProblem(location, /1{64}/);
  });

  it('an absent layer, a lying size, and says both', () => {
    const { layout, location } = makeSandbox();
    putModelPack(layout, 'v1', [
      { ...raw('gone.bin'), lies: { digest: `sha256:${'0'.repeat(64)}` } },
      { ...raw('long.bin'), lies: { size: content.length + 1 } },
    ]);
    expectProblem(location, /0{64}/);
    expectProblem(location, new RegExp(`${content.length + 1}`));
  });
});

describe('what is no package', () => {
  it.each([
    ['a config that is no JSON', Buffer.from('not json'), /JSON/i],
    ['a config without modelfs', Buffer.from('{}'), /modelfs/],
    ['a config of wrong types', Buffer.from('{"descriptor":{"name":1},"config":[],"modelfs":{"type":"layers","diffIds":"none"}}'), /diffIds/],
    ['an unknown field', Buffer.from(`{"descriptor":{},"config":{},"modelfs":{"type":"layers","diffIds":["${digest}"]},"extra":1}`), /extra/],
  ])('validate finds %s', (_what, config, said) => {
    const { layout, location } = makeSandbox();
    layout.putManifest('v1', {
      artifactType: 'application/vnd.cncf.model.manifest.v1+json',
      config: layout.putBlob('application/vnd.cncf.model.config.v1+json', config),
      layers: [{ ...layout.putBlob('application/vnd.cncf.model.weight.v1.raw', content), annotations: { 'org.cncf.model.filepath': 'model.bin' } }],
    });
    const { code, stdout } = shelf.modelport.run(['validate', location, '--json']);
    expect(code).toBe(1);
    expect(stdout).toMatch(said);
  });

  it('a manifest of 5 MiB', () => {
    const { sandbox, layout, location } = makeSandbox();
    layout.putManifest('v1', {
      config: layout.putBlob('application/vnd.cncf.model.config.v1+json', content),
      layers: [],
      annotations: { long: 'x'.repeat(5 << 20) },
    });
    expectRefused(location, sandbox, 'manifest');
    expect(shelf.modelport.run(['verify', location]).code).toBe(1);
  });

  it('indexes in indexes, 200 levels', () => {
    const { layout, location } = makeSandbox();
    const indexType = 'application/vnd.oci.image.index.v1+json';
    let inner = putModelPack(layout, 'inner', [raw('model.bin')]);
    for (let level = 0; level < 200; level++) inner = layout.putJson(indexType, { schemaVersion: 2, mediaType: indexType, manifests: [inner] });
    layout.name('v1', inner);
    const { code, stderr } = shelf.modelport.run(['verify', location]);
    expect(code).toBe(1);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
