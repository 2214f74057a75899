import { mapConcurrent } from '../concurrent.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { assertSafePath, normalizeEntryName } from '../safe-path.js';
import type { TarBody, TarEntry } from '../tar/tar-entry.js';
import type { UnpackBlob, UnpackFile, UnpackSource, UnpackTar } from './unpack-source.js';
import { refuseEntry, type UnpackJob } from './unpack-job.js';

const setIdBits = 0o6000;

/** Policy `package`: sources that stand side by side. Everything is judged before it is written, and one bad entry refuses all. */
export async function unpackParts(sources: readonly UnpackSource[], job: UnpackJob): Promise<void> {
  for (const source of sources) if (source.kind !== 'tar') judgeFile(source, job);
  await mapConcurrent(sources, job.options.concurrency ?? 4, (source) =>
    job.guard(async () => {
      if (source.kind === 'tar') await new TarUnpacking(source, job).run();
      else if (job.isSelected(source.path)) await job.copyFile(source);
    }),
  );
}

function judgeFile({ path, mode = 0 }: UnpackBlob | UnpackFile, job: UnpackJob): void {
  const where = 'the package';
  job.count(where);
  assertSafePath(path, where, job.options.limits);
  if ((mode & setIdBits) !== 0) throw refuseEntry(path, where, 'it would run with the rights of another user (set-id bit)');
  job.claim(path, false, where);
}

/** A file of the archive: where it lies on disk, or that it was passed over. */
interface Held {
  readonly path: string | undefined;
  readonly offset: number;
}

class TarUnpacking {
  readonly #source: UnpackTar;
  readonly #job: UnpackJob;
  readonly #held = new Map<string, Held>();
  /** Hard links to files that were passed over, by the offset of those. */
  readonly #passedOver = new Map<number, string[]>();

  constructor(source: UnpackTar, job: UnpackJob) {
    this.#source = source;
    this.#job = job;
  }

  async run(): Promise<void> {
    await this.#job.readTar(this.#source, (entry) => this.#take(entry));
    await this.#job.readAgain(this.#source, this.#passedOver);
  }

  #take(entry: TarEntry): TarBody | undefined {
    const { where } = this.#source;
    const name = this.#judge(entry);
    if (name === undefined) return undefined;
    const path = this.#place(name);
    if (path !== undefined) this.#job.claim(path, entry.kind === 'directory', where);
    const wanted = path !== undefined && this.#job.isSelected(path) ? path : undefined;
    if (entry.kind === 'file') return this.#takeFile(name, wanted, entry);
    if (entry.kind === 'hardlink') return this.#takeHardLink(name, wanted, entry);
    if (wanted === undefined) return undefined;
    if (entry.kind === 'directory') this.#job.makeFolder(wanted, entry);
    else this.#job.addLink(wanted, entry.linkTarget ?? '', entry, where);
    return undefined;
  }

  /** The name of an entry that may be in a package; undefined for the root. */
  #judge(entry: TarEntry): string | undefined {
    const { where } = this.#source;
    this.#job.count(where);
    const name = normalizeEntryName(entry.name);
    if (name === '' && entry.kind === 'directory') return undefined;
    assertSafePath(name, where, this.#job.options.limits);
    if (!['file', 'directory', 'symlink', 'hardlink'].includes(entry.kind))
      throw refuseEntry(name, where, `it is a ${entry.kind}, expected a file, folder or link`);
    // On a folder the bits give nobody any rights, and group folders have them: they are only dropped.
    if (entry.kind === 'file' && (entry.mode & setIdBits) !== 0)
      throw refuseEntry(name, where, 'it would run with the rights of another user (set-id bit)');
    return name;
  }

  #place(name: string): string | undefined {
    const { place, where } = this.#source;
    const path = place === undefined ? name : place(name);
    if (path !== undefined && path !== name) assertSafePath(path, where, this.#job.options.limits);
    return path;
  }

  /** `path` is undefined for what is not wanted. */
  #takeFile(name: string, path: string | undefined, entry: TarEntry): TarBody | undefined {
    this.#held.set(name, { path, offset: entry.offset });
    return path === undefined ? undefined : this.#job.beginFile(path, entry);
  }

  #takeHardLink(name: string, path: string | undefined, entry: TarEntry): undefined {
    const target = normalizeEntryName(entry.linkTarget ?? '');
    const held = this.#held.get(target);
    if (held === undefined)
      throw refuseEntry(
        name,
        this.#source.where,
        `it is a hard link to "${escapeForDisplay(target)}", which is no file that stands before it in the archive`,
      );
    this.#held.set(name, held);
    if (path === undefined) return;
    if (held.path !== undefined) this.#job.addHardLink(path, held.path);
    else this.#passedOver.set(held.offset, [...(this.#passedOver.get(held.offset) ?? []), path]);
  }
}
