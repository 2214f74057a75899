/** Zips that mean harm, as cartons, through every verb: refused by name with status 1, nothing written outside and nothing left. */
import { existsSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Limits } from '../../src/core/index.js';
import { type CartonSandbox, createCartonSandbox, hostileCarton, type HostileParts, soundIndex, verbs } from '../support/hostile-carton.js';
import { expectAllRefuse, expectContentRefused, expectRefusal, expectSound } from '../support/hostile-carton-verdicts.js';
import { listComplaints } from '../support/hostile-verbs.js';
import { numbers, oddExtra, type OddMember, zip64Extra } from '../support/odd-zip.js';

let sandbox: CartonSandbox;
beforeEach(() => {
  sandbox = createCartonSandbox();
});
afterEach(() => sandbox.close());

const file = (name: string | Uint8Array, more: Partial<OddMember> = {}): OddMember => ({ name, content: 'x', ...more });
const asModel = (more: Partial<OddMember>): HostileParts => ({ replaced: { 'model/a': file('model/a', { content: 'hello', ...more }) } });
const withMembers = (...members: readonly OddMember[]): HostileParts => ({ members });

type Row = readonly [name: string, parts: HostileParts, words: RegExp, limits?: Partial<Limits>];

/** What the list of the zip shows: no verb goes further. By row of the list of threats. */
const atOnce: readonly Row[] = [
  ...['../../x', 'a/../../x', 'model/..', './x', 'a//b'].map((name) => [`A1 ${name}`, withMembers(file(name)), /unsafe-path.*part/] as const),
  ['A1 ..\\x', withMembers(file('..\\x')), /unsafe-path.*"\.\.\\\\?x".*backslash/],
  ...['/etc/x', '//srv/x'].map((name) => [`A2 ${name}`, withMembers(file(name)), /unsafe-path.*absolute/] as const),
  ...['C:\\x', 'C:x'].map((name) => [`A2 ${name}`, withMembers(file(name)), /unsafe-path.*drive letter/] as const),
  ['A2 \\\\?\\x', withMembers(file('\\\\?\\x')), /unsafe-path.*backslash/],
  ['A3 a file through a link', withMembers(file('l', { content: '../neighbour', mode: 0o120777 }), file('l/secret')), /refused-entry.*"l".*folder/],
  ['A7 a device', withMembers(file('c', { mode: 0o020644 })), /refused-entry.*"c".*mode 020644/],
  ['A7 a pipe', withMembers(file('c', { mode: 0o010644 })), /refused-entry.*"c".*mode 010644/],
  ['A8 set-uid', withMembers(file('model/s', { mode: 0o104755 })), /refused-entry.*"model\/s".*set-id/],
  ['A9 twice the same', withMembers(file('model/a', { content: 'hello' })), /refused-entry.*"model\/a".*twice/],
  ['A9 twice, not the same', withMembers(file('model/a')), /refused-entry.*"model\/a".*twice/],
  ['A9 carton.toml twice', withMembers(file('carton.toml')), /refused-entry.*"carton.toml".*twice/],
  ['A9 MANIFEST twice', withMembers(file('MANIFEST')), /refused-entry.*"MANIFEST".*twice/],
  ['A12 a NUL', withMembers(file('a\0b')), /unsafe-path.*NUL/],
  ['A12 a line break', withMembers(file('a\nb=x')), /unsafe-path.*b=x".*control character/],
  ['A12 an escape sequence', withMembers(file('a\u001b[2Jb')), /unsafe-path.*control character/],
  ['A12 no UTF-8', withMembers(file(Buffer.from([0x61, 0xff]))), /unsafe-path.*UTF-8/],
  ['A14 a file and a folder', withMembers(file('model/a/b')), /refused-entry.*"model\/a".*folder/],
  ['A15 a name of 5000 bytes', withMembers(file(`${'long-name/'.repeat(100)}${'x'.repeat(4000)}`)), /unsafe-path.*longer/],
  ['A15 300 folders', withMembers(file(`${'n/'.repeat(299)}x`)), /unsafe-path.*deep/],
  ['A15 a part of 256 bytes', withMembers(file('n'.repeat(256))), /unsafe-path.*255/],
  ['A19 more entries than are allowed', withMembers(...Array.from({ length: 20 }, (_, at) => file(`f${at}`))), /limit.*20/, { archiveEntries: 20 }],
  ['Z2 bytes before it', { archive: { prefix: 'PK\u0003\u0004 is what others stop at' } }, /bad-archive/],
  ['Z2 bytes behind it', { archive: { suffix: 'junk' } }, /bad-archive/],
  ['Z2 an end record in the comment', { archive: { comment: Buffer.from('504b0506000000000000000000000000000000000000', 'hex') } }, /bad-archive/],
  ['Z2 bytes behind the list', { archive: { behindList: Buffer.from('junk') } }, /bad-archive/],
  ['Z2 fewer entries than are listed', { archive: { end: { entries: 1, entriesHere: 1 } } }, /bad-archive.*entries/],
  ['Z2 on several disks', { archive: { end: { disk: 1 } } }, /bad-archive/],
  ['Z3 zip64 for a value that is there', asModel({ central: { extra: zip64Extra(6, 6) } }), /bad-archive.*"model\/a".*hold others/],
  ['Z3 zip64 records that say otherwise', { archive: { end64: { entries: 1 } } }, /bad-archive/],
  ['Z3 a locator that points elsewhere', { archive: { end64: { locatorOffset: 0 } } }, /bad-archive/],
  [
    'Z3 sizes beyond the file',
    asModel({ central: { size: 0xffffffff, packed: 0xffffffff, extra: zip64Extra(1e12, 1e12) } }),
    /bad-archive.*"model\/a"/,
  ],
  ['Z4 entries that overlap', asModel({ central: { size: 400, packed: 400 } }), /bad-archive.*"model\/a".*begins/],
  ['Z4 two entries of one place', withMembers(file('b', { central: { offset: 0 } })), /bad-archive.*"(carton.toml|b)"/],
  ['Z5 encrypted', asModel({ flags: 1 }), /refused-entry.*"model\/a".*encrypted/],
  ['Z5 unknown flags', asModel({ flags: 0x40 }), /refused-entry.*"model\/a".*flags 0x40/],
  ['Z5 bzip2', asModel({ method: 12 }), /refused-entry.*"model\/a".*method 12/],
  [
    'Z5 another name in an extra field',
    asModel({ extra: oddExtra(0x7075, Buffer.concat([numbers([1, 1], [crc32('model/a'), 4]), Buffer.from('b')])) }),
    /bad-archive.*"model\/a".*Unicode/,
  ],
  ['Z8 a link for some readers only', withMembers(file('l', { mode: 0o120777, host: 0 })), /bad-archive.*"l".*link for some readers/],
];

const repeated = Buffer.alloc(4_000_000, 'a');

/** What is found where the content is read; what needs none of it goes on. */
const inContent: readonly Row[] = [
  ['Z1 another name in the local header', asModel({ local: { name: 'model/b' } }), /bad-archive.*"model\/a".*names another file/],
  ['Z1 another size', asModel({ local: { size: 6 } }), /bad-archive.*"model\/a".*says 6 bytes, the list 5/],
  ['Z1 another compression', asModel({ local: { method: 8 } }), /bad-archive.*"model\/a".*another compression/],
  ['Z1 another CRC-32', asModel({ local: { crc32: 1 } }), /bad-archive.*"model\/a".*another CRC-32/],
  [
    'Z2 a gap before an entry',
    {
      replaced: {
        'tensor_data/index.toml': { name: 'tensor_data/index.toml', content: soundIndex, gap: Buffer.from('gap') },
      },
    },
    /bad-archive.*"model\/a".*3 other bytes/,
  ],
  [
    'Z6 more comes out than is said',
    asModel({ method: 8, content: deflateRawSync(repeated), size: 10, crc32: crc32(repeated) }),
    /bad-archive.*"model\/a".*more than the 10 bytes/,
  ],
  [
    'Z6 less comes out than is said',
    asModel({ method: 8, content: deflateRawSync('hello'), size: 6, crc32: crc32('hello') }),
    /bad-archive.*"model\/a".*expected 6 bytes, found 5/,
  ],
  ['Z7 a wrong CRC-32 in both places', asModel({ crc32: 1 }), /bad-archive.*"model\/a".*CRC-32/],
  [
    'other bytes behind deflate',
    asModel({ method: 8, content: Buffer.concat([deflateRawSync('hello'), Buffer.from('junk')]), size: 5, crc32: crc32('hello') }),
    /bad-archive.*"model\/a".*behind its end/,
  ],
  ['no deflate at all', asModel({ method: 8, content: Buffer.alloc(40, 0xff), size: 5, crc32: 1 }), /bad-archive.*"model\/a".*inflated/],
  ['no zstd at all', asModel({ method: 93, content: Buffer.alloc(40, 0xff), size: 5, crc32: 1 }), /"?model\/a"?/],
];

function toCase([name, parts, words, limits = {}]: Row) {
  return { name, parts, words, limits };
}

it('what has nothing wrong passes every verb', async () => {
  sandbox.put(hostileCarton());
  expectSound(await sandbox.tryAll());
});

it.each(atOnce.map(toCase))('$name', async ({ parts, words, limits }) => {
  sandbox.put(hostileCarton(parts));
  expectAllRefuse(await sandbox.tryAll({ limits }), words);
});

it.each(inContent.map(toCase))('$name', async ({ parts, words, limits }) => {
  sandbox.put(hostileCarton(parts));
  expectContentRefused(await sandbox.tryAll({ limits }), words);
  expect(existsSync(sandbox.target)).toBe(false);
});

describe('twins', () => {
  it.each([
    ['A10 of case', 'model/A'],
    ['A10 with a folder', 'MODEL/b'],
    ['A11 of Unicode form', 'model/caf\u00e9', 'model/cafe\u0301'],
  ])('%s are said, and are files of their own here', async (_, ...names) => {
    sandbox.put(hostileCarton({ files: Object.fromEntries(names.map((name) => [name, name])) }));
    const outcomes = await sandbox.tryAll();
    for (const verb of verbs) expect(outcomes[verb]).toMatchObject({ kind: 'result' });
    expect(listComplaints(outcomes.inspect)).toContainEqual(expect.stringMatching(/folding-path/));
    expect(listComplaints(outcomes.validate)).toContainEqual(expect.stringMatching(/twin-paths/));
  });
});

describe('names that are harmless here', () => {
  it.each(['model/a..b', 'model/..c', 'model/con', 'model/nul.txt', 'model/a.', 'model/ab:c', 'model/PROGRA~1', 'model/\u202egnp.exe', 'model/a=b'])(
    'A13 %j is a file',
    async (name) => {
      sandbox.put(hostileCarton({ files: { [name]: 'x' } }));
      const outcomes = await sandbox.tryAll();
      for (const verb of verbs) expect(outcomes[verb]).toMatchObject({ kind: 'result' });
    },
  );
});

it('Z1 a header that lies in a file that MANIFEST does not list is found too', async () => {
  sandbox.put(hostileCarton(withMembers(file('hidden', { local: { name: 'other_' } }))));
  const { verify, unpack } = await sandbox.tryAll({ only: ['verify', 'unpack'] });
  expect(verify).toMatchObject({ result: { ok: false } });
  expect(listComplaints(verify)).toContainEqual(expect.stringMatching(/damaged-member.*"hidden".*names another file/));
  expect(listComplaints(unpack)).toContainEqual(expect.stringMatching(/bad-archive.*"hidden".*names another file/));
});

it('Z2 bytes between MANIFEST and the list of the zip: nothing can be proven, so nothing is unpacked', async () => {
  sandbox.put(hostileCarton({ archive: { beforeList: Buffer.from('junk') } }));
  const outcomes = await sandbox.tryAll();
  for (const verb of ['inspect', 'validate', 'verify'] as const)
    expect(listComplaints(outcomes[verb])).toContainEqual(expect.stringMatching(/"MANIFEST": 4 other bytes stand behind it/));
  for (const verb of ['unpack', 'run', 'test', 'copy to a file', 'copy --inflate', 'shrink'] as const)
    expectRefusal(verb, outcomes, /"MANIFEST": 4 other bytes stand behind it/);
});
