import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numbers, oddExtra, type OddArchive, type OddMember, oddZip, zip64Extra } from '../../../test/support/odd-zip.js';
import { expectRefused, openBytes, readBytes, readText } from '../../../test/support/read-zip.js';
import { defaultLimits, isToolkitError } from '../../core/index.js';
import { compress } from '../compression/compression.js';
import { collect, fromBytes } from '../streams.js';

const content = 'the quick brown fox '.repeat(50);
const plain = { size: content.length, crc32: crc32(content) };
const deflated: OddMember = { name: 'd', method: 8, content: deflateRawSync(content), ...plain };
const file: OddMember = { name: 'a', content: 'hello' };

async function zstdMember(): Promise<OddMember> {
  return { name: 'z', method: 93, content: await collect(compress(fromBytes(Buffer.from(content)), 'zstd'), 1e6, 'zstd'), ...plain };
}

/** As `readBytes`, but without the walk over all headers: opening the one entry must find it too. */
async function expectOpenRefused(bytes: Uint8Array, reason: RegExp): Promise<void> {
  const read = openBytes(bytes).then((tree) => readText(tree, tree.entries[0]!.path));
  await expect(read).rejects.toMatchObject({ code: 'bytes/bad-archive', message: expect.stringMatching(reason) });
}

const other: OddMember = { name: 'b', content: 'other' };

describe('refuses names', () => {
  it.each([
    '../x',
    'a/../../x',
    '..\\x',
    'a/..',
    '/etc/x',
    'C:\\x',
    'C:x',
    '\\\\srv\\x',
    '//x',
    './a',
    'a//b',
    'a\0b',
    'a\nb',
    'a\u001bb',
    'x'.repeat(5000),
    'y/'.repeat(300) + 'y',
    'c'.repeat(256),
    '',
    '/',
  ])('%j', async (name) => {
    await expectRefused(oddZip([{ name }]), /Cannot use the path/, 'bytes/unsafe-path');
  });

  it.each([0, 0x800])('that are not UTF-8, with flags %i', async (flags) => {
    await expectRefused(oddZip([{ name: Buffer.from([0x61, 0xff]), flags }]), /not valid UTF-8/, 'bytes/unsafe-path');
  });

  it.each<[string, readonly string[], RegExp]>([
    ['a file', ['a', 'a'], /"a": it is there twice/],
    ['a folder', ['a/', 'a/b', 'a/'], /"a": it is there twice/],
    ['a file, then a folder', ['a', 'a/b'], /"a": it is a file and/],
    ['a folder, then a file', ['a/b', 'a'], /is a file and/],
  ])('that stand there twice: %s', async (_, names, reason) => {
    await expectRefused(oddZip(names.map((name) => ({ name, mode: 0 }))), reason, 'bytes/refused-entry');
  });

  it('that differ for readers of the Unicode path field', async () => {
    const field = (name: string, crc: number) => oddExtra(0x7075, Buffer.concat([numbers([1, 1], [crc, 4]), Buffer.from(name)]));
    const same = field('a', crc32('a'));
    expect(await readBytes(oddZip([{ ...file, extra: same }]))).toEqual({ a: 'hello' });
    for (const extra of [field('b', crc32('a')), field('a', 1), oddExtra(0x7075, Buffer.alloc(2))]) {
      await expectRefused(oddZip([{ ...file, extra }]), /Unicode path extra field names another file/);
      await expectRefused(oddZip([{ ...file, local: { extra } }]), /Unicode path extra field names another file/);
    }
  });
});

describe('refuses entries', () => {
  const refused: [string, Partial<OddMember>, RegExp][] = [
    ['encrypted ones', { flags: 1 }, /encrypted/],
    ['unknown flags', { flags: 0x40 }, /flags 0x40/],
    ['patches', { flags: 0x20 }, /flags 0x20/],
    ['unknown methods', { method: 12 }, /method 12/],
    ['devices', { mode: 0o020644 }, /mode 020644/],
    ['pipes', { mode: 0o010644 }, /mode 010644/],
    ['sockets', { mode: 0o140644 }, /mode 0140644/],
    ['set-user-id bits', { mode: 0o104755 }, /set-id/],
    ['set-group-id bits', { mode: 0o102755 }, /set-id/],
  ];
  it.each(refused)('%s', async (_, odd, reason) => {
    await expectRefused(oddZip([{ ...file, ...odd }]), reason, 'bytes/refused-entry');
  });

  const bad: [string, Partial<OddMember>, RegExp][] = [
    ['links that were not made on Unix', { mode: 0o120777, host: 0 }, /link for some readers/],
    ['folders by mode that have no slash', { mode: 0o040755 }, /contradicts the slash/],
    ['folders with content', { name: 'a/', mode: 0o040755 }, /folder and has content/],
    ['stored ones with two sizes', { size: 6 }, /stored, but has 5 bytes for a content of 6/],
    ['parts of other archives', { central: { disk: 1 } }, /another part/],
    ['cut extra fields', { central: { extra: numbers([1, 2], [9, 2]) } }, /longer than the room/],
    ['rests behind extra fields', { central: { extra: Buffer.from('xy') } }, /end in the middle/],
    ['zip64 fields twice', { central: { size: 0xffffffff, extra: Buffer.concat([zip64Extra(5), zip64Extra(6)]) } }, /stands there twice/],
    ['zip64 fields for values that are there', { central: { extra: zip64Extra(6, 6) } }, /although the fields for them hold others/],
    ['zip64 fields with too few values', { central: { size: 0xffffffff, packed: 0xffffffff, extra: zip64Extra(5) } }, /lacks a value/],
    ['zip64 values over 2^53', { central: { size: 0xffffffff, extra: oddExtra(1, Buffer.alloc(8, 0xff)) } }, /larger than 2\^53/],
    [
      'zip64 sizes beyond the file',
      { central: { packed: 0xffffffff, size: 0xffffffff, extra: zip64Extra(1e12, 1e12) } },
      /where something else begins/,
    ],
    ['sizes beyond the file', { central: { packed: 5000, size: 5000 } }, /where something else begins/],
  ];
  it.each(bad)('%s', async (_, odd, reason) => {
    await expectRefused(oddZip([{ ...file, ...odd }]), reason);
  });

  const lies: [string, Partial<OddMember>, RegExp][] = [
    ['another name', { local: { name: 'x' } }, /local header names another file/],
    ['a longer name', { local: { name: 'ax' } }, /local header/],
    ['another method', { local: { method: 8 } }, /another compression/],
    ['other flags', { local: { flags: 0x800 } }, /other flags/],
    ['another size', { local: { size: 6 } }, /says 6 bytes, the list 5/],
    ['another packed size', { local: { packed: 6 } }, /says 6 packed bytes, the list 5/],
    ['no size, without a descriptor', { local: { size: 0 } }, /says 0 bytes, the list 5/],
    ['another CRC-32', { local: { crc32: 1 } }, /another CRC-32/],
    ['another signature', { local: { signature: 0x04034b51 } }, /header is not there/],
    ['zip64 values that lie', { local: { size: 0xffffffff, packed: 0xffffffff, extra: zip64Extra(6, 5) } }, /says 6 bytes/],
    ['zip64 values for fields that have others', { local: { extra: zip64Extra(6, 6) } }, /hold others/],
    ['a descriptor that is too long', { flags: 8, descriptor: Buffer.alloc(13) }, /13 other bytes stand behind it/],
    ['a descriptor that nothing announced', { descriptor: Buffer.alloc(12) }, /12 other bytes stand behind it/],
  ];
  it.each(lies)('whose local header says otherwise: %s', async (_, odd, reason) => {
    const bytes = oddZip([{ ...file, ...odd }, other]);
    await expectRefused(bytes, reason);
    await expectOpenRefused(bytes, reason);
  });

  it('whose content is not what was said', async () => {
    await expectRefused(oddZip([{ ...file, crc32: 7 }]), /expected the CRC-32 00000007/);
    await expectRefused(oddZip([{ ...deflated, size: content.length + 1 }]), /expected 1001 bytes, found 1000/);
    await expectRefused(oddZip([{ ...deflated, size: 10 }]), /more than the 10 bytes/);
    const rest = Buffer.concat([deflateRawSync(content), Buffer.from('hidden')]);
    await expectRefused(oddZip([{ ...deflated, content: rest }]), /other bytes stand behind its end/);
    await expectRefused(oddZip([{ ...deflated, content: deflateRawSync(content).subarray(0, -3) }]), /cannot be inflated/);
    await expectRefused(oddZip([{ ...(await zstdMember()), size: 10 }]), /more than the 10 bytes/);
    await expectRefused(oddZip([{ ...(await zstdMember()), crc32: 7 }]), /CRC-32/);
    await expectRefused(oddZip([{ ...(await zstdMember()), content: 'no frame' }]), /zstd/, 'bytes/bad-compression');
  });

  it('whose long content is not what was said', async () => {
    const long = Buffer.alloc(3_000_000, 'abcdefg');
    const packed = deflateRawSync(long, { level: 1 });
    const member = { name: 'd', method: 8, content: packed, size: long.length, crc32: crc32(long) };
    expect(await readBytes(oddZip([member]))).toEqual({ d: long.toString() });
    await expectRefused(oddZip([{ ...member, size: 2_000_000 }]), /more than the 2000000 bytes/);
    await expectRefused(oddZip([{ ...member, content: packed.subarray(0, -9) }]), /cannot be inflated/);
    await expectRefused(oddZip([{ ...member, content: Buffer.concat([packed, Buffer.from('!')]) }]), /other bytes stand behind/);
    await expectRefused(oddZip([{ name: 's', content: long, crc32: 1 }]), /CRC-32/);
  });

  it('bombs and what is over a limit', async () => {
    const zeros = Buffer.alloc(20_000_000);
    const bomb = { name: 'd', method: 8, content: deflateRawSync(zeros), size: zeros.length, crc32: crc32(zeros) };
    const limits = { ...defaultLimits, ratioFloorBytes: 1_000_000, compressionRatio: 100 };
    await expectRefused(oddZip([bomb]), /ratio/, 'bytes/limit', limits);
    await expectRefused(oddZip([bomb]), /the size of "d"/, 'bytes/limit', { ...defaultLimits, unpackedBytes: 1_000_000 });
    await expectRefused(oddZip([file]), /size of its list/, 'bytes/limit', { ...defaultLimits, zipDirectoryBytes: 40 });
    await expectRefused(oddZip([file, other]), /number of entries/, 'bytes/limit', { ...defaultLimits, archiveEntries: 1 });
    await expectRefused(oddZip([{ name: 'l', mode: 0o120777, content: 'x'.repeat(5000) }]), /target of the link/, 'bytes/limit');
  });

  it.each(['', 'a\0b', 'a\\b', Buffer.from([0xff])])('links to %j', async (target) => {
    await expectRefused(oddZip([{ name: 'l', mode: 0o120777, content: target }]), /Cannot use the path/, 'bytes/unsafe-path');
  });

  it('that overlap, are quoted twice or leave gaps', async () => {
    const inner = oddZip([other]);
    await expectRefused(
      oddZip([
        { name: 'a', content: inner },
        { ...other, central: { offset: 31 } },
      ]),
      /something else begins at 31/,
    );
    await expectRefused(oddZip([file, { ...other, central: { offset: 0 } }]), /something else begins/);
    await expectRefused(oddZip([file, { ...other, gap: inner }]), /other bytes stand behind it/);
    await expectRefused(oddZip([file], { beforeList: inner }), /other bytes stand behind it/);
  });
});

describe('refuses archives', () => {
  const oddEnds: [string, OddArchive, RegExp][] = [
    ['with bytes before them', { prefix: '#!/bin/sh\n' }, /10 other bytes stand before its first entry/],
    ['with bytes behind them', { suffix: 'x' }, /does not end the file/],
    ['with an end record in the comment', { comment: oddZip([]) }, /two end records/],
    ['with a short end record in the comment', { comment: Buffer.concat([oddZip([]), Buffer.from('x')]) }, /second end record/],
    ['with bytes between list and end', { behindList: Buffer.from('hidden') }, /does not reach up to its end record/],
    ['of several disks', { end: { disk: 1 } }, /one part of several/],
    ['with a list on another disk', { end: { directoryDisk: 1 } }, /one part of several/],
    ['with entries elsewhere', { end: { entries: 2 } }, /one part of several/],
    ['that count wrong', { end: { entries: 2, entriesHere: 2 } }, /list of 2 entries has only|holds 1 entries/],
    ['that count to nothing', { end: { entries: 0, entriesHere: 0 } }, /holds 1 entries, its end record says 0/],
    ['whose list is elsewhere', { end: { offset: 3 } }, /does not reach up to its end record/],
    ['whose list is behind the end', { end: { offset: 0xfffffff0 } }, /reaches into its end record/],
    ['whose list is shorter', { end: { size: 46, offset: 37 } }, /cut off or no entry/],
    ['whose two end records disagree', { end64: { entries: 5 } }, /end records disagree|one part/],
    ['whose zip64 locator points elsewhere', { end64: { locatorOffset: 0 } }, /does not point to a zip64 end record/],
    ['whose zip64 record has another length', { end64: { length: 50 } }, /unknown length/],
    ['of several zip64 disks', { end64: { disks: 2 } }, /one part of several/],
    ['with zip64 numbers over 2^53', { end: { size: 0xffffffff }, end64: { size: 2 ** 60 } }, /larger than 2\^53/],
  ];
  it.each(oddEnds)('%s', async (_, archive, reason) => {
    await expectRefused(oddZip([file], archive), reason);
  });

  it('that are none', async () => {
    for (const text of ['', 'PK', 'x'.repeat(100)]) await expectRefused(Buffer.from(text), /no end record/);
  });
});

describe('never crashes', () => {
  it('at any length', async () => {
    const whole = oddZip([deflated, await zstdMember(), { name: 'sub/', mode: 0o040755 }, { name: 'l', content: 'a', mode: 0o120777 }, file], {
      end64: {},
    });
    await readBytes(whole);
    for (let length = 0; length < whole.length; length++) await expectRefused(whole.subarray(0, length), /Cannot read the zip/);
  });

  it('whatever is changed', async () => {
    const whole = oddZip([deflated, await zstdMember(), { ...file, flags: 8, descriptor: numbers([crc32('hello'), 4], [5, 4], [5, 4]) }], {
      end64: {},
    });
    const expected = await readBytes(whole);
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          const found = Object.values(await readBytes(bytes)).map((text) => text.replace(/^-> /, ''));
          // Names, modes and a file that became a link are nothing that a reader could know; the content is.
          expect(found.sort()).toEqual(Object.values(expected).sort());
        } catch (error) {
          if (!isToolkitError(error)) throw error;
        }
      }),
      { numRuns: 1500 },
    );
  });
});
