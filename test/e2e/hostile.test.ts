/** Archives and paths that mean harm: nothing is written outside, nothing half-written is left, and what is wrong is said by name. */
import { chmodSync, existsSync, lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHostileSandbox, type HostileSandbox } from '../support/hostile-layout.js';
import { type HostileLayer, rawLayer, tarLayer, writePackage } from '../support/hostile-package.js';
import { listComplaints, tryAllVerbs } from '../support/hostile-verbs.js';
import { headerFields, patchHeader, paxTar, withoutEnd } from '../support/odd-tar.js';
import { type RawEntry, rawTar } from '../support/raw-tar.js';
import { listFiles } from '../support/workbench.js';

let sandbox: HostileSandbox;
beforeEach(() => {
  sandbox = createHostileSandbox();
});
afterEach(() => sandbox.close());

const forms = ['raw', 'cncf', 'draft'] as const;
type Form = (typeof forms)[number];

/** A refusal; or the paths that are unpacked, with a complaint; or, as `quietly`, without one. */
type Expected = RegExp | readonly string[] | { readonly quietly: readonly string[] };

const file = (name: string, more: Partial<RawEntry> = {}): RawEntry => ({ name, content: 'x', ...more });
const symlink = (name: string, linkName: string): RawEntry => ({ name, type: '2', linkName });
const hardlink = (name: string, linkName: string): RawEntry => ({ name, type: '1', linkName });
const folder = (name: string, mode = 0o755): RawEntry => ({ name, type: '5', mode });
const neighbour = '../../../neighbour';
const deepPath = `${'n/'.repeat(299)}x`;
const chain = Array.from({ length: 1000 }, (_, index) => symlink(`l${index}`, `l${index + 1}`));

const leaves = /unsafe-path.*"\.\." part/;
const absolute = /unsafe-path.*absolute/;
const drive = /unsafe-path.*drive letter/;
const twice = /refused-entry.*"a".*twice/;
const clash = /refused-entry.*both a file and a folder/;
const noTarget = /refused-entry.*"h".*hard link/;
const loop = /refused-entry.*link.*loop/;
const device = (kind: string) => new RegExp(`refused-entry.*"c".*${kind}`);
const control = /unsafe-path.*control character/;

/** For a package of files with paths of their own, a package of one tar, and one image layer; by row of the list of threats. */
const entries: readonly (readonly [string, readonly RawEntry[], Partial<Record<Form, Expected>>])[] = [
  ['A1 ../../x', [file('../../x')], { raw: leaves, cncf: leaves, draft: leaves }],
  ['A1 a/../../x', [file('a/../../x')], { raw: leaves, cncf: leaves, draft: leaves }],
  ['A1 ..\\x', [file('..\\x')], { raw: /unsafe-path.*backslash/, cncf: /unsafe-path.*backslash/, draft: ['..\\x'] }],
  ['A1 a/..', [file('a/..')], { raw: leaves, cncf: leaves, draft: leaves }],
  ['A1 a..b is no harm', [file('a..b/..c')], { raw: { quietly: ['a..b/..c'] }, cncf: { quietly: ['a..b/..c'] }, draft: { quietly: ['a..b/..c'] } }],
  ['A2 /abs', [file('/abs')], { raw: absolute, cncf: absolute, draft: { quietly: ['abs'] } }],
  ['A2 //srv/x', [file('//srv/x')], { raw: absolute, cncf: absolute, draft: { quietly: ['srv/x'] } }],
  ['A2 C:\\x', [file('C:\\x')], { raw: drive, cncf: drive, draft: ['C:\\x'] }],
  ['A2 C:x', [file('C:x')], { raw: drive, cncf: drive, draft: ['C:x'] }],
  ['A2 \\\\?\\x', [file('\\\\?\\x')], { raw: /unsafe-path/, cncf: /unsafe-path/, draft: ['\\\\?\\x'] }],
  ['A3 through a link out', [symlink('l', neighbour), file('l/secret')], { cncf: clash, draft: clash }],
  ['A3 a link out', [symlink('l', neighbour)], { cncf: /refused-entry.*"l".*leads out/, draft: [] }],
  ['A3 a link out by steps', [folder('a'), symlink('a/b', '..'), symlink('l', 'a/b/../..')], { cncf: /refused-entry.*leads out/, draft: ['a/b'] }],
  ['A5 a hard link out', [hardlink('h', `${neighbour}/secret`)], { cncf: noTarget, draft: [] }],
  ['A5 a hard link to /etc/passwd', [hardlink('h', '/etc/passwd')], { cncf: noTarget, draft: [] }],
  ['A5 a hard link through a link', [symlink('s', neighbour), hardlink('h', 's/secret')], { cncf: noTarget, draft: [] }],
  ['A5 a hard link to ..', [hardlink('h', '..')], { cncf: noTarget, draft: [] }],
  ['A5 a hard link to itself', [hardlink('h', 'h')], { cncf: noTarget, draft: [] }],
  ['A6 a link to itself', [symlink('s', 's')], { cncf: loop, draft: [] }],
  ['A6 a loop', [symlink('s', 't'), symlink('t', 's')], { cncf: loop, draft: [] }],
  ['A6 a chain of 1000', [...chain, file('l1000')], { cncf: loop }],
  ['A7 a character device', [{ name: 'c', type: '3' }], { cncf: device('character-device'), draft: [] }],
  ['A7 a block device', [{ name: 'c', type: '4' }], { cncf: device('block-device'), draft: [] }],
  ['A7 a fifo', [{ name: 'c', type: '6' }], { cncf: device('fifo'), draft: [] }],
  ['A8 set-uid', [file('s', { mode: 0o4755 })], { cncf: /refused-entry.*"s".*set-id/, draft: { quietly: ['s'] } }],
  ['A8 set-gid', [file('s', { mode: 0o2755 })], { cncf: /refused-entry.*"s".*set-id/, draft: { quietly: ['s'] } }],
  [
    'A8 sticky, for all to write, of another user',
    [file('s', { mode: 0o1777, uid: 4242, gid: 4242 })],
    { cncf: { quietly: ['s'] }, draft: { quietly: ['s'] } },
  ],
  ['A9 twice the same', [file('a'), file('a')], { raw: twice, cncf: twice, draft: { quietly: ['a'] } }],
  ['A9 twice, not the same', [file('a'), file('a', { content: 'y' })], { raw: twice, cncf: twice, draft: { quietly: ['a'] } }],
  ['A10 case twins', [file('A'), file('a')], { raw: ['A', 'a'], cncf: ['A', 'a'], draft: ['A', 'a'] }],
  [
    'A10 sharp s',
    [file('stra\u00dfe'), file('strasse')],
    { raw: ['strasse', 'stra\u00dfe'], cncf: ['strasse', 'stra\u00dfe'], draft: ['strasse', 'stra\u00dfe'] },
  ],
  ['A10 Kelvin', [file('K'), file('\u212a')], { raw: ['K', '\u212a'], cncf: ['K', '\u212a'], draft: ['K', '\u212a'] }],
  [
    'A11 Unicode twins',
    [file('cafe\u0301'), file('caf\u00e9')],
    { raw: ['cafe\u0301', 'caf\u00e9'], cncf: ['cafe\u0301', 'caf\u00e9'], draft: ['cafe\u0301', 'caf\u00e9'] },
  ],
  ['A12 a line break', [file('a\nb')], { raw: control, cncf: control, draft: ['a\nb'] }],
  ['A12 an escape sequence', [file('a\u001b[2Jb')], { raw: control, cncf: control, draft: ['a\u001b[2Jb'] }],
  ['A12 a NUL', [file('a\0b')], { raw: /unsafe-path.*NUL/ }],
  ['A12 a lone surrogate', [file('a\ud800b')], { raw: /unsafe-path|bad-json/ }],
  ['A13 con', [file('con')], { raw: ['con'], cncf: ['con'], draft: ['con'] }],
  ['A13 nul.txt', [file('nul.txt')], { raw: ['nul.txt'], cncf: ['nul.txt'], draft: ['nul.txt'] }],
  ['A13 a.', [file('a.')], { raw: ['a.'], cncf: ['a.'], draft: ['a.'] }],
  ['A13 a and a blank', [file('a ')], { raw: ['a '], cncf: ['a '], draft: ['a '] }],
  ['A13 a stream', [file('ab:c')], { raw: ['ab:c'], cncf: ['ab:c'], draft: ['ab:c'] }],
  ['A13 a short name', [file('PROGRA~1')], { raw: ['PROGRA~1'], cncf: ['PROGRA~1'], draft: ['PROGRA~1'] }],
  ['A14 a file, then a folder', [file('a'), file('a/b')], { raw: clash, cncf: clash, draft: clash }],
  ['A14 a folder, then a file', [file('a/b'), file('a')], { raw: clash, cncf: clash, draft: clash }],
  [
    'A15 a name of 5000 bytes',
    [file(`${'long-name/'.repeat(100)}${'x'.repeat(4000)}`)],
    { raw: /unsafe-path.*longer/, cncf: /unsafe-path.*longer/, draft: /unsafe-path.*longer/ },
  ],
  ['A15 300 folders', [file(deepPath)], { raw: /unsafe-path.*deep/, cncf: /unsafe-path.*deep/, draft: /unsafe-path.*deep/ }],
  ['A15 a part of 256 bytes', [file('n'.repeat(256))], { raw: /unsafe-path.*255/, cncf: /unsafe-path.*255/, draft: /unsafe-path.*255/ }],
  ['whiteouts outside', [file('../.wh.secret')], { raw: leaves, cncf: leaves, draft: leaves }],
  ['a whiteout of ..', [file('.wh...')], { draft: /refused-entry.*whiteout of nothing/ }],
];

const cases = entries.flatMap(([name, list, expected]) =>
  forms.flatMap((form) => (expected[form] === undefined ? [] : [{ name, form, list, expected: expected[form] }])),
);

function toLayers(form: Form, list: readonly RawEntry[]): readonly HostileLayer[] {
  return form === 'raw' ? list.map(({ name, content = '' }) => rawLayer(name, content)) : [tarLayer(form, rawTar(...list))];
}

/** Files and links of the target. */
function listTarget(): string[] {
  return listFiles(sandbox.target);
}

const location = () => `oci:${sandbox.layout.path}:v1`;

async function expectOutcome(expected: Expected): Promise<void> {
  const verdicts = await tryAllVerbs(sandbox, location());
  const said = listComplaints(verdicts.inspect, verdicts.validate, verdicts.unpack);
  if (expected instanceof RegExp) {
    expect(verdicts.unpack).toMatchObject({ kind: 'error', exitCode: 1 });
    expect(listComplaints(verdicts.unpack)).toEqual([expect.stringMatching(expected)]);
    expect(listComplaints(verdicts.inspect, verdicts.validate).length).toBeGreaterThan(0);
    expect(existsSync(sandbox.target)).toBe(false);
    return;
  }
  const isQuiet = 'quietly' in expected;
  expect(verdicts.unpack).toMatchObject({ kind: 'result' });
  expect(listTarget()).toEqual(isQuiet ? expected.quietly : expected);
  if (!isQuiet) expect(said.length).toBeGreaterThan(0);
}

describe('entries', () => {
  it.each(cases)('$name, $form', async ({ form, list, expected }) => {
    writePackage(sandbox.layout, { vintage: form === 'draft' ? 'draft' : 'cncf', layers: toLayers(form, list) });
    await expectOutcome(expected);
    for (const path of existsSync(sandbox.target) ? listTarget() : []) {
      const { mode, uid } = lstatSync(join(sandbox.target, path));
      expect([mode & 0o7000, uid]).toEqual([0, process.getuid?.()]);
    }
  });

  it('A8 set-uid in the metadata of a raw layer', async () => {
    const metadata = JSON.stringify({ name: 's', mode: 0o4755, uid: 0, gid: 0, size: 1, mtime: '2026-01-01T00:00:00Z', typeflag: 0 });
    writePackage(sandbox.layout, { vintage: 'cncf', layers: [rawLayer('s', 'x', { 'org.cncf.model.file.metadata+json': metadata })] });
    await expectOutcome(/refused-entry.*"s".*set-id/);
  });

  it('A3 a link and a file through it stay apart even where the target exists', async () => {
    writePackage(sandbox.layout, {
      vintage: 'draft',
      layers: [tarLayer('draft', rawTar(symlink('l', neighbour))), tarLayer('draft', rawTar(file('l/secret')))],
    });
    await expectOutcome({ quietly: ['l/secret'] });
  });

  it.each(['cncf', 'draft'] as const)('A4 a second layer writes through the link of the first: %s', async (form) => {
    writePackage(sandbox.layout, {
      vintage: form,
      layers: [tarLayer(form, rawTar(symlink('l', neighbour))), tarLayer(form, rawTar(folder('l'), file('l/secret')))],
    });
    await expectOutcome(form === 'cncf' ? /refused-entry/ : { quietly: ['l/secret'] });
    if (form === 'draft') expect(lstatSync(join(sandbox.target, 'l')).isDirectory()).toBe(true);
  });

  it('A9 a raw layer and a tar hold the same path', async () => {
    writePackage(sandbox.layout, { vintage: 'cncf', layers: [rawLayer('a', 'one'), tarLayer('cncf', rawTar(file('a')))] });
    await expectOutcome(twice);
  });

  it('a folder that nobody may enter is unpacked and can be removed', async () => {
    writePackage(sandbox.layout, { vintage: 'cncf', layers: [tarLayer('cncf', rawTar(folder('shut', 0), file('shut/x')))] });
    await expectOutcome({ quietly: ['shut/x'] });
    expect(statSync(join(sandbox.target, 'shut')).mode & 0o700).toBe(0o700);
    chmodSync(join(sandbox.target, 'shut'), 0o755);
  });
});

const plain = rawTar(file('plain.txt', { content: 'plain' }));
const damaged = /bad-archive|refused-entry|limit|size-mismatch/;

/** Archives that contradict themselves; both vintages refuse them. */
const tars: readonly (readonly [string, Uint8Array, RegExp])[] = [
  ['A16 pax path out', paxTar({ path: '../../x' }), leaves],
  ['A16 pax path with NUL', paxTar({ path: 'a\0b' }), /bad-archive|unsafe-path/],
  ['A16 pax path that is not UTF-8', paxTar({ path: 'a\xff' }), /bad-archive|unsafe-path/],
  ['A16 pax size larger than the data', paxTar({ size: '999999' }), damaged],
  ['A16 pax size of 2^63', paxTar({ size: '9223372036854775808' }), damaged],
  ['A16 pax size that is negative', paxTar({ size: '-1' }), damaged],
  ['A16 a negative size', patchHeader(plain, { [headerFields.size]: '-0000000001\0' }), damaged],
  ['A16 a base-256 size of 2^80', patchHeader(plain, { [headerFields.size]: Buffer.from('800000010000000000000000', 'hex') }), damaged],
  ['A16 a negative base-256 size', patchHeader(plain, { [headerFields.size]: Buffer.from('ffffffffffffffffffffffff', 'hex') }), damaged],
  ['A16 a size beyond the end', patchHeader(plain, { [headerFields.size]: '77777777777\0' }), damaged],
  ['A16 a malformed pax record', rawTar({ name: 'pax', type: 'x', content: '9999999999 path=x\n' }, file('x')), damaged],
  ['A17 a sparse file', patchHeader(plain, { [headerFields.type]: 'S' }), damaged],
  [
    'A17 a pax sparse file',
    paxTar({ 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0', 'GNU.sparse.realsize': '1099511627776', 'GNU.sparse.name': 'hole' }),
    damaged,
  ],
  [
    'A17 a long name twice',
    Buffer.concat([
      withoutEnd(rawTar({ name: '././@LongLink', type: 'L', content: 'one\0' })),
      withoutEnd(rawTar({ name: '././@LongLink', type: 'L', content: '../two\0' })),
      plain,
    ]),
    /bad-archive|unsafe-path|refused-entry/,
  ],
  ['A18 a wrong checksum', patchHeader(plain, { [headerFields.checksum]: '000000\0 ' }), damaged],
  ['A18 cut in the middle of content', plain.subarray(0, 514), damaged],
  ['A18 cut in the middle of a header', plain.subarray(0, 300), damaged],
  ['A18 other bytes behind the end', Buffer.concat([plain, Buffer.from('garbage that is long enough to be seen'.repeat(20))]), damaged],
  ['A18 a second archive behind the first', Buffer.concat([plain, rawTar(file('second'))]), damaged],
  ['not an archive at all', Buffer.from('this is no tar '.repeat(100)), damaged],
];

describe('archives', () => {
  it.each(tars.flatMap(([name, bytes, expected]) => (['cncf', 'draft'] as const).map((form) => ({ name, form, bytes, expected }))))(
    '$name, $form',
    async ({ form, bytes, expected }) => {
      writePackage(sandbox.layout, { vintage: form, layers: [tarLayer(form, bytes)] });
      await expectOutcome(expected);
    },
  );

  it.each(['cncf', 'draft'] as const)('A19 more entries than are allowed, %s', async (form) => {
    const many = Array.from({ length: 1001 }, (_, index) => file(`f${index}`, { content: '' }));
    writePackage(sandbox.layout, { vintage: form, layers: [tarLayer(form, rawTar(...many))] });
    const { inspect, unpack } = await tryAllVerbs(sandbox, location(), { archiveEntries: 1000 });
    expect(listComplaints(unpack)).toEqual([expect.stringMatching(/bytes\/limit.*1000/)]);
    expect(inspect.kind).toBe('result');
    expect(existsSync(sandbox.target)).toBe(false);
  });
});
