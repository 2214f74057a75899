import { createDeflateRaw } from 'node:zlib';
import { assertWanted, type ByteCounters, type ByteStream, createError, parseDigest } from '../../core/index.js';
import { throughCodec } from '../compression/codec-stream.js';
import { compress } from '../compression/compression.js';
import { chunkBytes } from '../streams.js';
import { createStreamHash, type StreamHash } from '../threads/stream-hash.js';
import { addToCrc } from './add-to-crc.js';
import { deflateLevel } from './write-small-member.js';
import { methodNumbers, sentinel32, type ZipMethod } from './zip-format.js';
import { localHeaderBytes, type MemberFacts, putLocalHeader } from './zip-headers.js';
import type { PlannedMember, WrittenMember } from './zip-member.js';
import type { ZipOutput } from './zip-output.js';

export interface LongMemberOptions {
  readonly counters: ByteCounters;
  readonly signal: AbortSignal | undefined;
}

/**
 * A member in one pass; what its header says is written when it is known, after the content. `size` decides beforehand whether the header
 * has room for 64 bits; where it is not known it has.
 */
export async function writeLongMember(
  output: ZipOutput,
  member: PlannedMember,
  stream: ByteStream,
  size: number | undefined,
  { counters, signal }: LongMemberOptions,
): Promise<WrittenMember> {
  const { name, method, mode } = member;
  const isLarge = size === undefined || mostPacked(size, method) >= sentinel32;
  const headerBytes = localHeaderBytes({ name, isLarge });
  await output.flush();
  const offset = output.end;
  const hash = createStreamHash('sha256', size ?? 0);
  try {
    const measure: Measure = { hash, crc: 0, size: 0, counters, signal };
    const packed = await writeAll(output, encode(measured(stream, measure), method), offset + headerBytes);
    const facts: MemberFacts = { name, method: methodNumbers[method], mode, crc32: measure.crc, size: measure.size, packed, offset, isLarge };
    const header = Buffer.alloc(headerBytes);
    putLocalHeader(header, 0, facts);
    await output.writeAt(header, offset);
    output.skipTo(offset + headerBytes + packed);
    return { facts, digest: parseDigest(`sha256:${await hash.digest()}`) };
  } finally {
    hash.drop();
  }
}

/** What cannot be shrunk grows, by less than this. */
function mostPacked(size: number, method: ZipMethod): number {
  return method === 'none' ? size : size + size / 256 + 64 * 1024;
}

interface Measure {
  readonly hash: StreamHash;
  readonly counters: ByteCounters;
  readonly signal: AbortSignal | undefined;
  crc: number;
  size: number;
}

/** The same bytes; the hash works on a chunk while this thread does the CRC-32 and the chunk is written. */
async function* measured(stream: ByteStream, measure: Measure): ByteStream {
  for await (const chunk of stream) {
    assertWanted(measure.signal);
    const hashed = measure.hash.update(chunk);
    measure.crc = addToCrc(measure.crc, chunk);
    measure.size += chunk.byteLength;
    measure.counters.hashed += chunk.byteLength;
    yield chunk;
    await hashed;
  }
}

function encode(stream: ByteStream, method: ZipMethod): ByteStream {
  switch (method) {
    case 'none':
      return stream;
    case 'zstd':
      return compress(stream, 'zstd');
    case 'deflate':
      return throughCodec(stream, createDeflateRaw({ level: deflateLevel, chunkSize: chunkBytes }), unreachable);
  }
}

function unreachable(): Error {
  return createError('core/bug', { message: 'Cannot happen: deflate left a part of its input' });
}

/** A chunk is written while the next one is made. Gives the number of bytes. */
async function writeAll(output: ZipOutput, stream: ByteStream, start: number): Promise<number> {
  let position = start;
  let before: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of stream) {
      await before;
      before = output.writeAt(chunk, position);
      before.catch(() => {});
      position += chunk.byteLength;
    }
    await before;
    return position - start;
  } finally {
    await before.catch(() => {});
  }
}
