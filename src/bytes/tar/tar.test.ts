import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { extract, type Header, pack } from 'tar-stream';
import { type ByteStream, defaultLimits, isToolkitError, type Limits, type TarMember } from '../../core/index.js';
import { collect, fromBytes } from '../streams.js';
import { blockBytes, checksumOf } from './tar-header.js';
import { toPaxRecord } from './tar-pax.js';
import { readTar, type TarEntry } from './tar-read.js';
import { scanTar } from './tar-scan.js';
import { openTar } from './tar-stream.js';
import { tarHeader, tarSize } from './tar-write.js';

const time = 1_700_000_000;

function textMember(name: string, text: string, mtime = time): TarMember {
  const bytes = Buffer.from(text);
  return { name, mode: 0o644, mtime, content: { kind: 'stream', size: bytes.length, open: async () => fromBytes(bytes) } };
}

function folder(name: string): TarMember {
  return { name, mode: 0o755, mtime: time, content: { kind: 'directory' } };
}

async function* inPieces(bytes: Uint8Array, size: number): ByteStream {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

async function write(members: readonly TarMember[]): Promise<Buffer> {
  return Buffer.from(await collect(openTar(members), 1e9, 'test'));
}

interface ReadEntry extends TarEntry {
  readonly text: string;
}

async function read(bytes: Uint8Array, pieceBytes = 1 << 20, limits: Limits = defaultLimits): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  await readTar(inPieces(bytes, pieceBytes), { limits, where: 'test.tar' }, (entry) => {
    const chunks: Buffer[] = [];
    return { write: (chunk) => chunks.push(Buffer.from(chunk)), end: () => entries.push({ ...entry, text: Buffer.concat(chunks).toString() }) };
  });
  return entries;
}

function scan(bytes: Uint8Array): Promise<TarEntry[]> {
  const access = { size: bytes.byteLength, read: async (offset: number, length: number) => bytes.subarray(offset, offset + length) };
  return scanTar(access, { limits: defaultLimits, where: 'test.tar' });
}

/** Refused by both ways of reading, with this code and reason. */
async function expectRefused(bytes: Uint8Array, reason: RegExp, code = 'bytes/bad-archive'): Promise<void> {
  await expect(read(bytes)).rejects.toMatchObject({ code, message: expect.stringMatching(reason) });
  await expect(scan(bytes)).rejects.toMatchObject({ code, message: expect.stringMatching(reason) });
}

const end = Buffer.alloc(2 * blockBytes);

interface RawHeader {
  readonly name?: string;
  readonly type?: string;
  readonly size?: number | Buffer;
  readonly link?: string;
  readonly magic?: string;
  readonly content?: Buffer | string;
}

/** One entry byte for byte, for archives that no writer of ours would make. */
function raw({ name = 'file', type = '0', size, link = '', magic = 'ustar\x0000', content = '' }: RawHeader): Buffer {
  const body = Buffer.from(content);
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write(`0000644\0${'0000000\0'.repeat(2)}`, 100);
  if (typeof size === 'object') size.copy(block, 124);
  else block.write((size ?? body.length).toString(8).padStart(11, '0'), 124);
  block.write('00000000000\0', 136);
  block.write(type, 156);
  block.write(link, 157);
  block.write(magic, 257, 'latin1');
  return sealed(Buffer.concat([block, body, Buffer.alloc((blockBytes - (body.length % blockBytes)) % blockBytes)]));
}

function sealed(entry: Buffer): Buffer {
  entry.write(`${checksumOf(entry.subarray(0, blockBytes)).toString(8).padStart(6, '0')}\0 `, 148);
  return entry;
}

const pax = (...records: [string, string][]) =>
  raw({ name: 'pax', type: 'x', content: records.map(([key, value]) => toPaxRecord(key, value)).join('') });

const awkward = [
  folder('dir'),
  textMember('dir/a.txt', 'hello'),
  textMember('empty', ''),
  textMember('x'.repeat(100), 'exactly what fits'),
  textMember(`${'d'.repeat(60)}/${'y'.repeat(90)}`, 'prefix'),
  textMember('z'.repeat(101), 'pax'),
  textMember('q/'.repeat(200).concat('leaf'), 'deep'),
  textMember('modèle/名前.bin', 'not ASCII'),
  folder('D'.repeat(120)),
  textMember('large', 'block'.repeat(1000)),
];

/** Name, kind and content of each member. */
function meant(members: readonly TarMember[]): Promise<string[][]> {
  return Promise.all(
    members.map(async ({ name, content }) => {
      if (content.kind !== 'stream') return [name, content.kind, ''];
      return [name, 'file', Buffer.from(await collect(await content.open(), 1e6, name)).toString()];
    }),
  );
}

describe('writing tar', () => {
  it('is read by another implementation as it was meant', async () => {
    const found: string[][] = [];
    const reader = extract();
    reader.end(await write(awkward));
    for await (const entry of reader) {
      const bytes = await collect(entry as unknown as ByteStream, 1e6, 'entry');
      found.push([entry.header.name.replace(/\/$/, ''), entry.header.type, Buffer.from(bytes).toString()]);
    }
    expect(found).toEqual(await meant(awkward));
  });

  it('has the size that was computed, and the same bytes each time', async () => {
    const bytes = await write(awkward);
    expect(bytes.length).toBe(tarSize(awkward));
    expect((await write(awkward)).equals(bytes)).toBe(true);
    expect(tarSize([])).toBe(1024);
  });

  it('says nothing of owners and ends with two zero blocks only', async () => {
    const bytes = await write([textMember('a', 'b')]);
    expect(bytes.length).toBe(4 * blockBytes);
    expect(bytes.toString('latin1', 108, 124)).toBe('0000000\0'.repeat(2));
    expect(bytes.subarray(265, 329).every((byte) => byte === 0)).toBe(true);
  });

  it('uses pax only where ustar has no room', () => {
    expect(tarHeader(textMember('x'.repeat(100), '')).length).toBe(blockBytes);
    expect(tarHeader(textMember('é', '')).length).toBe(3 * blockBytes);
    const huge = { ...textMember('huge', ''), content: { kind: 'file' as const, path: '/none', size: 8 ** 11 } };
    expect(tarHeader(huge).includes('size=8589934592\n')).toBe(true);
    expect(tarSize([huge])).toBe(8 ** 11 + 5 * blockBytes);
    expect(tarHeader({ ...huge, content: { ...huge.content, size: 8 ** 11 - 1 } }).length).toBe(blockBytes);
  });

  it('counts the length of a pax record in itself, also where that adds a digit', () => {
    for (let length = 1; length < 1100; length++) {
      const record = toPaxRecord('path', 'x'.repeat(length));
      expect(Number.parseInt(record, 10)).toBe(record.length);
    }
  });

  it('refuses a stream that is not as long as its header says', async () => {
    const lying = { ...textMember('a', 'abc'), content: { kind: 'stream' as const, size: 4, open: async () => fromBytes(Buffer.from('abc')) } };
    await expect(write([lying])).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
    await expect(write([{ ...lying, content: { ...lying.content, size: 2 } }])).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
  });
});

describe('reading tar', () => {
  it('gives back what was written, however the bytes are cut', async () => {
    const bytes = await write(awkward);
    const whole = await read(bytes);
    expect(whole.map(({ name, kind, text }) => [name.replace(/\/$/, ''), kind, text])).toEqual(await meant(awkward));
    for (const size of [1, 511, 512, 513, 4096]) expect(await read(bytes, size)).toEqual(whole);
    for (const { offset, text } of whole) expect(bytes.toString('utf8', offset, offset + Buffer.byteLength(text))).toBe(text);
    expect(whole).toMatchObject(await scan(bytes));
  });

  it('reads what another implementation writes', async () => {
    const packer = pack();
    const headers: (Partial<Header> & { name: string })[] = [
      { name: 'plain', size: 3, mode: 0o755, uid: 1000, gid: 100, mtime: new Date(time * 1000) },
      { name: `long/${'n'.repeat(300)}`, size: 3 },
      { name: 'link', type: 'symlink', linkname: `../${'t'.repeat(200)}` },
      { name: 'hard', type: 'link', linkname: 'plain' },
      { name: 'pipe', type: 'fifo' },
      { name: 'tty', type: 'character-device', devmajor: 4, devminor: 1 },
      { name: 'ünï', size: 3, pax: { comment: 'kept out', mtime: '1700000000.25', uid: '3000000' } },
    ];
    for (const header of headers) packer.entry(header, header.size === 3 ? 'abc' : '');
    packer.finalize();
    const entries = await read(await collect(packer as unknown as ByteStream, 1e6, 'oracle'));
    expect(entries.map(({ name, kind, linkTarget, text }) => [name, kind, linkTarget, text])).toEqual([
      ['plain', 'file', undefined, 'abc'],
      [`long/${'n'.repeat(300)}`, 'file', undefined, 'abc'],
      ['link', 'symlink', `../${'t'.repeat(200)}`, ''],
      ['hard', 'hardlink', 'plain', ''],
      ['pipe', 'fifo', undefined, ''],
      ['tty', 'character-device', undefined, ''],
      ['ünï', 'file', undefined, 'abc'],
    ]);
    expect(entries[0]).toMatchObject({ mode: 0o755, uid: 1000, gid: 100, mtime: time });
    expect(entries[6]).toMatchObject({ mtime: 1700000000.25, uid: 3000000 });
  });

  it('takes GNU long names and base-256 numbers', async () => {
    const name = 'n'.repeat(200);
    const size = Buffer.alloc(12);
    size.set([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
    const bytes = Buffer.concat([
      raw({ type: 'L', name: '././@LongLink', content: `${name}\0` }),
      raw({ type: 'K', content: 'target\0' }),
      raw({ type: '2', magic: 'ustar  \0' }),
      raw({ size, content: 'abc' }),
      end,
    ]);
    const [link, file] = await read(bytes);
    expect(link).toMatchObject({ name, kind: 'symlink', linkTarget: 'target' });
    expect(file).toMatchObject({ size: 3, text: 'abc' });
  });

  it('takes one effective size: that of pax', async () => {
    const content = 'x'.repeat(600);
    const bytes = Buffer.concat([pax(['size', '600']), raw({ size: 0, content }), raw({ name: 'next' }), end]);
    expect((await read(bytes)).map(({ name, size }) => [name, size])).toEqual([
      ['file', 600],
      ['next', 0],
    ]);
    expect(await scan(bytes)).toHaveLength(2);
  });

  it('skips bodies that nobody wants, and zeros after the end', async () => {
    const names: string[] = [];
    const bytes = Buffer.concat([await write(awkward), Buffer.alloc(9000)]);
    await readTar(fromBytes(bytes), { limits: defaultLimits, where: 'x' }, (entry) => {
      names.push(entry.name);
      return undefined;
    });
    expect(names).toHaveLength(awkward.length);
  });

  it('reads to the end of the stream, so that checks below it run', async () => {
    const bytes = await write(awkward);
    const failing = async function* (): ByteStream {
      yield bytes;
      throw new Error('the digest is wrong');
    };
    await expect(readTar(failing(), { limits: defaultLimits, where: 'x' }, () => undefined)).rejects.toThrow('the digest is wrong');
  });

  it('calls a v7 file whose name ends in a slash a folder', async () => {
    const [entry] = await read(Buffer.concat([raw({ name: 'old/', type: '\0', magic: '\0\0\0\0\0\0\0\0' }), end]));
    expect(entry?.kind).toBe('directory');
  });
});

describe('hostile tar', () => {
  const file = raw({ content: 'abc' });
  const flipped = Buffer.from(file);
  flipped[0] = 0x41;
  const negative = Buffer.alloc(12, 0xff);
  const overflow = Buffer.alloc(12, 0xff);
  overflow[0] = 0x80;

  it.each<[string, Buffer[], RegExp]>([
    ['no bytes', [], /cut off/],
    ['no end', [file], /found 0/],
    ['one zero block', [file, end.subarray(512)], /found 1/],
    ['half a block of bytes at the end', [file, end, Buffer.from('junk')], /last block has 4/],
    ['half a header', [file, file.subarray(0, 200)], /last block has 200/],
    ['bytes after the end', [file, end, Buffer.from('junk'.repeat(128))], /after its end/],
    ['two archives after each other', [file, end, file, end], /after its end/],
    ['an entry after a single zero block', [file, end.subarray(512), file, end], /single zero block/],
    ['a cut content', [raw({ size: 5000, content: 'abc' })], /cut off/],
    ['a wrong checksum', [flipped, end], /checksum/],
    ['a negative size', [raw({ size: negative }), end], /size of a header/],
    ['a size above 2^53', [raw({ size: overflow }), end], /size of a header/],
    ['a size that is not octal', [raw({ size: Buffer.from('00000000009\0') }), end], /size of a header/],
    ['digits after a NUL', [raw({ size: Buffer.from('\x000000000003\0') }), end], /size of a header/],
    ['a negative pax size', [pax(['size', '-1']), file, end], /"size" is not a number/],
    ['a pax size above 2^53', [pax(['size', '9'.repeat(20)]), file, end], /"size" is not a number/],
    ['a pax key twice', [pax(['path', 'a'], ['path', 'b']), file, end], /"path" twice/],
    ['an empty pax path', [pax(['path', '']), file, end], /"path" is empty/],
    ['NUL in a pax path', [pax(['path', 'safe\0../evil']), file, end], /NUL/],
    ['a pax path that is not UTF-8', [raw({ type: 'x', content: Buffer.from('10 path=\xff\n', 'latin1') }), file, end], /not UTF-8/],
    ['a pax record longer than its header', [raw({ type: 'x', content: '99 path=a\n' }), file, end], /malformed record/],
    ['a pax record without a line end', [raw({ type: 'x', content: '9 path=ab' }), file, end], /malformed record/],
    ['a pax record of length 0', [raw({ type: 'x', content: '0 path=a\n' }), file, end], /malformed record/],
    ['two pax headers', [pax(['path', 'a']), pax(['path', 'b']), file, end], /two "x"/],
    ['two long names', [raw({ type: 'L', content: 'a\0' }), raw({ type: 'L', content: 'b\0' }), file, end], /two "L"/],
    ['a long name and a pax path', [raw({ type: 'L', content: 'a\0' }), pax(['path', 'b']), file, end], /both name/],
    ['an empty long name', [raw({ type: 'L', content: '\0' }), file, end], /long name/],
    ['a long name with a NUL inside', [raw({ type: 'L', content: 'a\0b' }), file, end], /long name/],
    ['a pax header without an entry', [pax(['path', 'a']), end], /belongs to an entry/],
    ['a global header that renames everything', [raw({ type: 'g', content: toPaxRecord('path', 'a') }), file, end], /global/],
    ['a sparse file', [raw({ type: 'S' }), end], /sparse/],
    ['a pax sparse file', [pax(['GNU.sparse.major', '1']), file, end], /sparse/],
    ['a folder with content', [raw({ type: '5', content: 'abc' }), end], /expected 0/],
    ['a hard link with content', [raw({ type: '1', link: 'a', content: 'abc' }), end], /expected 0/],
    ['a file named like a folder', [raw({ name: 'a/' }), end], /that of a folder/],
    ['no name', [raw({ name: '' }), end], /no name/],
    ['a name that is not UTF-8', [sealed(Buffer.concat([Buffer.from([0xff]), raw({}).subarray(1)])), end], /not UTF-8/],
  ])('%s is refused', (_, parts, reason) => expectRefused(Buffer.concat(parts), reason));

  it('is refused by limits', async () => {
    const limits = { ...defaultLimits, archiveEntries: 2, tarMetadataBytes: 2048, unpackedBytes: 10_000 };
    const limit = { code: 'bytes/limit' };
    await expect(read(Buffer.concat([file, file, file, end]), 512, limits)).rejects.toMatchObject(limit);
    await expect(read(Buffer.concat([raw({ type: 'L', content: 'x'.repeat(3000) }), file, end]), 512, limits)).rejects.toMatchObject(limit);
    await expect(read(Buffer.concat([raw({ type: 'x', size: 2 ** 32 }), file, end]), 512, limits)).rejects.toMatchObject(limit);
    await expect(read(Buffer.concat([raw({ size: 10_001 }), end]), 512, limits)).rejects.toMatchObject(limit);
    const globals = Array.from({ length: 3 }, () => raw({ type: 'g', content: toPaxRecord('comment', 'x') }));
    await expect(read(Buffer.concat([...globals, file, end]), 512, limits)).rejects.toMatchObject(limit);
  });

  it('NUL in an extended attribute and harmless global headers are fine', async () => {
    const bytes = Buffer.concat([
      raw({ type: 'g', content: toPaxRecord('comment', 'x') }),
      pax(['SCHILY.xattr.security.capability', '\x01\0\0']),
      file,
      end,
    ]);
    expect(await read(bytes)).toHaveLength(1);
  });

  it('never makes anything but a ToolkitError, and both readers agree', async () => {
    const base = await write(awkward.slice(0, 7));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.nat(base.length),
        async (edits, sealAgain, cut) => {
          const bytes = Buffer.from(base.subarray(0, sealAgain ? base.length : cut));
          for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
          if (sealAgain) sealed(bytes);
          const outcome = async (reading: Promise<TarEntry[]>) => {
            try {
              return (await reading).map(({ name, kind, size, offset }) => ({ name, kind, size, offset }));
            } catch (error) {
              if (!isToolkitError(error)) throw error;
              return error.code;
            }
          };
          expect(await outcome(scan(bytes))).toEqual(await outcome(read(bytes, 700)));
        },
      ),
      { numRuns: 300 },
    );
  });
});
