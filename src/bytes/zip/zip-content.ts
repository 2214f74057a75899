import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { type ByteRange, type ByteStream, isToolkitError, type Limits, type RangeSource } from '../../core/index.js';
import { ByteMeter } from '../compression/byte-meter.js';
import { throughCodec, withoutZlibErrors } from '../compression/codec-stream.js';
import { decompress } from '../compression/compression.js';
import { overLimit } from '../compression/over-limit.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { isSystemError } from '../os-error.js';
import { chunkBytes, fromBytes } from '../streams.js';
import { addToCrc } from './add-to-crc.js';
import { badZip } from './bad-zip.js';
import type { ZipEntry, ZipRecord } from './zip-entry.js';
import { checkDescriptor, type LocalPlace, readLocal } from './zip-local.js';

/** Entries that take no more room than this are read with their header. */
const wholeBytes = 128 * 1024;

/** What is inflated at once: starting a stream costs more than this. */
const atOnceBytes = 1024 * 1024;

/** What content is read from, and how far. */
export interface ZipSource {
  readonly source: RangeSource;
  readonly limits: Limits;
  readonly where: string;
}

/** The content of an entry; header errors are thrown at once. Without a range it is verified, where it is short before the first byte is given. */
export async function openZipContent(zip: ZipSource, record: ZipRecord, range?: ByteRange): Promise<ByteStream> {
  const { source, limits, where } = zip;
  const { entry, boundary } = record;
  if (entry.size > limits.unpackedBytes) throw overLimit(where, `the size of "${escapeForDisplay(entry.path)}"`, limits.unpackedBytes);
  const room = boundary - entry.headerOffset;
  const isHeld = room <= wholeBytes && range === undefined;
  const place = await readLocal(source, record, where, isHeld ? room : 0);
  if (range !== undefined) return openRange(zip, entry, place, range);
  if (!isHeld || entry.size > atOnceBytes || entry.packed.method === 'zstd') return checked(zip, record, place);
  const packed = place.head.subarray(place.start - entry.headerOffset, place.end - entry.headerOffset);
  const bytes = entry.packed.method === 'none' ? packed : inflateAtOnce(packed, entry, where);
  judgeContent(entry, bytes.byteLength, crc32(bytes), where);
  await checkDescriptor(source, record, place, where);
  return fromBytes(bytes);
}

async function* checked(zip: ZipSource, record: ZipRecord, place: LocalPlace): ByteStream {
  let crc = 0;
  let size = 0;
  for await (const chunk of unpacked(zip, record.entry, place)) {
    crc = addToCrc(crc, chunk);
    size += chunk.byteLength;
    yield chunk;
  }
  judgeContent(record.entry, size, crc, zip.where);
  await checkDescriptor(zip.source, record, place, zip.where);
}

function judgeContent({ path, size: expected, crc32: expectedCrc }: ZipEntry, size: number, crc: number, where: string): void {
  if (size !== expected) throw badZip(where, `expected ${expected} bytes, found ${size}`, path);
  if (crc !== expectedCrc) throw badZip(where, `expected the CRC-32 ${toHex(expectedCrc)}, found ${toHex(crc)}`, path);
}

function toHex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** All bytes, and never more than the list says. */
async function* unpacked(zip: ZipSource, entry: ZipEntry, place: LocalPlace): ByteStream {
  let size = 0;
  for await (const chunk of decode(zip, entry, await openPacked(zip, entry, place))) {
    size += chunk.byteLength;
    if (size > entry.size) throw moreThanSaid(entry, zip.where);
    yield chunk;
  }
}

function moreThanSaid({ path, size }: ZipEntry, where: string): Error {
  return badZip(where, `more than the ${size} bytes come out of it that the list says`, path);
}

function openPacked({ source }: ZipSource, entry: ZipEntry, { start, end, head }: LocalPlace): ByteStream | Promise<ByteStream> {
  const isHeld = entry.headerOffset + head.length >= end;
  return isHeld ? fromBytes(head.subarray(start - entry.headerOffset, end - entry.headerOffset)) : source.stream({ start, end });
}

function decode({ limits, where }: ZipSource, entry: ZipEntry, packed: ByteStream): ByteStream {
  const what = `${where}: ${escapeForDisplay(entry.path)}`;
  switch (entry.packed.method) {
    case 'none':
      return packed;
    case 'zstd':
      return decompress(packed, 'zstd', { limits, where: what });
    case 'deflate': {
      const meter = new ByteMeter(limits, what);
      const bad = (reason: string, cause?: unknown) => badInflate(entry, where, reason, cause);
      const codec = createInflateRaw({ chunkSize: Math.min(chunkBytes, Math.max(1024, entry.size)) });
      return meter.watch(
        withoutZlibErrors(
          throughCodec(meter.input(packed), codec, () => bad(bytesBehind)),
          bad,
        ),
      );
    }
  }
}

const bytesBehind = 'other bytes stand behind its end';

function badInflate({ path }: ZipEntry, where: string, reason: string, cause?: unknown): Error {
  return badZip(where, `its content cannot be inflated: ${reason}`, path, cause);
}

function inflateAtOnce(packed: Buffer, entry: ZipEntry, where: string): Buffer {
  try {
    const { buffer, engine } = inflate(packed, { maxOutputLength: Math.max(1, entry.size), info: true });
    if (engine.bytesWritten !== packed.length) throw badInflate(entry, where, bytesBehind);
    return buffer;
  } catch (error) {
    if (isToolkitError(error)) throw error;
    if (isSystemError(error, 'ERR_BUFFER_TOO_LARGE')) throw moreThanSaid(entry, where);
    throw badInflate(entry, where, error instanceof Error ? error.message : String(error), error);
  }
}

/** With `info` the decoder comes along, which knows how much it has used; the types of Node 20 do not know it. */
const inflate = inflateRawSync as unknown as (
  bytes: Buffer,
  options: { readonly maxOutputLength: number; readonly info: true },
) => { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };

/** Stored content is read exactly where it lies; compressed one from its beginning, until the last wanted byte. */
async function openRange(zip: ZipSource, entry: ZipEntry, place: LocalPlace, range: ByteRange): Promise<ByteStream> {
  const start = Math.min(range.start, entry.size);
  const end = Math.max(start, Math.min(range.end ?? entry.size, entry.size));
  if (start === end) return fromBytes(new Uint8Array());
  if (entry.packed.method !== 'none') return partOf(unpacked(zip, entry, place), start, end);
  return zip.source.stream({ start: place.start + start, end: place.start + end });
}

async function* partOf(stream: ByteStream, start: number, end: number): ByteStream {
  let at = 0;
  for await (const chunk of stream) {
    const from = Math.min(chunk.byteLength, Math.max(0, start - at));
    const to = Math.min(chunk.byteLength, end - at);
    at += chunk.byteLength;
    yield chunk.subarray(from, to);
    if (at >= end) return;
  }
}
