import { hash } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import { type ByteCounters, type ByteStream, parseDigest } from '../../core/index.js';
import { compress } from '../compression/compression.js';
import { openContent } from '../content.js';
import { collect, fromBytes } from '../streams.js';
import { WholeFile } from '../whole-file.js';
import { methodNumbers, type ZipMethod } from './zip-format.js';
import { localHeaderBytes, type MemberFacts, putLocalHeader } from './zip-headers.js';
import type { PlannedMember, WrittenMember, ZipContent } from './zip-member.js';
import type { ZipOutput } from './zip-output.js';

/** More than deflate or zstd add to what they cannot shrink, up to `smallBytes`. */
const slackBytes = 64 * 1024;

/** zlib's own default; another level would change every archive. */
export const deflateLevel = 6;

/** A member of known size, at most `smallBytes`, header and content in one piece. Promises would cost more than the reading of a small file: none is made for it. */
export async function writeSmallMember(output: ZipOutput, member: PlannedMember, size: number, counters: ByteCounters): Promise<WrittenMember> {
  const { name, content, method, mode } = member;
  const headerBytes = localHeaderBytes({ name, isLarge: false });
  const room = await output.room(headerBytes + size + slackBytes);
  const target = room.subarray(headerBytes);
  const plain = method === 'none' ? target.subarray(0, size) : Buffer.allocUnsafe(size);
  if (content.kind === 'file') fillFromFile(plain, content, counters);
  else await fill(plain, content, counters);
  const packed = method === 'none' ? size : (await pack(plain, method)).copy(target);
  const facts: MemberFacts = {
    name,
    method: methodNumbers[method],
    mode,
    crc32: crc32(plain),
    size,
    packed,
    offset: output.end,
    isLarge: false,
  };
  putLocalHeader(room, 0, facts);
  output.keep(headerBytes + packed);
  counters.hashed += size;
  return { facts, digest: parseDigest(`sha256:${hash('sha256', plain, 'hex')}`) };
}

function fillFromFile(target: Buffer, content: ZipContent & { readonly kind: 'file' }, counters: ByteCounters): void {
  const file = WholeFile.open(content);
  try {
    file.read(target, 0, target.length);
  } finally {
    file.close();
  }
  counters.read += target.length;
}

/** The stream has as many bytes as was said, or throws. */
async function fill(target: Buffer, content: ZipContent, counters: ByteCounters): Promise<void> {
  let at = 0;
  for await (const chunk of openContent(content, { counters })) {
    target.set(chunk, at);
    at += chunk.byteLength;
  }
}

async function pack(plain: Buffer, method: Exclude<ZipMethod, 'none'>): Promise<Buffer> {
  if (method === 'deflate') return deflateRawSync(plain, { level: deflateLevel });
  const frames: ByteStream = compress(fromBytes(plain), 'zstd');
  return Buffer.from(await collect(frames, plain.length + slackBytes, 'a zstd frame'));
}
