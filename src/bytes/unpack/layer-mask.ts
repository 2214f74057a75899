import type { Limits } from '../../core/index.js';
import { createError } from '../../core/index.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { judgeLayerPath, unsafePath } from '../safe-path.js';
import type { TarEntry } from '../tar/tar-entry.js';

/** What layers hide from the ones below them. (OCI image-spec, layer.md, Applying Changesets and Whiteouts) */
export class LayerMask {
  /** Hidden with everything below: whiteouts, and paths where something stands that is not a folder. */
  readonly #gone = new Set<string>();
  /** Everything below is hidden: opaque folders. */
  readonly #emptied = new Set<string>();
  /** A folder stands there: nothing but a folder may come from below; a named one brings its own attributes. */
  readonly #folders = new Map<string, 'named' | 'implied'>();
  #covered = new Map<string, boolean>();

  hides(name: string, isFolder: boolean): boolean {
    if (this.#gone.has(name) || this.#covers(parentOf(name))) return true;
    const folder = this.#folders.get(name);
    return isFolder ? folder === 'named' : folder !== undefined;
  }

  /** Whether nothing in the folder can be seen from below. */
  #covers(folder: string): boolean {
    const known = this.#covered.get(folder);
    if (known !== undefined) return known;
    const covered = this.#gone.has(folder) || this.#emptied.has(folder) || (folder !== '' && this.#covers(parentOf(folder)));
    this.#covered.set(folder, covered);
    return covered;
  }

  remove(name: string): void {
    this.#gone.add(name);
  }

  empty(folder: string): void {
    this.#emptied.add(folder);
  }

  nameFolder(name: string): void {
    this.#folders.set(name, 'named');
  }

  /** Gives false when the folder was known already. */
  implyFolder(name: string): boolean {
    if (this.#folders.has(name)) return false;
    this.#folders.set(name, 'implied');
    return true;
  }

  hasFolder(name: string): boolean {
    return this.#folders.has(name);
  }

  /** Takes over what the next lower layer hides. */
  absorb(layer: LayerMask): void {
    for (const name of layer.#gone) this.#gone.add(name);
    for (const folder of layer.#emptied) this.#emptied.add(folder);
    for (const [name, kind] of layer.#folders) if (this.#folders.get(name) !== 'named') this.#folders.set(name, kind);
    this.#covered = new Map();
  }
}

/** An entry of a layer that is part of the tree, `visible` unless a layer above hides it. */
export interface Admitted {
  /** Without leading slashes, `./` and the like. */
  readonly name: string;
  readonly visible: boolean;
}

const whiteoutPrefix = '.wh.';
const opaqueName = '.wh..wh..opq';
const metadataPrefix = '.wh..wh.';

/** One layer while it is read, below the layers of `above`. */
export class LayerReading {
  readonly #above: LayerMask;
  readonly #own = new LayerMask();
  readonly #others = new Set<string>();
  readonly #where: string;
  readonly #limits: Limits;

  constructor(above: LayerMask, where: string, limits: Limits) {
    this.#above = above;
    this.#where = where;
    this.#limits = limits;
  }

  /** Undefined for what only says something about the tree: whiteouts, the root. Throws for paths that leave the root and for a file that is a folder too. */
  admit(entry: TarEntry): Admitted | undefined {
    const name = normalizeLayerName(entry.name);
    if (name === '') return undefined;
    const reason = judgeLayerPath(name, this.#limits);
    if (reason !== undefined) throw unsafePath(entry.name, this.#where, reason);
    if (name.includes(whiteoutPrefix) && this.#isWhiteout(name)) return undefined;
    const isFolder = entry.kind === 'directory';
    this.#mark(name, isFolder);
    return { name, visible: !this.#above.hides(name, isFolder) };
  }

  /** After the last entry: from now on it hides what lies below it. */
  close(): void {
    this.#above.absorb(this.#own);
  }

  #isWhiteout(name: string): boolean {
    const folder = parentOf(name);
    const base = name.slice(folder === '' ? 0 : folder.length + 1);
    if (folder.split('/').some((part) => part.startsWith(whiteoutPrefix))) return true;
    if (!base.startsWith(whiteoutPrefix)) return false;
    this.#implyFolders(name);
    const hidden = base.slice(whiteoutPrefix.length);
    if (hidden === '' || hidden === '.' || hidden === '..') throw this.#refuse(name, 'it is a whiteout of nothing');
    if (base === opaqueName) this.#own.empty(folder);
    else if (!base.startsWith(metadataPrefix)) this.#own.remove(folder === '' ? hidden : `${folder}/${hidden}`);
    return true;
  }

  #mark(name: string, isFolder: boolean): void {
    if (isFolder ? this.#others.has(name) : this.#own.hasFolder(name)) throw this.#refuse(name, 'it is both a file and a folder');
    this.#implyFolders(name);
    if (isFolder) return this.#own.nameFolder(name);
    this.#others.add(name);
    this.#own.remove(name);
  }

  #implyFolders(name: string): void {
    for (let folder = parentOf(name); folder !== ''; folder = parentOf(folder)) {
      if (this.#others.has(folder)) throw this.#refuse(folder, 'it is both a file and a folder');
      if (!this.#own.implyFolder(folder)) return;
    }
  }

  #refuse(name: string, reason: string): Error {
    const where = escapeForDisplay(this.#where);
    return createError('bytes/refused-entry', { message: `Cannot use the entry "${escapeForDisplay(name)}" of ${where}: ${reason}`, where });
  }
}

/** Entries of layers are meant from the root, however they are written: `/a`, `./a`, `a/`, `a//b`. `..` stays and is refused. */
export function normalizeLayerName(name: string): string {
  if (!/(^|\/)\.?(\/|$)/.test(name)) return name;
  return name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}
