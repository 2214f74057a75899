import { type ByteRange, type ByteStream, createError, type PartContent, type RandomAccess } from '../core/index.js';
import { collect, fromFile, sizeMismatch } from './streams.js';
import { fromWholeFile } from './whole-file.js';

/**
 * The bytes of a part, or a range of them. Whole files and blobs are checked while they are read; ranges and slices of a layer
 * are not. A range of a forward-only part reads through what stands before it.
 */
export async function openPart(content: PartContent, range?: ByteRange): Promise<ByteStream> {
  switch (content.kind) {
    case 'file':
      return range === undefined ? fromWholeFile(content) : fromFile(content.path, range);
    case 'blob':
      return content.blobs.open(content.descriptor, range);
    case 'slice':
      return content.blobs.open(content.descriptor, inLayer(content.offset, content.size, range));
    case 'entry':
      return content.tree.open(content.path, range);
    case 'stream':
      return range === undefined ? content.open() : cut(await content.open(), range);
  }
}

function inLayer(offset: number, size: number | undefined, range: ByteRange = { start: 0 }): ByteRange {
  const end = Math.min(range.end ?? Infinity, size ?? Infinity);
  if (end === Infinity) throw createError('core/bug', { message: 'Cannot open a slice of a layer: neither its size nor an end is known' });
  return { start: offset + Math.min(range.start, end), end: offset + end };
}

async function* cut(stream: ByteStream, { start, end = Infinity }: ByteRange): ByteStream {
  let position = 0;
  if (end <= start) return;
  for await (const chunk of stream) {
    const from = Math.max(start - position, 0);
    const piece = chunk.subarray(from, end - position);
    position += chunk.byteLength;
    if (piece.byteLength > 0 || chunk.byteLength === 0) yield piece;
    if (position >= end) return;
  }
}

/** Random access to a part. Close it: a forward-only part is held open between reads. */
export interface PartAccess extends RandomAccess {
  close(): Promise<void>;
}

/**
 * A part of `size` bytes read at any offset, each read by its own range. A forward-only part is read once from its beginning:
 * what is skipped is read and thrown away, and asking for earlier bytes again is a bug of the caller.
 */
export function accessPart(content: PartContent, size: number): PartAccess {
  if (content.kind === 'stream') return new ForwardAccess(content, size);
  return {
    size,
    read: async (offset, length) => {
      const bytes = await collect(await openPart(content, { start: offset, end: offset + length }), length, 'a range of a part');
      if (bytes.byteLength !== length) throw sizeMismatch('a range of a part', length, String(bytes.byteLength));
      return bytes;
    },
    close: async () => {},
  };
}

class ForwardAccess implements PartAccess {
  readonly size: number;
  readonly #content: { open(): Promise<ByteStream> };
  #chunks: AsyncIterator<Uint8Array> | undefined;
  #chunk: Uint8Array = new Uint8Array(0);
  /** Where `#chunk` begins. */
  #position = 0;

  constructor(content: { open(): Promise<ByteStream> }, size: number) {
    this.#content = content;
    this.size = size;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (offset < this.#position)
      throw createError('core/bug', { message: `Cannot read a forward-only part at ${offset}: it is at ${this.#position} already` });
    if (offset + length > this.size) throw sizeMismatch('a part', offset + length, String(this.size));
    const pieces: Buffer[] = [];
    for (let at = offset, end = offset + length; at < end;) {
      while (this.#position + this.#chunk.byteLength <= at) await this.#next();
      const piece = Buffer.from(this.#chunk.subarray(at - this.#position, end - this.#position));
      pieces.push(piece);
      at += piece.byteLength;
    }
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, length);
  }

  async #next(): Promise<void> {
    this.#chunks ??= (await this.#content.open())[Symbol.asyncIterator]();
    this.#position += this.#chunk.byteLength;
    this.#chunk = new Uint8Array(0);
    const next = await this.#chunks.next();
    if (next.done === true) throw sizeMismatch('a part', this.size, String(this.#position));
    this.#chunk = next.value;
  }

  async close(): Promise<void> {
    this.#position = Infinity;
    await this.#chunks?.return?.();
  }
}
