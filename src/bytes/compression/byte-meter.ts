import type { ByteStream, Limits } from '../../core/index.js';
import { overLimit } from './over-limit.js';

/** Counts what goes into a decompressor and what comes out, and stops a bomb while it goes off. */
export class ByteMeter {
  readonly #limits: Limits;
  readonly #where: string;
  #taken = 0;
  #given = 0;

  constructor(limits: Limits, where: string) {
    this.#limits = limits;
    this.#where = where;
  }

  async *input(stream: ByteStream): ByteStream {
    for await (const chunk of stream) {
      this.#taken += chunk.byteLength;
      yield chunk;
    }
  }

  async *watch(output: ByteStream): ByteStream {
    for await (const chunk of output) {
      this.output(chunk.byteLength);
      yield chunk;
    }
  }

  /** To be told of output before it is handed on. */
  output(bytes: number): void {
    const { unpackedBytes, compressionRatio, ratioFloorBytes } = this.#limits;
    this.#given += bytes;
    if (this.#given > unpackedBytes) throw overLimit(this.#where, 'the decompressed size', unpackedBytes);
    if (this.#given > ratioFloorBytes && this.#given > this.#taken * compressionRatio)
      throw overLimit(this.#where, 'the ratio of decompressed to compressed size', compressionRatio);
  }
}
