/**
 * Two paths that cannot both stand in one folder, or not everywhere. `first` was there before `second`. For `case` and `unicode` they
 * may be folders that hold the files in question.
 */
export interface Twin {
  readonly kind: 'duplicate' | 'file-and-folder' | 'case' | 'unicode';
  readonly first: string;
  readonly second: string;
}

/** A path as a file system that ignores case and Unicode forms compares it. */
export function foldPath(path: string): string {
  if (isAscii(path)) return path.toLowerCase();
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** Finds twins while paths that `judgePath` accepted come in one by one. With `folds` false only exact clashes are looked for. */
export class TwinFinder {
  readonly #kinds = new Map<string, 'file' | 'folder'>();
  readonly #folded: Map<string, string> | undefined;

  constructor(folds: boolean) {
    this.#folded = folds ? new Map() : undefined;
  }

  /** A path with `/` at its end is a folder and may come again. Gives the first clash, of the path or of a folder above it. */
  add(path: string): Twin | undefined {
    return path.endsWith('/') ? this.#addFolder(path.slice(0, -1)) : this.#addFile(path);
  }

  #addFile(path: string): Twin | undefined {
    const known = this.#kinds.get(path);
    if (known === 'file') return { kind: 'duplicate', first: path, second: path };
    if (known === 'folder') return { kind: 'file-and-folder', first: `${path}/`, second: path };
    return this.#addNew(path, 'file');
  }

  #addFolder(path: string): Twin | undefined {
    const known = this.#kinds.get(path);
    if (known === 'file') return { kind: 'file-and-folder', first: path, second: `${path}/` };
    return known === 'folder' ? undefined : this.#addNew(path, 'folder');
  }

  #addNew(path: string, kind: 'file' | 'folder'): Twin | undefined {
    const above = this.#addFoldersAbove(path);
    const own = this.#register(path, kind);
    return above ?? own;
  }

  #addFoldersAbove(path: string): Twin | undefined {
    let twin: Twin | undefined;
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash);
      const known = this.#kinds.get(folder);
      if (known === 'file') return { kind: 'file-and-folder', first: folder, second: path };
      if (known === 'folder') return twin;
      twin = this.#register(folder, 'folder') ?? twin;
    }
    return twin;
  }

  #register(path: string, kind: 'file' | 'folder'): Twin | undefined {
    this.#kinds.set(path, kind);
    if (this.#folded === undefined) return undefined;
    const fold = foldPath(path);
    const first = this.#folded.get(fold);
    if (first === undefined) this.#folded.set(fold, path);
    return first === undefined ? undefined : { kind: first.normalize('NFC') === path.normalize('NFC') ? 'unicode' : 'case', first, second: path };
  }
}

/** All clashes among paths that `judgePath` accepted, in linear time. A path with `/` at its end is a folder. */
export function findTwins(paths: Iterable<string>): readonly Twin[] {
  const finder = new TwinFinder(true);
  const twins: Twin[] = [];
  for (const path of paths) {
    const twin = finder.add(path);
    if (twin !== undefined) twins.push(twin);
  }
  return twins;
}
