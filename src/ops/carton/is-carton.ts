import { createError } from '../../core/index.js';
import { detectFormat } from '../../formats/index.js';
import type { OpenedSource } from '../source.js';

/** A source that can be written as a file as well as an artifact. */
export async function isCarton(source: OpenedSource): Promise<boolean> {
  return source.kind !== 'folder' && (await detectFormat(source))?.reader.id === 'carton';
}

export function assertCarton(location: string, isOne: boolean, what: string): void {
  if (isOne) return;
  throw createError('format/unsupported', {
    message: `Cannot ${what} "${location}": it is no carton`,
    hint: '`modelport inspect` says what it is; `modelport pack DIR --format carton -o FILE.carton` makes one',
  });
}
