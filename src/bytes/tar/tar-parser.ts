import { overLimit } from '../compression/over-limit.js';
import type { TarBody, TarEntry, TarKind, TarReadOptions } from './tar-entry.js';
import { badArchive, blockBytes, isZero, paddingOf, parseHeader, type TarHeader, toText } from './tar-header.js';
import { type PaxRecords, parsePax } from './tar-pax.js';

const kinds: Readonly<Record<string, TarKind>> = {
  '\0': 'file',
  '0': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '3': 'character-device',
  '4': 'block-device',
  '5': 'directory',
  '6': 'fifo',
  '7': 'file',
};

/** Headers that say something about the next entry, or about all of them, instead of being one. */
const metaTypes = new Set(['x', 'g', 'L', 'K']);

/** Sparse files, parts of multi-volume archives, old GNU long names, the pax header of Solaris. */
const refusedTypes = new Set(['S', 'M', 'N', 'X']);

/** What stands before an entry and overrides its header. */
interface Pending {
  pax?: PaxRecords;
  longName?: string;
  longLink?: string;
}

/** Takes a tar archive in chunks of any size and tells of its entries. Content can be passed over with `hop`. */
export class TarParser {
  readonly #options: TarReadOptions;
  readonly #onEntry: (entry: TarEntry) => TarBody | undefined;
  readonly #block = Buffer.alloc(blockBytes);
  #blockFilled = 0;
  #position = 0;
  /** Content still to come, then padding. */
  #content = 0;
  #padding = 0;
  #body: TarBody | undefined;
  /** The meta header whose content is being gathered. */
  #meta: { type: string; bytes: Buffer; filled: number } | undefined;
  #pending: Pending = {};
  #zeroBlocks = 0;
  #entries = 0;

  constructor(options: TarReadOptions, onEntry: (entry: TarEntry) => TarBody | undefined) {
    this.#options = options;
    this.#onEntry = onEntry;
  }

  /** Bytes that nobody waits for: the caller may `hop` over them instead of pushing them. */
  get skippable(): number {
    return this.#body === undefined && this.#meta === undefined ? this.#content + this.#padding : 0;
  }

  hop(count: number): void {
    const content = Math.min(count, this.#content);
    this.#content -= content;
    this.#padding -= count - content;
    this.#position += count;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = 0; at < bytes.length;) {
      const start = at;
      if (this.#content > 0) at += this.#takeContent(bytes, at);
      else if (this.#padding > 0) at += this.#takePadding(bytes, at);
      else at += this.#takeBlock(bytes, at);
      this.#position += at - start;
    }
  }

  /** After the last chunk: throws unless the archive ended where it should. */
  finish(): void {
    const missing = this.#content + (this.#isOpenEnded ? 0 : this.#padding);
    if (missing > 0 || this.#isPending) throw this.#bad(`it is cut off: ${missing} bytes of the last entry are missing`);
    const rest = this.#block.subarray(0, this.#blockFilled);
    if (rest.length > 0 && ((this.#zeroBlocks < 2 && !this.#isOpenEnded) || !isZero(rest)))
      throw this.#bad(`the last block has ${rest.length} bytes, expected ${blockBytes}`);
    if (this.#zeroBlocks < 2 && !this.#isOpenEnded) throw this.#bad(`it is cut off: expected two zero blocks at the end, found ${this.#zeroBlocks}`);
  }

  get #isOpenEnded(): boolean {
    return this.#options.openEnded === true;
  }

  /** A header has been read that belongs to an entry still to come. */
  get #isPending(): boolean {
    return this.#pending.pax !== undefined || this.#pending.longName !== undefined || this.#pending.longLink !== undefined;
  }

  #takeContent(bytes: Buffer, at: number): number {
    const count = Math.min(this.#content, bytes.length - at);
    const piece = bytes.subarray(at, at + count);
    if (this.#meta !== undefined) this.#meta.filled += piece.copy(this.#meta.bytes, this.#meta.filled);
    else this.#body?.write(piece);
    this.#content -= count;
    if (this.#content === 0) this.#endContent();
    return count;
  }

  #endContent(): void {
    this.#body?.end();
    this.#body = undefined;
    if (this.#meta !== undefined) this.#useMeta(this.#meta.type, this.#meta.bytes);
    this.#meta = undefined;
  }

  #takePadding(bytes: Buffer, at: number): number {
    const count = Math.min(this.#padding, bytes.length - at);
    this.#padding -= count;
    return count;
  }

  #takeBlock(bytes: Buffer, at: number): number {
    if (this.#blockFilled === 0 && bytes.length - at >= blockBytes) {
      this.#useBlock(bytes.subarray(at, at + blockBytes), this.#position + blockBytes);
      return blockBytes;
    }
    const count = bytes.copy(this.#block, this.#blockFilled, at, at + blockBytes - this.#blockFilled);
    this.#blockFilled += count;
    if (this.#blockFilled === blockBytes) {
      this.#blockFilled = 0;
      this.#useBlock(this.#block, this.#position + count);
    }
    return count;
  }

  /** `end` is where the block ends in the stream. */
  #useBlock(block: Buffer, end: number): void {
    if (block[0] === 0 && isZero(block)) {
      if (this.#isPending) throw this.#bad('it ends after a header that belongs to an entry');
      this.#zeroBlocks++;
      return;
    }
    if (this.#zeroBlocks > 0)
      throw this.#bad(this.#zeroBlocks === 1 ? 'a single zero block stands between its entries' : 'there are bytes after its end');
    const header = parseHeader(block, this.#options.where);
    this.#padding = paddingOf(header.size);
    if (header.type === 'g' || !metaTypes.has(header.type)) this.#count();
    if (metaTypes.has(header.type)) this.#beginMeta(header);
    else this.#beginEntry(header, end);
  }

  #count(): void {
    if (++this.#entries > this.#options.limits.archiveEntries)
      throw overLimit(this.#options.where, 'the number of entries', this.#options.limits.archiveEntries);
  }

  #beginMeta(header: TarHeader): void {
    const { limits, where } = this.#options;
    if (header.size > limits.tarMetadataBytes) throw overLimit(where, `a "${header.type}" header of ${header.size} bytes`, limits.tarMetadataBytes);
    this.#content = header.size;
    this.#meta = { type: header.type, bytes: Buffer.allocUnsafe(header.size), filled: 0 };
    if (header.size === 0) this.#endContent();
  }

  #useMeta(type: string, bytes: Buffer): void {
    const pending = this.#pending;
    if (type === 'g') return this.#judgeGlobal(bytes);
    const key = type === 'x' ? 'pax' : type === 'L' ? 'longName' : 'longLink';
    if (pending[key] !== undefined) throw this.#bad(`two "${type}" headers stand before one entry`);
    if (type === 'x') pending.pax = parsePax(bytes, this.#options.where);
    else pending[key as 'longName' | 'longLink'] = this.#longText(bytes);
  }

  /** Some readers apply a global header to every entry, others ignore it: nothing in it may change what an entry is. */
  #judgeGlobal(bytes: Buffer): void {
    const { path, linkpath, size } = parsePax(bytes, this.#options.where);
    if (path !== undefined || linkpath !== undefined || size !== undefined)
      throw this.#bad('a global pax header gives every entry the same name, link or size');
  }

  #longText(bytes: Buffer): string {
    const nul = bytes.indexOf(0);
    const content = nul < 0 ? bytes : bytes.subarray(0, nul);
    if (content.length === 0 || (nul >= 0 && bytes.subarray(nul).some((byte) => byte !== 0)))
      throw this.#bad('a long name is empty or holds a NUL character');
    return toText(content, this.#options.where);
  }

  #beginEntry(header: TarHeader, offset: number): void {
    const entry = this.#toEntry(header, offset);
    this.#pending = {};
    this.#content = entry.size;
    this.#padding = paddingOf(entry.size);
    const body = this.#onEntry(entry);
    if (entry.size > 0) this.#body = body;
    else body?.end();
  }

  #toEntry(header: TarHeader, offset: number): TarEntry {
    const { pax = {}, longName, longLink } = this.#pending;
    if ((pax.path !== undefined && longName !== undefined) || (pax.linkpath !== undefined && longLink !== undefined))
      throw this.#bad('a pax header and a GNU header both name one entry');
    const name = pax.path ?? longName ?? header.name;
    const kind = toKind(header.type, name);
    const entry = {
      name,
      kind,
      size: pax.size ?? header.size,
      mode: header.mode & 0o7777,
      uid: pax.uid ?? header.uid,
      gid: pax.gid ?? header.gid,
      mtime: pax.mtime ?? header.mtime,
      ...(kind === 'symlink' || kind === 'hardlink' ? { linkTarget: pax.linkpath ?? longLink ?? header.linkName } : {}),
      offset,
    };
    this.#judge(entry, header.type);
    return entry;
  }

  #judge(entry: TarEntry, type: string): void {
    const { limits, where } = this.#options;
    if (entry.name === '') throw this.#bad('an entry has no name');
    if (refusedTypes.has(type))
      throw this.#bad(`"${entry.name}" has the type "${type}" (sparse, split or Solaris), which readers understand differently`);
    if (entry.kind === 'file' && entry.name.endsWith('/')) throw this.#bad(`"${entry.name}" is a file whose name is that of a folder`);
    if (entry.size > 0 && entry.kind !== 'file' && entry.kind !== 'other')
      throw this.#bad(`"${entry.name}" is a ${entry.kind} and has ${entry.size} bytes of content, expected 0`);
    if (entry.size > limits.unpackedBytes) throw overLimit(where, `the size of "${entry.name}", ${entry.size} bytes,`, limits.unpackedBytes);
  }

  #bad(reason: string): Error {
    return badArchive(this.#options.where, reason);
  }
}

/** Before POSIX a folder was a file whose name ends in a slash; all readers still take it so. */
function toKind(type: string, name: string): TarKind {
  return type === '\0' && name.endsWith('/') ? 'directory' : (kinds[type] ?? 'other');
}
