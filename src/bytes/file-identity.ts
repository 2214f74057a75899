import type { BigIntStats } from 'node:fs';
import type { FileIdentity } from '../core/index.js';

/** A file's state at the moment of a stat. */
export function toFileIdentity({ dev, ino, size, mtimeNs, ctimeNs, ctimeMs }: BigIntStats): FileIdentity {
  return { key: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`, changedMs: Number(ctimeMs) };
}
