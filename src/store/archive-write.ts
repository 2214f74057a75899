import { closeSync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fromFile, removeLeftovers, syncFolder, temporaryName, toIoError, verified } from '../bytes/index.js';
import {
  type BlobContent,
  type ByteCounters,
  type ByteRange,
  type ByteStream,
  type ContentStore,
  createCounters,
  createError,
  defaultLimits,
  type Descriptor,
  type Digest,
  type Limits,
  type NamedDescriptor,
  type PutOptions,
  type StoredBlob,
} from '../core/index.js';
import type { Member } from './archive-members.js';
import type { Promised } from './blob-file.js';
import { endBytes, toFileHeader, toPaddedSize } from './archive-header.js';
import { toMemberPath } from './blob-path.js';
import { buildChecked } from './build-checked.js';
import { toDockerManifest } from './docker-manifest.js';
import { emptyLayoutIndex, findNamed, type LayoutIndex, listNamed, toIndexText, withName, withRoot } from './layout-index.js';
import type { ArchiveKind } from './locate.js';

/** An archive being written. Nothing is at its path before `commit`, and what was there stays until then. */
export interface ArchiveWriter extends ContentStore {
  /** A root without a name. */
  addRoot(descriptor: Descriptor): Promise<void>;
  /** Writes the index last and puts the whole file in its place, durably. */
  commit(): Promise<void>;
  /** Gives up what was not committed. To be called in any case. */
  close(): Promise<void>;
}

export interface ArchiveWriteOptions {
  readonly counters?: ByteCounters;
  readonly limits?: Limits;
}

/**
 * Starts an archive: blobs in the order they are put, each written once, then the index. The same blobs in the same order give the same
 * bytes. A docker archive takes images with uncompressed layers only, which `commit` judges: `store/not-an-image`.
 */
export async function createArchive(path: string, kind: ArchiveKind, options: ArchiveWriteOptions = {}): Promise<ArchiveWriter> {
  removeLeftovers(dirname(resolve(path)));
  return new TarArchive(resolve(path), kind, options);
}

class TarArchive implements ArchiveWriter {
  readonly #path: string;
  readonly #kind: ArchiveKind;
  readonly #temporary: string;
  readonly #handle: number;
  readonly #limits: Limits;
  readonly #counters: ByteCounters;
  readonly #blobs = new Map<Digest, Member>();
  #index: LayoutIndex = emptyLayoutIndex;
  #end = 0;
  #last: Promise<unknown> = Promise.resolve();
  #open = true;

  constructor(path: string, kind: ArchiveKind, { counters = createCounters(), limits = defaultLimits }: ArchiveWriteOptions) {
    this.#path = path;
    this.#kind = kind;
    this.#limits = limits;
    this.#counters = counters;
    this.#temporary = temporaryName(path);
    try {
      this.#handle = openSync(this.#temporary, 'wx+', 0o644);
    } catch (error) {
      throw toIoError(error, 'write', path);
    }
    if (kind === 'oci-archive') this.#appendText('oci-layout', '{"imageLayoutVersion":"1.0.0"}');
  }

  async has({ digest, size }: Descriptor): Promise<boolean> {
    return this.#blobs.get(digest)?.size === size;
  }

  async open(descriptor: Descriptor, range?: ByteRange): Promise<ByteStream> {
    const { digest, size } = descriptor;
    const member = this.#blobs.get(digest);
    if (member === undefined)
      throw createError('store/blob-missing', { message: `Cannot read the blob ${digest}: it was not put into "${this.#path}"`, where: digest });
    const start = member.offset + Math.min(range?.start ?? 0, member.size);
    const end = member.offset + Math.min(range?.end ?? member.size, member.size);
    const bytes = fromFile(this.#temporary, { start, end }, this.#counters);
    return range === undefined ? verified(bytes, { digest, size }, `the blob ${digest}`, this.#counters) : bytes;
  }

  /** One blob after the other: where one begins is known only when the one before it has ended. */
  put(content: BlobContent, options: PutOptions = {}): Promise<StoredBlob> {
    const result = this.#last.then(() => this.#put(content, options));
    this.#last = result.catch(() => {});
    return result;
  }

  async #put(content: BlobContent, options: PutOptions): Promise<StoredBlob> {
    const { expected } = options;
    if (expected !== undefined && this.#blobs.get(expected.digest)?.size === expected.size) {
      this.#counters.skipped += expected.size;
      return { ...expected, fresh: false };
    }
    const start = this.#end;
    const position = start + headerBytes(expected?.digest);
    try {
      const blob = await buildChecked(content, { path: this.#temporary, position }, options, { counters: this.#counters, sync: false });
      const fresh = !this.#blobs.has(blob.digest);
      if (fresh) this.#finishBlob(blob, start, position);
      else ftruncateSync(this.#handle, start);
      return { ...blob, fresh };
    } catch (error) {
      if (this.#open) ftruncateSync(this.#handle, start);
      throw toIoError(error, 'write', this.#path);
    }
  }

  /** Only now are digest and size known, and with them the header before the content. */
  #finishBlob({ digest, size }: Promised, start: number, position: number): void {
    this.#write(toFileHeader(toMemberPath(digest), size), start);
    this.#end = position + toPaddedSize(size);
    ftruncateSync(this.#handle, this.#end);
    this.#blobs.set(digest, { offset: position, size });
  }

  async resolve(name: string): Promise<Descriptor | undefined> {
    return findNamed(this.#index, name);
  }

  async list(): Promise<readonly NamedDescriptor[]> {
    return listNamed(this.#index);
  }

  async tag(name: string, descriptor: Descriptor): Promise<void> {
    await this.open(descriptor);
    this.#index = withName(this.#index, name, descriptor);
  }

  async addRoot(descriptor: Descriptor): Promise<void> {
    await this.open(descriptor);
    this.#index = withRoot(this.#index, descriptor);
  }

  async commit(): Promise<void> {
    await this.#last;
    try {
      if (this.#kind === 'oci-archive') this.#appendText('index.json', toIndexText(this.#index));
      else this.#appendText('manifest.json', await toDockerManifest(listNamed(this.#index), this, this.#limits));
      ftruncateSync(this.#handle, this.#end + endBytes);
      fsyncSync(this.#handle);
      renameSync(this.#temporary, this.#path);
      syncFolder(dirname(this.#path));
    } catch (error) {
      throw toIoError(error, 'write', this.#path);
    }
    await this.close();
  }

  async close(): Promise<void> {
    await this.#last;
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#handle);
    rmSync(this.#temporary, { force: true });
  }

  #appendText(name: string, text: string): void {
    const bytes = Buffer.from(text);
    const header = toFileHeader(name, bytes.byteLength);
    this.#write(header, this.#end);
    this.#write(bytes, this.#end + header.byteLength);
    this.#end += header.byteLength + toPaddedSize(bytes.byteLength);
    ftruncateSync(this.#handle, this.#end);
  }

  #write(bytes: Uint8Array, position: number): void {
    for (let written = 0; written < bytes.byteLength;)
      written += writeSync(this.#handle, bytes, written, bytes.byteLength - written, position + written);
    this.#counters.written += bytes.byteLength;
  }
}

/** Any digest of one algorithm makes a name of the same length. */
function headerBytes(expected: Digest = `sha256:${'0'.repeat(64)}`): number {
  return toFileHeader(toMemberPath(expected), 0).byteLength;
}
