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
}

/** Files by path: a folder, a zip, a tar or stacked layers. Entries are sorted by path (code units), each path once. */
export interface FileTree {
  readonly entries: readonly FileEntry[];
  open(path: string, range?: ByteRange): Promise<ByteStream>;
}
