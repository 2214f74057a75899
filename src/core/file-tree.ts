import type { ByteRange, ByteStream } from './content.js';

/** `path` is relative, with `/`. `mtime` counts seconds since 1970. `offset` is where the bytes begin inside an uncompressed archive. */
export interface FileEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
  readonly size: number;
  readonly mode: number;
  readonly mtime: number;
  readonly linkTarget?: string;
  readonly offset?: number;
  /** How an archive that compresses each file by itself keeps it; `none` can be read at any offset. Absent in folders. */
  readonly packed?: { readonly method: 'none' | 'deflate' | 'zstd'; readonly size: number };
}

/** Files by path: a folder, a zip, a tar or stacked layers. Entries are sorted by path (code units), each path once. */
export interface FileTree {
  readonly entries: readonly FileEntry[];
  open(path: string, range?: ByteRange): Promise<ByteStream>;
}
