import * as zlib from 'node:zlib';
import type { ByteStream } from '../core/index.js';
import { badCompression } from './bad-compression.js';
import { type Codec, isZlibError, throughCodec } from './codec-stream.js';
import { chunkBytes } from './streams.js';
import type { FrameDecoder, UnzstdOptions } from './zstd-decoder.js';
import type { ZstdFrameWalker } from './zstd-frames.js';

/** What `node:zlib` has from 22.15 on; the types of Node 20 do not know it. */
interface ZstdOfNode {
  createZstdDecompress(options: object): Codec;
  zstdDecompressSync(bytes: Uint8Array, options: object): Buffer;
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
}

const node = zlib as unknown as Partial<ZstdOfNode>;

/** Undefined where Node has no zstd. */
export const nativeDecoder: FrameDecoder | undefined =
  node.createZstdDecompress === undefined ? undefined : (pieces, walker, options) => decodeNatively(node as ZstdOfNode, pieces, walker, options);

async function* decodeNatively(native: ZstdOfNode, pieces: AsyncGenerator<Uint8Array>, walker: ZstdFrameWalker, options: UnzstdOptions): ByteStream {
  const first = await pieces.next();
  const piece = first.value as Uint8Array;
  const params = { [native.constants.ZSTD_d_windowLogMax]: Math.min(31, Math.ceil(Math.log2(options.limits.zstdWindowBytes))) };
  try {
    const size = walker.ended ? walker.header?.contentBytes : undefined;
    if (size !== undefined && size <= chunkBytes) {
      options.meter.output(size);
      yield native.zstdDecompressSync(piece, { maxOutputLength: Math.max(size, 1), params });
      return;
    }
    const codec = native.createZstdDecompress({ chunkSize: chunkBytes, params });
    yield* options.meter.watch(
      throughCodec(rejoin(piece, pieces), codec, () => badCompression('zstd', options.where, 'a frame ends before its last block')),
    );
  } catch (error) {
    throw isZlibError(error) ? badCompression('zstd', options.where, error.message, error) : error;
  }
}

async function* rejoin(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): ByteStream {
  yield first;
  yield* rest;
}
