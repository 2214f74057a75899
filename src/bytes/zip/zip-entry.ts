import type { FileEntry, FileTree } from '../../core/index.js';
import type { ZipMethod } from './zip-format.js';

/** One entry as the central directory has it. `linkTarget` is undefined until `readLink` has read it; `mtime` takes the local time for UTC. */
export interface ZipEntry extends FileEntry {
  readonly crc32: number;
  readonly packed: { readonly method: ZipMethod; readonly size: number };
  readonly headerOffset: number;
}

/**
 * A zip as files by path. `open` gives the content of files; what it gives without a range is counted and held against its CRC-32, with a
 * range nothing is verified. Links are entries of their own and not followed. Errors: `bytes/bad-archive` for content or a header that
 * contradicts the list, `bytes/not-found`, `bytes/limit`.
 */
export interface ZipTree extends FileTree {
  readonly entries: readonly ZipEntry[];
  /** Where the link leads, as it stands there. Throws `bytes/unsafe-path` for what no target can be. */
  readLink(path: string): Promise<string>;
  /** Reads every local header: all agree with the list, and nothing lies between, before or behind the entries. */
  checkEntries(): Promise<void>;
}

/** What reading needs beyond the entry itself. */
export interface ZipRecord {
  readonly entry: ZipEntry;
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  /** The most that it can take: where the next entry, or the list, begins. */
  readonly boundary: number;
}
