import * as zlib from 'node:zlib';
import { badCompression } from './bad-compression.js';
import { type Codec, throughCodec, withoutZlibErrors } from './codec-stream.js';
import { chunkBytes } from '../streams.js';
import type { ZstdDecoder } from './zstd-decoder.js';

/** What `node:zlib` has from 22.15 on; the types of Node 20 do not know it. */
interface ZstdOfNode {
  createZstdDecompress(options: object): Codec;
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
}

const node = zlib as unknown as Partial<ZstdOfNode>;

/** Undefined where Node has no zstd. One decoder for all frames, so that memory stays flat; that it used every byte is checked. */
export const decodeNatively: ZstdDecoder | undefined = node.createZstdDecompress === undefined ? undefined : decoderOf(node as ZstdOfNode);

function decoderOf(native: ZstdOfNode): ZstdDecoder {
  return (pieces, _, { limits, where, meter }) => {
    const windowLog = Math.min(31, Math.ceil(Math.log2(limits.zstdWindowBytes)));
    const codec = native.createZstdDecompress({ chunkSize: chunkBytes, params: { [native.constants.ZSTD_d_windowLogMax]: windowLog } });
    const bad = (reason: string, cause?: unknown) => badCompression('zstd', where, reason, cause);
    return meter.watch(
      withoutZlibErrors(
        throughCodec(pieces, codec, () => bad('a frame ends before its last block')),
        bad,
      ),
    );
  };
}
