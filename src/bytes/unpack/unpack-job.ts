import { statSync } from 'node:fs';
import { type ByteStream, createError, type Finding, isToolkitError, type ProgressItem, silentProgress } from '../../core/index.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { leftOut } from './layer-stack.js';
import { judgeLayerLink, judgeLink } from './link-target.js';
import { foldPath, type Twin, TwinFinder } from '../path-twins.js';
import { portabilityOf, unsafePath } from '../safe-path.js';
import type { Attributes } from './staged-file.js';
import { largeFileBytes, type Staging } from './staging.js';
import type { TarBody, TarEntry } from '../tar/tar-entry.js';
import { readTar } from '../tar/tar-read.js';
import { drain } from '../streams.js';
import type { UnpackBlob, UnpackFile, UnpackOptions, UnpackTar } from './unpack-source.js';

/** Smaller blobs are fetched as a whole. */
export const resumedBytes = 1024 * 1024;

const writeBits = 0o222;

interface PendingLink {
  readonly path: string;
  readonly target: string;
  readonly where: string;
  readonly attributes: Attributes;
}

/** One unpacking: what has been claimed, written and put off so far. Both policies work through it. */
export class UnpackJob {
  readonly options: UnpackOptions;
  readonly findings: Finding[] = [];
  files = 0;
  bytes = 0;
  readonly #staging: Staging;
  readonly #target: string;
  readonly #folds: boolean;
  readonly #twins: TwinFinder;
  readonly #links = new Map<string, PendingLink>();
  #entries = 0;
  #failed = false;

  /** `folds`: the disk takes names for equal that differ in case or Unicode form. */
  constructor(staging: Staging, target: string, folds: boolean, options: UnpackOptions) {
    this.options = options;
    this.#staging = staging;
    this.#target = target;
    this.#folds = folds;
    this.#twins = new TwinFinder(folds);
  }

  /** Another source that is still to be read is not begun, one that is being read stops at its next chunk. */
  async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#failed = true;
      throw error;
    }
  }

  assertWanted(): void {
    if (!this.#failed && this.options.signal?.aborted !== true) return;
    throw createError('core/cancelled', { message: `Cannot unpack to "${this.#target}": the work was cancelled` });
  }

  count(where: string): void {
    const { archiveEntries } = this.options.limits;
    if (++this.#entries <= archiveEntries) return;
    throw createError('bytes/limit', {
      message: `Cannot unpack ${escapeForDisplay(where)}: the package holds more than ${archiveEntries} entries`,
      where,
    });
  }

  /** The path is taken from now on; throws when it is already, or cannot stand beside another one on this disk. */
  claim(path: string, isFolder: boolean, where: string): void {
    const twin = this.#twins.add(isFolder ? `${path}/` : path);
    if (twin !== undefined) throw refuseEntry(path, where, twinReason(twin), twinHint(twin));
    const reason = process.platform === 'win32' ? portabilityOf(path) : undefined;
    if (reason !== undefined) throw unsafePath(path, where, reason);
  }

  isSelected(path: string): boolean {
    return this.options.select?.(path) ?? true;
  }

  /** Of a file or link. */
  attributesOf(given: Attributes): Attributes {
    const { sharing } = this.options;
    return this.#owned(sharing === undefined ? given : { ...given, mode: (given.mode ?? 0o444) & ~writeBits });
  }

  #owned({ mode, mtime, uid, gid }: Attributes): Attributes {
    return this.options.sameOwner === true ? { mode, mtime, uid, gid } : { mode, mtime };
  }

  makeFolder(path: string, entry: TarEntry): void {
    this.#staging.makeFolder(path, this.#owned(entry));
  }

  /** The file's place on disk, to be filled by the reader of the archive. */
  beginFile(path: string, entry: TarEntry): TarBody {
    this.#counted(entry.size);
    return this.#staging.createFile(path, entry.size, this.attributesOf(entry));
  }

  async copyFile(source: UnpackBlob | UnpackFile): Promise<void> {
    this.assertWanted();
    const size = source.kind === 'blob' ? source.descriptor.size : source.size;
    this.#counted(size);
    const item = this.#start(source.path, size);
    await naming(source.path, async () => {
      if (source.kind === 'file') await this.#writeFile(source, size, this.#watched(await source.open(), item));
      else await this.#copyBlob(source, item);
    });
    item.done();
  }

  async #copyBlob(source: UnpackBlob, item: ProgressItem): Promise<void> {
    const { path, blobs, descriptor } = source;
    if (this.#staging.isKept && descriptor.size >= resumedBytes) {
      const onBytes = (count: number) => {
        this.assertWanted();
        item.advance(count);
      };
      const content = { kind: 'blob', blobs, descriptor } as const;
      return this.#staging.fetchFile(path, content, this.attributesOf(source), { onBytes, signal: this.options.signal });
    }
    const shared = this.#share(source);
    const stream = this.#watched(await blobs.open(descriptor), item);
    if (shared) await drain(stream);
    else await this.#writeFile(source, descriptor.size, stream);
  }

  /** A second name for the blob's file is right only where it has the very mode that the package asks for. */
  #share(source: UnpackBlob): boolean {
    const { path, descriptor } = source;
    const file = this.options.sharing?.findFile(descriptor);
    if (file === undefined) return false;
    const attributes = this.attributesOf(source);
    const canLink = (statSync(file).mode & 0o777) === this.#staging.modeOf(attributes);
    return this.#staging.shareFile(path, { kind: 'file', path: file, size: descriptor.size }, attributes, canLink);
  }

  async #writeFile(source: UnpackBlob | UnpackFile, size: number, stream: ByteStream): Promise<void> {
    const file = this.#staging.createFile(source.path, size, this.attributesOf(source));
    if (size > largeFileBytes) for await (const chunk of stream) await file.writeAside(chunk);
    else for await (const chunk of stream) file.write(chunk);
    file.end();
  }

  async readTar(source: UnpackTar, onEntry: (entry: TarEntry) => TarBody | undefined): Promise<void> {
    this.assertWanted();
    const item = this.#start(source.where);
    const { limits } = this.options;
    const { where } = source;
    await naming(where, async () =>
      readTar(this.#watched(await source.open(), item), { limits, where, openEnded: this.options.policy === 'image' }, onEntry),
    );
    item.done();
  }

  /** Reads an archive once more for files that hard links need and that were passed over; `wanted` has the paths by offset. */
  async readAgain(source: UnpackTar, wanted: ReadonlyMap<number, readonly string[]>): Promise<void> {
    if (wanted.size === 0) return;
    await this.readTar(source, (entry) => {
      const path = entry.kind === 'file' ? wanted.get(entry.offset)?.[0] : undefined;
      return path === undefined ? undefined : this.beginFile(path, entry);
    });
    for (const [first, ...others] of wanted.values()) for (const path of others) this.addHardLink(path, first as string);
  }

  addHardLink(path: string, existing: string): void {
    this.#counted(0);
    this.#staging.makeHardLink(path, existing);
  }

  addLink(path: string, target: string, entry: TarEntry, where: string): void {
    this.#links.set(this.#key(path), { path, target, where, attributes: this.attributesOf(entry) });
  }

  /** A later entry of the same layer holds something else. */
  dropFile(path: string, size: number): void {
    this.files--;
    this.bytes -= size;
    this.#staging.removeFile(path);
  }

  dropLink(path: string): void {
    this.#links.delete(this.#key(path));
  }

  /** After everything else is on disk. */
  makeLinks(): void {
    const find = (path: string) => this.#links.get(this.#key(path))?.target;
    const judge = this.options.policy === 'image' ? judgeLayerLink : judgeLink;
    for (const { path, target, where, attributes } of this.#links.values()) {
      const reason = judge(path, target, find, this.options.limits);
      if (reason === undefined) {
        this.#counted(0);
        this.#staging.makeLink(path, target, attributes);
      } else if (this.options.policy === 'image') this.findings.push(leftOut(path, where, `it is a link, and ${reason}`));
      else throw refuseEntry(path, where, `it is a link to "${escapeForDisplay(target)}", and ${reason}`);
    }
  }

  #counted(bytes: number): void {
    this.files++;
    this.bytes += bytes;
  }

  #key(path: string): string {
    return this.#folds ? foldPath(path) : path;
  }

  #start(name: string, total?: number): ProgressItem {
    return (this.options.progress ?? silentProgress).start('unpack', name, total);
  }

  async *#watched(stream: ByteStream, item: ProgressItem): ByteStream {
    for await (const chunk of stream) {
      this.assertWanted();
      item.advance(chunk.byteLength);
      yield chunk;
    }
  }
}

export function refuseEntry(name: string, where: string, reason: string, hint = 'The package is broken or hostile; nothing of it was kept'): Error {
  return createError('bytes/refused-entry', {
    message: `Cannot unpack "${escapeForDisplay(name)}" of ${escapeForDisplay(where)}: ${reason}`,
    hint,
    where: escapeForDisplay(where),
  });
}

function twinReason({ kind, first, second }: Twin): string {
  if (kind === 'duplicate') return 'the package holds it twice';
  if (kind === 'file-and-folder') return `"${escapeForDisplay(first.replace(/\/$/, ''))}" is both a file and a folder`;
  return `this disk cannot tell "${escapeForDisplay(second)}" from "${escapeForDisplay(first)}"`;
}

function twinHint({ kind }: Twin): string | undefined {
  return kind === 'case' || kind === 'unicode' ? 'Unpack it on a file system that tells upper from lower case' : undefined;
}

/** What goes wrong with the bytes below says which of the package's files it was. */
async function naming(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const name = escapeForDisplay(what);
    if (!isToolkitError(error) || error.message.includes(name) || error.code === 'core/cancelled') throw error;
    const { code, message, hint, where, findings } = error;
    throw createError(code, { message: `Cannot unpack "${name}": ${message}`, hint, where: where ?? name, cause: error, findings });
  }
}
