import type { Limits } from '../../core/index.js';
import { judgeCharacters } from '../safe-path.js';

/** Links through links; Linux itself stops at 40. */
const maxHops = 16;

/** The target of the link at a path, undefined where no link stands. */
export type FindLink = (path: string) => string | undefined;

/**
 * Why the link at `path` may not point to `target`, or undefined: it must be relative and stay below the root, both as it is written and as
 * the system would walk it, through the other links of the package.
 */
export function judgeLink(path: string, target: string, findLink: FindLink, limits: Limits): string | undefined {
  if (target === '') return 'its target is empty';
  if (/^([A-Za-z]:|\/)/.test(target)) return 'its target is absolute';
  const reason = judgeCharacters(target);
  if (reason !== undefined) return `of its target: ${reason}`;
  return walk(path, target, () => undefined, limits) ?? walk(path, target, findLink, limits);
}

/** Why a link of an image, its target made relative by `seenFrom`, would leave the root when walked. */
export function judgeLayerLink(path: string, target: string, findLink: FindLink, limits: Limits): string | undefined {
  if (target === '' || target.includes('\0')) return 'its target is empty or holds a NUL character';
  return walk(path, target, findLink, limits);
}

/** A path from the root, as the link at `path` has to spell it. */
export function seenFrom(path: string, target: string): string {
  return '../'.repeat(path.split('/').length - 1) + target || '.';
}

/** Goes from the link's folder part by part, as the system does. Missing files are no concern: nothing stands there that could lead out. */
function walk(path: string, target: string, findLink: FindLink, limits: Limits): string | undefined {
  if (target.length > limits.pathBytes) return `its target is longer than ${limits.pathBytes} bytes`;
  const at = path.split('/').slice(0, -1);
  const ahead = target.split('/').toReversed();
  let hops = 0;
  for (let part = ahead.pop(); part !== undefined; part = ahead.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..' && at.pop() === undefined) return 'it leads out of the package';
    if (part === '..') continue;
    at.push(part);
    if (at.length > limits.pathComponents) return 'it leads too deep';
    const next = findLink(at.join('/'));
    if (next === undefined) continue;
    if (++hops > maxHops) return `it is part of a loop, or of a chain of more than ${maxHops} links`;
    if (next.startsWith('/')) return 'it leads through a link out of the package';
    at.pop();
    ahead.push(...next.split('/').toReversed());
  }
  return undefined;
}
