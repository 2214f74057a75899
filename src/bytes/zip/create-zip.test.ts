import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDistantBlob, makeBytes } from '../../../test/support/distant-blob.js';
import { readAll, readBytes, readText, sourceOf } from '../../../test/support/read-zip.js';
import { type BytesContent, type ByteStream, createCounters, defaultLimits, type FileContent } from '../../core/index.js';
import { openFileRanges } from '../file-ranges.js';
import { collect } from '../streams.js';
import { createZip, type CreateZipOptions } from './create-zip.js';
import { openZip } from './open-zip.js';
import { toCentralHeader, toEndRecords } from './zip-headers.js';
import type { AddedMember, ZipMember } from './zip-member.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-zip-'));
  path = join(folder, 'out.zip');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function write(members: readonly ZipMember[], options?: CreateZipOptions): Promise<AddedMember[]> {
  const writer = await createZip(path, options);
  try {
    const added = await Promise.all(members.map((member) => writer.add(member)));
    const { size } = await writer.commit();
    expect(size).toBe(readFileSync(path).length);
    return added;
  } finally {
    await writer.close();
  }
}

function file(name: string, bytes: Uint8Array): FileContent {
  const place = join(folder, name);
  writeFileSync(place, bytes);
  return { kind: 'file', path: place, size: bytes.byteLength };
}

async function* pieces(bytes: Uint8Array, size: number): ByteStream {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

function text(value: string): BytesContent {
  return { kind: 'bytes', bytes: Buffer.from(value) };
}

async function readWithZipJs(bytes: Uint8Array): Promise<Record<string, Buffer>> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes), { useWebWorkers: false, checkCrc32: true, checkOverlappingEntry: true });
  const found: Record<string, Buffer> = {};
  for (const entry of await reader.getEntries()) {
    if (!entry.directory) found[entry.filename] = Buffer.from(await entry.getData(new Uint8ArrayWriter()));
  }
  await reader.close();
  return found;
}

const sizes = { empty: 0, small: 1000, edge: 1 << 20, over: (1 << 20) + 1 };
/** Long enough for a hash thread, which deflate has no more to do with than others. */
const cases = [
  { method: 'none', named: { ...sizes, long: 9_000_000 } },
  { method: 'deflate', named: { small: 1000, over: (1 << 20) + 1 } },
] as const;

describe('writes what others read', () => {
  it.each(cases)('$method, of all sizes and kinds', async ({ method, named }) => {
    const contents = Object.fromEntries(Object.entries<number>(named).map(([name, size]) => [name, makeBytes(size, name)]));
    const members = Object.entries(contents).flatMap(([name, bytes]): ZipMember[] => {
      const { blobs, descriptor } = createDistantBlob(bytes.length, { seed: name });
      return [
        { path: `file/${name}`, content: file(name, bytes), method },
        { path: `bytes/${name}`, content: { kind: 'bytes', bytes }, method },
        { path: `blob/${name}`, content: { kind: 'blob', blobs, descriptor }, method },
        { path: `sized/${name}`, content: { kind: 'stream', size: bytes.length, open: async () => pieces(bytes, 700_000) }, method },
        { path: `unsized/${name}`, content: { kind: 'stream', open: async () => pieces(bytes, 700_000) }, method },
      ];
    });
    const counters = createCounters();
    const added = await write(members, { counters });
    const found = await readWithZipJs(readFileSync(path));
    const ranges = await openFileRanges(path);
    const tree = await openZip(ranges, { limits: defaultLimits, where: path });
    await tree.checkEntries();
    for (const [index, member] of members.entries()) {
      const bytes = contents[member.path.split('/')[1]!]!;
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      expect(added[index]).toEqual({ size: bytes.length, crc32: crc32(bytes), digest });
      expect(found[member.path]!.equals(bytes)).toBe(true);
      expect(bytes.equals(await collect(await tree.open(member.path), 1e9, 'member'))).toBe(true);
    }
    await ranges.close();
    const once = Object.values<number>(named).reduce((sum, size) => sum + size, 0);
    expect(counters).toMatchObject({ read: once, hashed: 5 * once });
    if (method === 'none') expect(counters.written).toBe(readFileSync(path).length);
  });

  it('zstd, small and long, which this reader opens', async () => {
    const bytes = Buffer.alloc(5_000_000, 'some text ');
    await write([
      { path: 'small', content: { kind: 'bytes', bytes: bytes.subarray(0, 5000) }, method: 'zstd' },
      { path: 'long', content: { kind: 'bytes', bytes }, method: 'zstd' },
      { path: 'empty', content: text(''), method: 'zstd' },
    ]);
    expect(readFileSync(path).length).toBeLessThan(20_000);
    expect(await readBytes(readFileSync(path))).toEqual({ small: bytes.toString('utf8', 0, 5000), long: bytes.toString(), empty: '' });
  });

  it('links and modes', async () => {
    await write([
      { path: 'run.sh', content: text('#!/bin/sh\n'), mode: 0o4755 },
      { path: 'ü/link', link: '../run.sh' },
    ]);
    const tree = await openZip(sourceOf(readFileSync(path)), { limits: defaultLimits, where: path });
    expect(await readAll(tree)).toEqual({ 'run.sh': '#!/bin/sh\n', 'ü/link': '-> ../run.sh' });
    expect(tree.entries.map(({ kind, mode }) => [kind, mode])).toEqual([
      ['file', 0o755],
      ['symlink', 0o777],
    ]);
  });

  it('20,000 small members', async () => {
    const writer = await createZip(path);
    for (let index = 0; index < 20_000; index++) await writer.add({ path: `f${index}`, content: text(`content ${index}`) });
    await writer.commit();
    await writer.close();
    const tree = await openZip(sourceOf(readFileSync(path)), { limits: defaultLimits, where: path });
    expect(tree.entries).toHaveLength(20_000);
    expect(await readText(tree, 'f19999')).toBe('content 19999');
  });

  it('any members in any order', async () => {
    const method = fc.constantFrom('none', 'deflate', 'zstd' as const);
    const member = fc.record({ bytes: fc.uint8Array({ maxLength: 300 }), method, isStream: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 8 }), async (all) => {
        await write(
          all.map(({ bytes, method: each, isStream }, index) => ({
            path: `m${index}`,
            content: isStream ? { kind: 'stream', open: async () => pieces(bytes, 7) } : { kind: 'bytes', bytes },
            method: each as 'none',
          })),
        );
        const found = await readBytes(readFileSync(path));
        expect(Object.values(found)).toEqual(all.map(({ bytes }) => Buffer.from(bytes).toString()));
      }),
      { numRuns: 40 },
    );
  });
});

describe('writes the same bytes', () => {
  it('every time, and from every kind of content of known size', async () => {
    const bytes = makeBytes(2_000_000);
    const contents = [
      file('one', bytes),
      { kind: 'bytes', bytes } as const,
      { kind: 'stream', size: bytes.length, open: async () => pieces(bytes, 999) } as const,
    ];
    const archives: Buffer[] = [];
    for (const content of contents) {
      await write([
        { path: 'a', content },
        { path: 'b', content: text('b') },
      ]);
      archives.push(readFileSync(path));
    }
    expect(archives[1]!.equals(archives[0]!)).toBe(true);
    expect(archives[2]!.equals(archives[0]!)).toBe(true);
    expect(archives[0]!.length).toBe(bytes.length + 1 + 2 * 31 + 2 * 47 + 22);
  });

  it('which are these', async () => {
    await write([
      { path: 'a', content: text('hi') },
      { path: 'é', link: 'a' },
    ]);
    expect(readFileSync(path).toString('hex')).toBe(
      [
        '504b030414000000000000002100ac2a93d802000000020000000100000061686',
        '9504b03041400000800000000210043beb7e8010000000100000002000000c3a961',
        '504b01023f0314000000000000002100ac2a93d80200000002000000010000000000000000000000a4810000000061',
        '504b01023f031400000800000000210043beb7e80100000001000000020000000000000000000000ffa121000000c3a9',
        '504b050600000000020002005f000000420000000000',
      ].join(''),
    );
  });

  it('with zip64 only where a number has no room', () => {
    const facts = { name: Buffer.from('a'), method: 0, mode: 0o100644, crc32: 0, isLarge: false };
    const limit = 0xffffffff;
    const extraOf = (size: number, offset: number) => toCentralHeader({ ...facts, size, packed: size, offset }).readUInt16LE(30);
    expect([extraOf(limit - 1, limit - 1), extraOf(limit, 0), extraOf(0, limit), extraOf(2 ** 33, 2 ** 34)]).toEqual([0, 20, 12, 28]);
    const bytesOf = (entries: number, size: number, offset: number) => toEndRecords(entries, size, offset).length;
    expect([bytesOf(0xfffe, 1, limit - 1), bytesOf(0xffff, 1, 1), bytesOf(1, limit, 1), bytesOf(1, 1, limit)]).toEqual([22, 98, 98, 98]);
  });
});

describe('keeps what was there', () => {
  const left = () => readdirSync(folder).sort();

  it('until commit, and leaves nothing without it', async () => {
    writeFileSync(path, 'old');
    const writer = await createZip(path);
    await writer.add({ path: 'a', content: text('a') });
    await writer.add({ path: 'long', content: { kind: 'bytes', bytes: makeBytes(3_000_000) } });
    expect(left()).toHaveLength(2);
    await writer.close();
    expect(left()).toEqual(['out.zip']);
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it('and sweeps what a killed process left', async () => {
    writeFileSync(join(folder, '.modelport-999999999-0123456789ab.tmp'), 'left over');
    await write([{ path: 'a', content: text('a') }]);
    expect(left()).toEqual(['out.zip']);
  });

  const long = makeBytes(10_000_000);
  it.each<[string, number, (place: string) => void]>([
    ['small, shorter', 1000, (place) => truncateSync(place, 10)],
    ['small, longer', 1000, (place) => appendFileSync(place, 'x')],
    ['long, shorter', long.length, (place) => truncateSync(place, 5_000_000)],
    ['long, longer', long.length, (place) => appendFileSync(place, 'x')],
  ])('when a file changes: %s', async (_, size, change) => {
    const content = file('in', long.subarray(0, size));
    change(content.path);
    await expect(write([{ path: 'a', content }])).rejects.toMatchObject({ code: 'bytes/file-changed' });
    expect(left()).toEqual(['in']);
  });

  it('when a file changes while it is read', async () => {
    const content = file('in', long);
    let isChanged = false;
    const counters = new Proxy(createCounters(), {
      set: (target, key, value: number) => {
        if (key === 'hashed' && !isChanged) appendFileSync(content.path, 'x');
        isChanged ||= key === 'hashed';
        return Reflect.set(target, key, value);
      },
    });
    await expect(write([{ path: 'a', content }], { counters })).rejects.toMatchObject({ code: 'bytes/file-changed' });
    expect(left()).toEqual(['in']);
  });

  it('when the work is cancelled', async () => {
    const stop = new AbortController();
    async function* stopping(): ByteStream {
      yield long.subarray(0, 2_000_000);
      stop.abort();
      yield long;
    }
    const content = { kind: 'stream', open: async () => stopping() } as const;
    await expect(write([{ path: 'a', content }], { signal: stop.signal })).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(left()).toEqual([]);
  });

  it('when a stream is not as long as it said', async () => {
    for (const size of [1, 3, 2_000_000]) {
      const content = { kind: 'stream', size, open: async () => pieces(Buffer.from('ab'), 1) } as const;
      await expect(write([{ path: 'a', content }])).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
    }
    expect(left()).toEqual([]);
  });

  it('and cannot be committed after a failure', async () => {
    const writer = await createZip(path);
    await expect(writer.add({ path: '../a', content: text('a') })).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
    await expect(writer.add({ path: 'b', content: text('b') })).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
    await expect(writer.commit()).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
    await writer.close();
    expect(left()).toEqual([]);
  });

  it.each<[string, readonly ZipMember[]]>([
    ['twice', ['a', 'a'].map((each) => ({ path: each, content: text('') }))],
    ['as file and folder', ['a', 'a/b'].map((each) => ({ path: each, content: text('') }))],
    ['with a link to nothing', [{ path: 'a', link: '' }]],
    ['with a link that holds a control character', [{ path: 'a', link: 'b\n' }]],
  ])('when a path is there %s', async (_, members) => {
    await expect(write(members)).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
    expect(left()).toEqual([]);
  });

  it('where it cannot be written', async () => {
    await expect(createZip(join(folder, 'none', 'out.zip'))).rejects.toMatchObject({ code: 'bytes/not-found' });
    symlinkSync('nowhere', path);
    await write([{ path: 'a', content: text('a') }]);
    expect(await readBytes(readFileSync(path))).toEqual({ a: 'a' });
  });
});
