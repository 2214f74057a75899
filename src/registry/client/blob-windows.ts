import type { ByteRange, Descriptor, Digest } from '../../core/index.js';

/** What one request brings at least. Tensor lists of most shards fit, and 50 of them into 5 MB. */
const firstBytes = 80 * 1024;
const otherBytes = 16 * 1024;
const longestBytes = 1024 * 1024;
const keptBytes = 16 * 1024 * 1024;

interface Window {
  readonly start: number;
  readonly bytes: Uint8Array;
}

type Read = (descriptor: Descriptor, start: number, end: number) => Promise<Uint8Array>;

/**
 * Small ranges of remote blobs, read through windows: headers are asked for in pieces of a few bytes, and each request costs a round
 * trip. The first window of a blob is a large one; whoever reads on behind it gets ever larger ones, whoever jumps gets small ones.
 */
export class BlobWindows {
  readonly #read: Read;
  readonly #windows = new Map<Digest, Window>();

  constructor(read: Read) {
    this.#read = read;
  }

  /** False for what is too long to be kept. */
  static serves(range: ByteRange, { size }: Descriptor): boolean {
    return (range.end ?? size) - range.start <= longestBytes;
  }

  /** Exactly the range, as far as the blob reaches. */
  async read(descriptor: Descriptor, range: ByteRange): Promise<Uint8Array> {
    const start = Math.min(range.start, descriptor.size);
    const end = Math.min(range.end ?? descriptor.size, descriptor.size);
    const known = this.#windows.get(descriptor.digest);
    if (known !== undefined && start >= known.start && end <= known.start + known.bytes.byteLength) {
      this.#keep(descriptor.digest, known);
      return slice(known, start, end);
    }
    const until = Math.min(descriptor.size, Math.max(end, start + this.#lengthAt(start, known)));
    const window = { start, bytes: await this.#read(descriptor, start, until) };
    this.#keep(descriptor.digest, window);
    return slice(window, start, end);
  }

  #lengthAt(start: number, known: Window | undefined): number {
    if (known === undefined) return start === 0 ? firstBytes : otherBytes;
    const gap = start - (known.start + known.bytes.byteLength);
    return Math.abs(gap) <= known.bytes.byteLength ? Math.min(longestBytes, 2 * known.bytes.byteLength) : otherBytes;
  }

  /** As the youngest; what was not used for longest goes. */
  #keep(digest: Digest, window: Window): void {
    this.#windows.delete(digest);
    this.#windows.set(digest, window);
    let total = [...this.#windows.values()].reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    for (const [oldest, { bytes }] of this.#windows) {
      if (total <= keptBytes) break;
      total -= bytes.byteLength;
      this.#windows.delete(oldest);
    }
  }
}

function slice({ start, bytes }: Window, from: number, to: number): Uint8Array {
  return bytes.subarray(from - start, to - start);
}
