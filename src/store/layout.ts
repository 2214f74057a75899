import { constants, existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { cloneFile, fromFile, replaceFile, syncFolder, toIoError, verified } from '../bytes/index.js';
import {
  type BlobContent,
  type BlobFinder,
  type ByteCounters,
  type ByteRange,
  type ByteStream,
  type ContentStore,
  createCounters,
  createError,
  defaultLimits,
  type Descriptor,
  type Digest,
  type DigestCache,
  type FileContent,
  type Finding,
  type Limits,
  type NamedDescriptor,
  type PutOptions,
  type StoredBlob,
  type StoredContent,
} from '../core/index.js';
import { mediaTypes } from '../oci/index.js';
import { findBlobSize, hasBlobFile, type Promised, publishBlobFile, toBlobFile, touchBlobFile } from './blob-file.js';
import { toBlobPath } from './blob-path.js';
import { buildChecked } from './build-checked.js';
import { openDigestCache } from './digest-cache.js';
import { listFolder } from './folder.js';
import { createIndexFile, type IndexFile } from './index-file.js';
import {
  emptyLayoutIndex,
  findNamed,
  type LayoutIndex,
  listNamed,
  listRepeated,
  toIndexText,
  withName,
  withoutName,
  withRoot,
} from './layout-index.js';
import { createLeaseHolder, type Lease, type LeaseHolder } from './lease.js';
import { isLayout } from './locate.js';
import { receiveBlob, receivedBytes } from './receive-blob.js';

/** An OCI image layout on this machine. Nothing has to be closed; what is written is durable when the promise resolves. */
export interface LayoutStore extends ContentStore, BlobFinder {
  /** The folder, absolute. */
  readonly path: string;
  readonly index: IndexFile;
  /** Keeps a root that has no name; nothing happens when the index holds it already, named or not. */
  addRoot(descriptor: Descriptor): Promise<void>;
  /** The blobs stay until they are pruned. False when there was no such name. */
  remove(name: string): Promise<boolean>;
  /** The file that is a blob, which is never to be written to; undefined when the blob is not there. */
  findFile(descriptor: Descriptor): string | undefined;
  /** What is odd about the index, such as a name that stands twice. */
  listFindings(): Promise<readonly Finding[]>;
  /** To be held from the first `put` of a piece of work until its name is set; `put` alone protects a blob only while it runs. */
  lease(): Promise<Lease>;
}

export interface LayoutOptions {
  readonly counters?: ByteCounters;
  readonly limits?: Limits;
  /** File that remembers digests; absent: nothing is remembered. */
  readonly digestCache?: string;
}

/** Cloning a smaller file costs as much as copying it. */
const clonedBytes = 256 * 1024;

const ownNames = new Set(['blobs', 'cache', 'index.json', 'index.lock', 'ingest', 'oci-layout', 'quarantine', 'registry', 'trash', 'trees']);

/**
 * Opens a layout; nothing is scanned. With `create` a folder that is absent or empty becomes one at the first write.
 * Throws `store/not-a-layout`. (OCI image-spec, image-layout.md)
 */
export async function openLayout(dir: string, options: LayoutOptions & { readonly create?: boolean } = {}): Promise<LayoutStore> {
  return createLayoutStore(locateLayout(dir, options.create === true), options);
}

/** The absolute path of a folder that is a layout, or with `create` may become one. Throws `store/not-a-layout`. */
export function locateLayout(dir: string, create: boolean): string {
  const path = resolve(dir);
  if (isLayout(path) || (create && isFree(path))) return path;
  throw createError('store/not-a-layout', {
    message: `Cannot open "${dir}" as an OCI layout: expected a folder with oci-layout and index.json, found ${describe(path)}`,
    hint: create ? 'Name a folder that is new or empty' : 'Check the path',
    where: dir,
  });
}

/** Absent, empty, or left behind by a writer that stopped before it was a layout. */
function isFree(path: string): boolean {
  return !existsSync(path) || (lstatSync(path).isDirectory() && listFolder(path).every((name) => ownNames.has(name) || name.endsWith('.tmp')));
}

function describe(path: string): string {
  if (!existsSync(path)) return 'nothing';
  return lstatSync(path).isDirectory() ? 'a folder without them' : 'a file';
}

/** Like `openLayout` with `create`, whatever else the folder holds. */
export function createLayoutStore(path: string, options: LayoutOptions): LayoutStore {
  return new Layout(path, options);
}

export class Layout implements LayoutStore {
  readonly path: string;
  readonly index: IndexFile;
  readonly #counters: ByteCounters;
  readonly #cache: DigestCache | undefined;
  readonly #leases: LeaseHolder;
  #exists = false;
  #canClone = true;

  constructor(path: string, { counters = createCounters(), limits = defaultLimits, digestCache }: LayoutOptions) {
    this.path = path;
    this.index = createIndexFile(path, limits);
    this.#counters = counters;
    this.#cache = digestCache === undefined ? undefined : openDigestCache(digestCache);
    this.#leases = createLeaseHolder(path);
  }

  async has(descriptor: Descriptor): Promise<boolean> {
    return hasBlobFile(this.path, descriptor);
  }

  async findBlob(digest: Digest): Promise<Descriptor | undefined> {
    const size = findBlobSize(this.path, digest);
    return size === undefined ? undefined : { mediaType: mediaTypes.octetStream, digest, size };
  }

  findFile(descriptor: Descriptor): string | undefined {
    return hasBlobFile(this.path, descriptor) ? toBlobPath(this.path, descriptor.digest) : undefined;
  }

  async open(descriptor: Descriptor, range?: ByteRange): Promise<ByteStream> {
    const path = toBlobFile(this.path, descriptor);
    const bytes = fromFile(path, range, this.#counters, constants.O_RDONLY | constants.O_NOFOLLOW);
    if (range !== undefined) return bytes;
    return verified(bytes, descriptor, `the blob ${descriptor.digest}`, this.#counters, `remove ${path}, then fetch or build the package again`);
  }

  async put(content: BlobContent, given: PutOptions = {}): Promise<StoredBlob> {
    const expected = given.expected ?? promiseOf(content);
    const options = expected === undefined ? given : { ...given, expected };
    const identity = this.#cache?.identify(content);
    const known = expected ?? (identity === undefined ? undefined : this.#cache?.find(identity));
    if (known !== undefined && touchBlobFile(this.path, known)) {
      this.#counters.skipped += known.size;
      return { ...known, fresh: false };
    }
    const lease = await this.lease();
    try {
      const blob = isReceived(content, expected)
        ? await receiveBlob(this.path, content, options, this.#counters)
        : await this.#write(content, options);
      if (identity !== undefined) await this.#cache?.remember(identity, content, blob);
      return blob;
    } finally {
      lease.release();
    }
  }

  /** ingest → written and hashed → synced → checked → renamed → folder synced. */
  async #write(content: BlobContent, options: PutOptions): Promise<StoredBlob> {
    const ingest = this.#leases.createIngestPath();
    try {
      const clone = this.#clone(content, ingest);
      const settings = { counters: this.#counters, sync: true };
      const blob = await buildChecked(clone ?? content, clone === undefined ? { path: ingest } : undefined, options, settings);
      return { ...blob, fresh: publishBlobFile(this.path, ingest, blob) };
    } catch (error) {
      rmSync(ingest, { force: true });
      throw toIoError(error, 'write to', this.path);
    }
  }

  /** Where the file system can share blocks, a large file is not written again, and its clone is what is read. Asked until it says no. */
  #clone(content: BlobContent, ingest: string): FileContent | undefined {
    if (!this.#canClone || content.kind !== 'file' || content.size < clonedBytes) return undefined;
    this.#canClone = cloneFile(content, ingest);
    return this.#canClone ? { kind: 'file', path: ingest, size: content.size } : undefined;
  }

  async resolve(name: string): Promise<Descriptor | undefined> {
    return findNamed(this.index.read(), name);
  }

  async list(): Promise<readonly NamedDescriptor[]> {
    return listNamed(this.index.read());
  }

  async listFindings(): Promise<readonly Finding[]> {
    return listRepeated(this.index.read(), join(this.path, 'index.json'));
  }

  async tag(name: string, descriptor: Descriptor): Promise<void> {
    await this.#change(descriptor, (index) => withName(index, name, descriptor));
  }

  async addRoot(descriptor: Descriptor): Promise<void> {
    await this.#change(descriptor, (index) => withRoot(index, descriptor));
  }

  /** Only what is there gets into the index. */
  async #change(descriptor: Descriptor, change: (index: LayoutIndex) => LayoutIndex): Promise<void> {
    await this.make();
    await this.index.update((index) => {
      toBlobFile(this.path, descriptor);
      return change(index);
    });
  }

  async remove(name: string): Promise<boolean> {
    if (findNamed(this.index.read(), name) === undefined) return false;
    await this.index.update((index) => withoutName(index, name));
    return true;
  }

  async lease(): Promise<Lease> {
    await this.make();
    return this.#leases.acquire();
  }

  /** The marker comes last: what has it is a whole layout. */
  protected async make(): Promise<void> {
    if (this.#exists || isLayout(this.path)) {
      this.#exists = true;
      return;
    }
    makeFolders(join(this.path, 'blobs', 'sha256'));
    await this.index.whileLocked(async () => {
      if (!existsSync(join(this.path, 'index.json'))) replaceFile(join(this.path, 'index.json'), toIndexText(emptyLayoutIndex));
      replaceFile(join(this.path, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    });
    this.#exists = true;
  }
}

function promiseOf(content: BlobContent): Promised | undefined {
  return content.kind === 'blob' ? { digest: content.descriptor.digest, size: content.descriptor.size } : undefined;
}

function isReceived(content: BlobContent, expected: Promised | undefined): content is StoredContent {
  return content.kind === 'blob' && content.descriptor.size >= receivedBytes && content.descriptor.digest === expected?.digest;
}

function makeFolders(path: string): void {
  try {
    const first = mkdirSync(path, { recursive: true });
    if (first !== undefined) syncFolder(dirname(first));
  } catch (error) {
    throw toIoError(error, 'create', path);
  }
}
