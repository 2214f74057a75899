import { crc32, deflateRawSync } from 'node:zlib';
import { Uint8ArrayReader, Uint8ArrayWriter, ZipWriter } from '@zip.js/zip.js';
import { describe, expect, it } from 'vitest';
import { numbers, oddExtra, type OddMember, oddZip, zip64Extra } from '../../../test/support/odd-zip.js';
import { expectRefused, openBytes, readBytes, readText, sourceOf } from '../../../test/support/read-zip.js';
import { defaultLimits, type RangeSource } from '../../core/index.js';
import { compress } from '../compression/compression.js';
import { collect, fromBytes } from '../streams.js';
import { openZip } from './open-zip.js';

const content = 'the quick brown fox '.repeat(50);
const plain = { size: content.length, crc32: crc32(content) };
const deflated: OddMember = { name: 'd', method: 8, content: deflateRawSync(content), ...plain };
const file: OddMember = { name: 'a', content: 'hello' };

async function zstdMember(): Promise<OddMember> {
  return { name: 'z', method: 93, content: await collect(compress(fromBytes(Buffer.from(content)), 'zstd'), 1e6, 'zstd'), ...plain };
}

describe('reads', () => {
  it('stored, deflated and zstd members, folders and links', async () => {
    const bytes = oddZip([
      deflated,
      file,
      await zstdMember(),
      { name: 'sub/', mode: 0o040755 },
      { name: 'sub/ü', content: 'x', flags: 0x800, mode: 0o100600 },
      { name: 'sub/link', content: '../a', mode: 0o120777 },
    ]);
    expect(await readBytes(bytes)).toEqual({ a: 'hello', d: content, z: content, 'sub/ü': 'x', 'sub/link': '-> ../a' });
    const { entries } = await openBytes(bytes);
    expect(entries.map(({ path, kind, mode }) => [path, kind, mode])).toEqual([
      ['a', 'file', 0o644],
      ['d', 'file', 0o644],
      ['sub', 'directory', 0o755],
      ['sub/link', 'symlink', 0o777],
      ['sub/ü', 'file', 0o600],
      ['z', 'file', 0o644],
    ]);
    expect(entries[1]).toMatchObject({ ...plain, headerOffset: 0, packed: { method: 'deflate' }, mtime: Date.UTC(1980, 0, 1) / 1000 });
  });

  it('ranges of all methods, beyond the end too', async () => {
    const tree = await openBytes(oddZip([deflated, { name: 's', content }, await zstdMember()]));
    for (const path of ['d', 's', 'z']) {
      expect(await readText(tree, path, { start: 4, end: 9 })).toBe('quick');
      expect(await readText(tree, path, { start: content.length - 4 })).toBe('fox ');
      expect(await readText(tree, path, { start: 990, end: 5000 })).toBe(content.slice(990));
      expect(await readText(tree, path, { start: 5000 })).toBe('');
    }
  });

  it('the list in one read, an entry with its header in one, a part of a long one without the rest', async () => {
    const long = Buffer.alloc(1_000_000, 'abc');
    const bytes = oddZip([{ name: 'long', content: long }, file]);
    const asked: (readonly [number, number])[] = [];
    const tree = await openZip(sourceOf(bytes, asked), { limits: defaultLimits, where: 'test.zip' });
    expect(asked).toEqual([[bytes.length - 66 * 1024, 66 * 1024]]);
    expect(await readText(tree, 'a')).toBe('hello');
    expect(asked.slice(1)).toEqual([[1_000_034, 36]]);
    expect(await readText(tree, 'long', { start: 3, end: 9 })).toBe('abcabc');
    expect(asked.slice(2)).toEqual([
      [0, 290],
      [37, 6],
    ]);
  });

  it('the rest of a long list in a second read', async () => {
    const bytes = oddZip(Array.from({ length: 3000 }, (_, index) => ({ name: `file-${index}`, content: 'x' })));
    const asked: (readonly [number, number])[] = [];
    const tree = await openZip(sourceOf(bytes, asked), { limits: defaultLimits, where: 'test.zip' });
    expect(tree.entries).toHaveLength(3000);
    expect(asked).toHaveLength(2);
    expect(asked[1]![0] + asked[1]![1]).toBe(asked[0]![0]);
  });

  it('local headers that are longer than usual ones', async () => {
    const extra = Buffer.concat([oddExtra(0x9999, Buffer.alloc(400)), Buffer.alloc(3)]);
    const long = Buffer.alloc(200_000, 'x').toString();
    expect(await readBytes(oddZip([{ name: 'l', content: long, local: { extra } }, file]))).toEqual({ l: long, a: 'hello' });
  });

  it('an empty archive, and one with a comment', async () => {
    expect((await openBytes(oddZip([]))).entries).toEqual([]);
    expect(await readBytes(oddZip([file], { comment: 'made by hand' }))).toEqual({ a: 'hello' });
  });

  const later = { flags: 8, local: { crc32: 0, packed: 0, size: 0 } };
  const crc = crc32('hello');
  it.each([
    ['without signature', numbers([crc, 4], [5, 4], [5, 4])],
    ['with signature', numbers([0x08074b50, 4], [crc, 4], [5, 4], [5, 4])],
    ['of 64 bits without signature', numbers([crc, 4], [5, 8], [5, 8])],
    ['of 64 bits with signature', numbers([0x08074b50, 4], [crc, 4], [5, 8], [5, 8])],
  ])('a data descriptor %s', async (_, descriptor) => {
    expect(
      await readBytes(
        oddZip([
          { ...file, ...later, descriptor },
          { ...file, name: 'b' },
        ]),
      ),
    ).toEqual({ a: 'hello', b: 'hello' });
    const spoilt = Buffer.from(descriptor);
    spoilt[spoilt.length - 9]! ^= 1;
    await expectRefused(oddZip([{ ...file, ...later, descriptor: spoilt }]), /behind it has another CRC-32/);
  });

  it('zip64 records and fields, where they are needed and where they are not', async () => {
    expect(await readBytes(oddZip([file], { end64: {} }))).toEqual({ a: 'hello' });
    const sentinels = { entries: 0xffff, entriesHere: 0xffff, size: 0xffffffff, offset: 0xffffffff };
    expect(await readBytes(oddZip([file], { end64: {}, end: sentinels }))).toEqual({ a: 'hello' });
    const large = { size: 0xffffffff, packed: 0xffffffff };
    const member = {
      ...file,
      local: { ...large, extra: zip64Extra(5, 5) },
      central: { ...large, offset: 0xffffffff, extra: Buffer.concat([oddExtra(0x5455, Buffer.alloc(5)), zip64Extra(5, 5, 0)]) },
    };
    expect(await readBytes(oddZip([member]))).toEqual({ a: 'hello' });
    expect(await readBytes(oddZip([{ ...file, local: { ...large, extra: zip64Extra(5, 5) } }]))).toEqual({ a: 'hello' });
  });

  it('70,000 entries', async () => {
    const tree = await openBytes(manyZip(70_000));
    expect(tree.entries).toHaveLength(70_000);
    expect(await readText(tree, 'f69999')).toBe('');
    await tree.checkEntries();
    await expect(openBytes(manyZip(101), { ...defaultLimits, archiveEntries: 100 })).rejects.toMatchObject({ code: 'bytes/limit' });
  });

  it('what lies far beyond 4 GiB', async () => {
    const { source, place } = virtualZip();
    const tree = await openZip(source, { limits: defaultLimits, where: 'large.zip' });
    await tree.checkEntries();
    expect(tree.entries.map(({ path, size }) => [path, size])).toEqual([
      ['behind', 5],
      ['large', place],
    ]);
    expect(await readText(tree, 'behind')).toBe('hello');
    expect(await readText(tree, 'large', { start: place - 4 })).toBe('\0\0\0\0');
  });

  it('what zip.js wrote, with descriptors, zip64 and links to be', async () => {
    for (const options of [{}, { dataDescriptor: false }, { zip64: true }, { dataDescriptor: true, zip64: true }, { level: 0 }]) {
      const writer = new ZipWriter(new Uint8ArrayWriter(), { useWebWorkers: false, ...options });
      await writer.add('d', new Uint8ArrayReader(Buffer.from(content)));
      await writer.add('ü/empty', new Uint8ArrayReader(new Uint8Array()));
      await writer.add('folder/', undefined as never, { directory: true });
      expect(await readBytes(await writer.close())).toEqual({ d: content, 'ü/empty': '' });
    }
  });
});

/** Empty files with names of one length, made quickly. */
function manyZip(count: number): Buffer {
  const local = oddZip([{ name: 'f00000' }]).subarray(0, 36);
  const listed = oddZip([{ name: 'f00000' }]).subarray(36, 88);
  const locals = Buffer.alloc(local.length * count, local);
  const list = Buffer.alloc(listed.length * count, listed);
  for (let index = 0; index < count; index++) {
    const digits = String(index).padStart(5, '0');
    locals.write(digits, local.length * index + 31);
    list.write(digits, listed.length * index + 47);
    list.writeUInt32LE(local.length * index, listed.length * index + 42);
  }
  const large = Buffer.concat([
    numbers([0x06064b50, 4], [44, 8], [45, 2], [45, 2], [0, 4], [0, 4], [count, 8], [count, 8], [list.length, 8], [locals.length, 8]),
    numbers([0x07064b50, 4], [0, 4], [locals.length + list.length, 8], [1, 4]),
  ]);
  const low = Math.min(count, 0xffff);
  const end = numbers([0x06054b50, 4], [0, 4], [low, 2], [low, 2], [list.length, 4], [locals.length, 4], [0, 2]);
  return Buffer.concat([locals, list, large, end]);
}

/** 5 GiB of zeros that are made up, and a small file behind them. */
function virtualZip(): { readonly source: RangeSource; readonly place: number } {
  const place = 5 * 1024 ** 3;
  const large = { size: 0xffffffff, packed: 0xffffffff };
  const first = oddZip([{ name: 'large', local: { ...large, extra: zip64Extra(place, place) } }]);
  const head = first.subarray(0, 30 + 5 + 20);
  const behind = oddZip([{ ...file, name: 'behind' }]).subarray(0, 30 + 6 + 5);
  const offset = head.length + place;
  const toList = (member: OddMember, at: number) => {
    const bytes = oddZip([{ ...member, central: { ...member.central, offset: at } }]);
    const size = bytes.readUInt32LE(bytes.length - 10);
    return bytes.subarray(bytes.length - 22 - size, bytes.length - 22);
  };
  const list = Buffer.concat([
    toList({ name: 'large', crc32: 0, central: { ...large, extra: zip64Extra(place, place) } }, 0),
    toList({ ...file, name: 'behind', central: { extra: zip64Extra(offset) } }, 0xffffffff),
  ]);
  const listAt = offset + behind.length;
  const tail = Buffer.concat([
    behind,
    list,
    numbers([0x06064b50, 4], [44, 8], [45, 2], [45, 2], [0, 4], [0, 4], [2, 8], [2, 8], [list.length, 8], [listAt, 8]),
    numbers([0x07064b50, 4], [0, 4], [listAt + list.length, 8], [1, 4]),
    numbers([0x06054b50, 4], [0, 4], [2, 2], [2, 2], [list.length, 4], [0xffffffff, 4], [0, 2]),
  ]);
  const size = offset + tail.length;
  const read = async (at: number, length: number) => {
    const bytes = Buffer.alloc(length);
    const copy = (part: Buffer, from: number) => {
      const start = Math.max(at, from);
      const end = Math.min(at + length, from + part.length);
      if (start < end) part.copy(bytes, start - at, start - from, end - from);
    };
    copy(head, 0);
    copy(tail, offset);
    return bytes;
  };
  return { source: { size, read, stream: async ({ start: from, end = size }) => fromBytes(await read(from, end - from)) }, place };
}
