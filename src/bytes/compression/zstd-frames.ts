import type { Limits } from '../../core/index.js';
import { badCompression } from './bad-compression.js';
import { overLimit } from './over-limit.js';

/** RFC 8878, 3.1.1 and 3.1.2; the last half byte of a skippable frame's magic is free. */
export const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;

/** No block regenerates more, whatever the window. (RFC 8878, 3.1.1.2.4) */
const largestBlock = 128 * 1024;

export function isSkippableMagic(magic: number): boolean {
  return (magic & 0xfffffff0) >>> 0 === skippableMagic;
}

export interface FrameHeader {
  readonly windowBytes: number;
  /** Of the decompressed frame; absent when the writer did not know it. */
  readonly contentBytes?: number;
  readonly checksum: boolean;
}

type Phase = 'magic' | 'descriptor' | 'header' | 'block' | 'checksum' | 'skippable-size';

/**
 * Finds where zstd frames begin and end without decompressing them, and judges everything that decoders judge differently or
 * not at all: window, dictionaries, reserved bits, block sizes, the last block. Take the bytes of a frame with `advance`;
 * after it ended, `advance` begins the next one.
 */
export class ZstdFrameWalker {
  readonly #limits: Limits;
  readonly #where: string;
  /** The field being gathered; fields may be cut anywhere. */
  readonly #field = Buffer.alloc(18);
  #filled = 0;
  #wanted = 4;
  #phase: Phase = 'magic';
  #skip = 0;
  #lastBlock = false;
  #frames = 0;
  #skippedBytes = 0;
  ended = true;
  skippable = false;
  header: FrameHeader | undefined;
  /** The four bytes after the last block, when the header promises them. */
  checksum: number | undefined;

  constructor(limits: Limits, where: string) {
    this.#limits = limits;
    this.#where = where;
  }

  /** Goes to the end of the frame or of the chunk, whichever comes first, and says where that is. */
  advance(chunk: Uint8Array, start: number): number {
    if (this.ended) this.#begin();
    let at = start;
    while (at < chunk.byteLength && !this.ended) {
      if (this.#skip > 0) {
        const count = Math.min(this.#skip, chunk.byteLength - at);
        at += count;
        this.#skip -= count;
        if (this.#skip === 0) this.#afterContent();
      } else {
        this.#field[this.#filled++] = chunk[at++] as number;
        if (this.#filled === this.#wanted) this.#useField();
      }
    }
    return at;
  }

  #begin(): void {
    if (++this.#frames > this.#limits.zstdFrames) throw overLimit(this.#where, 'the number of zstd frames', this.#limits.zstdFrames);
    this.ended = false;
    this.skippable = false;
    this.header = undefined;
    this.checksum = undefined;
    this.#lastBlock = false;
    this.#want('magic', 4);
  }

  #want(phase: Phase, bytes: number): void {
    this.#phase = phase;
    this.#filled = 0;
    this.#wanted = bytes;
  }

  #useField(): void {
    switch (this.#phase) {
      case 'magic':
        return this.#useMagic(this.#field.readUInt32LE(0));
      case 'skippable-size':
        return this.#useSkippable(this.#field.readUInt32LE(0));
      case 'descriptor':
        this.#phase = 'header';
        this.#wanted = headerBytes(this.#field[0] as number);
        return;
      case 'header':
        return this.#useHeader();
      case 'block':
        return this.#useBlock(this.#field.readUIntLE(0, 3));
      case 'checksum':
        this.checksum = this.#field.readUInt32LE(0);
        this.ended = true;
    }
  }

  #useMagic(magic: number): void {
    if (magic === frameMagic) return this.#want('descriptor', 1);
    if (!isSkippableMagic(magic)) throw this.#bad(`a frame begins with ${magic.toString(16).padStart(8, '0')}, expected ${frameMagic.toString(16)}`);
    this.skippable = true;
    this.#want('skippable-size', 4);
  }

  #useSkippable(size: number): void {
    this.#skippedBytes += size;
    if (this.#skippedBytes > this.#limits.zstdSkippedBytes)
      throw overLimit(this.#where, 'the size of its skippable zstd frames', this.#limits.zstdSkippedBytes);
    this.#skip = size;
    if (size === 0) this.ended = true;
  }

  #useHeader(): void {
    this.header = parseFrameHeader(this.#field.subarray(0, this.#wanted), (reason) => this.#bad(reason));
    const limit = this.#limits.zstdWindowBytes;
    if (this.header.windowBytes > limit) throw overLimit(this.#where, `a zstd window of ${this.header.windowBytes} bytes`, limit);
    this.#want('block', 3);
  }

  #useBlock(block: number): void {
    const type = (block >> 1) & 3;
    const size = block >> 3;
    const limit = Math.min(largestBlock, this.header?.windowBytes ?? 0);
    if (type === 3) throw this.#bad('a block has the reserved type');
    if (size > limit) throw this.#bad(`a block has ${size} bytes, expected at most ${limit}`);
    if (type === 2 && size < 2) throw this.#bad('a compressed block is empty');
    this.#lastBlock = (block & 1) === 1;
    this.#skip = type === 1 ? 1 : size;
    if (this.#skip === 0) this.#afterContent();
  }

  #afterContent(): void {
    if (this.skippable) this.ended = true;
    else if (!this.#lastBlock) this.#want('block', 3);
    else if (this.header?.checksum === true) this.#want('checksum', 4);
    else this.ended = true;
  }

  #bad(reason: string): Error {
    return badCompression('zstd', this.#where, reason);
  }
}

/** Length of the frame header from its first byte, the descriptor, on. */
function headerBytes(descriptor: number): number {
  const { windowBytes, dictionaryBytes, contentBytes } = layout(descriptor);
  return 1 + windowBytes + dictionaryBytes + contentBytes;
}

function layout(descriptor: number): { windowBytes: number; dictionaryBytes: number; contentBytes: number } {
  const single = (descriptor & 0x20) !== 0;
  const contentFlag = descriptor >> 6;
  return {
    windowBytes: single ? 0 : 1,
    dictionaryBytes: [0, 1, 2, 4][descriptor & 3] as number,
    contentBytes: contentFlag === 0 ? (single ? 1 : 0) : 2 ** contentFlag,
  };
}

function parseFrameHeader(bytes: Buffer, bad: (reason: string) => Error): FrameHeader {
  const descriptor = bytes[0] as number;
  const { windowBytes, dictionaryBytes } = layout(descriptor);
  if ((descriptor & 8) !== 0) throw bad('a frame header sets the reserved bit');
  const dictionary = bytes.subarray(1 + windowBytes, 1 + windowBytes + dictionaryBytes);
  if (dictionary.some((byte) => byte !== 0)) throw bad('a frame needs a dictionary');
  const content = contentSize(bytes.subarray(1 + windowBytes + dictionaryBytes));
  if (content !== undefined && !Number.isSafeInteger(content)) throw bad('a frame says that it is larger than 2^53 bytes');
  return {
    windowBytes: windowBytes === 0 ? (content ?? 0) : windowSize(bytes[1] as number),
    ...(content === undefined ? {} : { contentBytes: content }),
    checksum: (descriptor & 4) !== 0,
  };
}

function windowSize(byte: number): number {
  const base = 2 ** (10 + (byte >> 3));
  return base + (base / 8) * (byte & 7);
}

function contentSize(bytes: Buffer): number | undefined {
  switch (bytes.length) {
    case 0:
      return undefined;
    case 2:
      return bytes.readUInt16LE(0) + 256;
    case 8:
      return Number(bytes.readBigUInt64LE(0));
    default:
      return bytes.readUIntLE(0, bytes.length);
  }
}
