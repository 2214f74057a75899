import type { Limits } from '../../core/index.js';

export type TarKind = 'file' | 'directory' | 'symlink' | 'hardlink' | 'character-device' | 'block-device' | 'fifo' | 'other';

/** One entry as the archive has it: nothing is judged or normalised. */
export interface TarEntry {
  /** Verbatim; a folder's may end in `/`. */
  readonly name: string;
  readonly kind: TarKind;
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970, with a fraction where a pax header says one. */
  readonly mtime: number;
  /** Of a symlink or hardlink. */
  readonly linkTarget?: string;
  /** Where the content begins in the tar stream. */
  readonly offset: number;
}

/** Takes the content of one entry. A chunk is valid only during the call. */
export interface TarBody {
  write(chunk: Uint8Array): void;
  /** After the last byte; not called when reading fails. */
  end(): void;
}

export interface TarReadOptions {
  readonly limits: Limits;
  /** What the archive is called in errors. */
  readonly where: string;
  /** Accepts an archive that ends right after its last content byte, as tools write image layers; otherwise padding and two zero blocks are due. */
  readonly openEnded?: boolean;
}
