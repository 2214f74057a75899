import type { ByteTotals } from '../../ops/index.js';
import { toSize } from './text.js';

/** `20.3 kB, all of it there already` */
export function toTotals({ total, sent, skipped }: ByteTotals): string {
  if (skipped === 0) return toSize(total);
  return sent === 0 ? `${toSize(total)}, all of it there already` : `${toSize(total)}, ${toSize(sent)} new, ${toSize(skipped)} there already`;
}

/** Where a new package went: its name, else its path. */
export function toTarget({ name, path }: { readonly name: string | null; readonly path: string | null }): string {
  if (name !== null && path !== null) return `${path} as ${name}`;
  return name ?? path ?? 'nowhere';
}

/** `modelpack cncf` */
export function toFormat({ format, vintage }: { readonly format: string; readonly vintage?: string }): string {
  return vintage === undefined ? format : `${format} ${vintage}`;
}
