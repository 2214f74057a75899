import { LayerMask, LayerReading, normalizeLayerName } from './layer-mask.js';
import { followHardLink, leftOut } from './layer-stack.js';
import { seenFrom } from './link-target.js';
import { judgeLayerPath, unsafePath } from '../safe-path.js';
import type { TarBody, TarEntry } from '../tar/tar-entry.js';
import type { UnpackBlob, UnpackFile, UnpackSource, UnpackTar } from './unpack-source.js';
import type { UnpackJob } from './unpack-job.js';

/** Policy `image`: layers of one tree. The top one is read first, so that each is read once and nothing is written to be replaced. */
export async function unpackLayers(sources: readonly UnpackSource[], job: UnpackJob): Promise<void> {
  const mask = new LayerMask();
  for (const source of sources.toReversed()) {
    if (source.kind === 'tar') await new LayerUnpacking(source, mask, job).run();
    else await unpackFile(source, mask, job);
  }
}

async function unpackFile(source: UnpackBlob | UnpackFile, mask: LayerMask, job: UnpackJob): Promise<void> {
  const { path, mode = 0o644, mtime = 0, uid = 0, gid = 0 } = source;
  const size = source.kind === 'blob' ? source.descriptor.size : source.size;
  const where = 'the image';
  const reading = new LayerReading(mask, where, job.options.limits);
  const admitted = reading.admit({ name: path, kind: 'file', size, mode, mtime, uid, gid, offset: 0 });
  reading.close();
  if (admitted?.visible !== true) return;
  job.claim(admitted.name, false, where);
  if (job.isSelected(admitted.name)) await job.copyFile({ ...source, path: admitted.name });
}

/** What an entry has become: its path on disk, undefined when it is hidden, not placed or not selected. */
interface Held {
  readonly entry: TarEntry;
  readonly path: string | undefined;
}

class LayerUnpacking {
  readonly #source: UnpackTar;
  readonly #job: UnpackJob;
  readonly #reading: LayerReading;
  readonly #held = new Map<string, Held>();

  constructor(source: UnpackTar, mask: LayerMask, job: UnpackJob) {
    this.#source = source;
    this.#job = job;
    this.#reading = new LayerReading(mask, source.where, job.options.limits);
  }

  async run(): Promise<void> {
    await this.#job.readTar(this.#source, (entry) => this.#take(entry));
    await this.#makeHardLinks();
    this.#reading.close();
  }

  #take(entry: TarEntry): TarBody | undefined {
    this.#job.count(this.#source.where);
    const admitted = this.#reading.admit(entry);
    if (admitted === undefined) return undefined;
    const path = admitted.visible ? this.#placeAndClaim(admitted.name, entry) : undefined;
    this.#held.set(admitted.name, { entry, path });
    if (path === undefined) return undefined;
    if (entry.kind === 'file') return this.#job.beginFile(path, entry);
    if (entry.kind === 'directory') this.#job.makeFolder(path, entry);
    else if (entry.kind === 'symlink') this.#addLink(path, entry);
    else if (entry.kind !== 'hardlink') this.#job.findings.push(leftOut(path, this.#source.where, `it is a ${entry.kind}`));
    return undefined;
  }

  /** The path on disk of a visible entry, undefined when it is not wanted. Of two entries with one name the last holds. */
  #placeAndClaim(name: string, entry: TarEntry): string | undefined {
    const { place, where } = this.#source;
    const path = place === undefined ? name : place(name);
    if (path === undefined) return undefined;
    const reason = judgeLayerPath(path, this.#job.options.limits);
    if (reason !== undefined) throw unsafePath(path, where, reason);
    const earlier = this.#held.get(name);
    if (earlier === undefined) this.#job.claim(path, entry.kind === 'directory', where);
    else this.#forget(earlier);
    return this.#job.isSelected(path) ? path : undefined;
  }

  /** An absolute target is meant from the root of the image, and moves with the files when those are placed elsewhere. */
  #addLink(path: string, entry: TarEntry): void {
    const { place, where } = this.#source;
    const target = entry.linkTarget ?? '';
    if (!target.startsWith('/')) return this.#job.addLink(path, target, entry, where);
    const fromRoot = normalizeLayerName(target);
    const placed = place === undefined ? fromRoot : place(fromRoot);
    if (placed !== undefined) this.#job.addLink(path, seenFrom(path, placed), entry, where);
    else this.#job.findings.push(leftOut(path, where, 'it is a link to a place that is not unpacked'));
  }

  #forget({ entry, path }: Held): void {
    if (path === undefined) return;
    if (entry.kind === 'file') this.#job.dropFile(path, entry.size);
    if (entry.kind === 'symlink') this.#job.dropLink(path);
  }

  /** Their targets may be hidden by the layers above: those are read in a second pass. */
  async #makeHardLinks(): Promise<void> {
    const passedOver = new Map<number, string[]>();
    for (const [name, { entry, path }] of this.#held) {
      if (entry.kind !== 'hardlink' || path === undefined) continue;
      const target = followHardLink(name, this.#held, (held) => held.entry);
      if (target?.entry.kind === 'symlink') this.#addLink(path, target.entry);
      else if (target?.entry.kind !== 'file')
        this.#job.findings.push(leftOut(path, this.#source.where, 'it is a hard link to a file that its layer does not hold'));
      else if (target.path !== undefined) this.#job.addHardLink(path, target.path);
      else passedOver.set(target.entry.offset, [...(passedOver.get(target.entry.offset) ?? []), path]);
    }
    await this.#job.readAgain(this.#source, passedOver);
  }
}
