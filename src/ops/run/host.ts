import { createError } from '../../core/index.js';
import { hostTriple } from '../../formats/index.js';

/** The target triple of this machine. */
export function readHostTriple(): string {
  const header = (process.report.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined)?.header;
  const libc = process.platform === 'linux' && header !== undefined && header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  const triple = hostTriple(process.platform, process.arch, libc);
  if (triple !== undefined) return triple;
  throw createError('runtime/wrong-platform', {
    message: `Cannot say which platform this is: there is no target triple for ${process.platform} on ${process.arch}`,
    hint: 'Add --any-platform',
  });
}
