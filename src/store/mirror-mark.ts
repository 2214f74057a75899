import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile, toIoError } from '../bytes/index.js';

const toMark = (layout: string): string => join(layout, 'registry', 'mirror.json');

/** From now on packages of the layout need not be whole: what is missing comes from another registry when it is asked for. */
export function markMirror(layout: string, upstream: string): void {
  const path = toMark(layout);
  if (existsSync(path)) return;
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw toIoError(error, 'create', dirname(path));
  }
  replaceFile(path, `${JSON.stringify({ upstream })}\n`);
}

export function isMirror(layout: string): boolean {
  return existsSync(toMark(layout));
}
