import { findTwins } from '../../bytes/index.js';
import type { Finding } from '../../core/index.js';

/** Linked files have names of their own, which the container has not judged. */
export function listTwins(files: readonly { readonly path: string }[]): Finding[] {
  return findTwins(files.map(({ path }) => path)).map(({ kind, first, second }) => {
    const isClash = kind === 'duplicate' || kind === 'file-and-folder';
    return {
      level: isClash ? 'error' : 'warning',
      code: isClash ? 'carton/same-path' : 'carton/folding-path',
      message: isClash
        ? `${JSON.stringify(first)} and ${JSON.stringify(second)} cannot stand beside each other`
        : `${JSON.stringify(first)} and ${JSON.stringify(second)} are one path where case or Unicode form is ignored`,
      where: second,
    };
  });
}
