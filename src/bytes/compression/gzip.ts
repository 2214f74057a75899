import { createGunzip, createGzip } from 'node:zlib';
import { type ByteStream, createError } from '../../core/index.js';
import { badCompression } from './bad-compression.js';
import { throughCodec, withoutZlibErrors } from './codec-stream.js';
import { chunkBytes } from '../streams.js';

/** What everybody uses; another level would change every digest. */
const level = 6;

/** Where a gzip header names the operating system, and its value for "unknown". (RFC 1952, 2.3) */
const systemByte = 9;
const unknownSystem = 255;

/** One member without name and time; the same bytes on every platform with the same zlib. */
export async function* gzip(stream: ByteStream): ByteStream {
  let first = true;
  for await (const chunk of throughCodec(stream, createGzip({ level, chunkSize: chunkBytes }), unreachable)) {
    if (first) chunk[systemByte] = unknownSystem;
    first = false;
    yield chunk;
  }
}

function unreachable(): Error {
  return createError('core/bug', { message: 'Cannot happen: gzip left a part of its input' });
}

/** All members after each other. Anything else behind a member, zeros too, is refused. */
export function gunzip(stream: ByteStream, where: string): ByteStream {
  const bad = (reason: string, cause?: unknown) => badCompression('gzip', where, reason, cause);
  return withoutZlibErrors(
    throughCodec(stream, createGunzip({ chunkSize: chunkBytes }), () => bad('there are other bytes after its end')),
    bad,
  );
}
