/** Takes exact numbers of bytes out of chunks of any size. */
export class ByteQueue {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Fewer than `length` bytes only at the end of the stream. What is given may share memory with the chunk it came in. */
  async take(length: number): Promise<Uint8Array> {
    if (this.#rest.byteLength === 0 && length > 0) await this.#fill();
    if (this.#rest.byteLength >= length) return this.#cut(length);
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      if (this.#rest.byteLength === 0 && !(await this.#fill())) return bytes.subarray(0, filled);
      const piece = this.#cut(Math.min(this.#rest.byteLength, length - filled));
      bytes.set(piece, filled);
      filled += piece.byteLength;
    }
    return bytes;
  }

  #cut(length: number): Uint8Array {
    const piece = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return piece;
  }

  async #fill(): Promise<boolean> {
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      if (next.value.byteLength === 0) continue;
      this.#rest = next.value;
      return true;
    }
  }
}
