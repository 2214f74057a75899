import type { FileEntry, FileTree } from '../../core/index.js';
import type { CartonMembers } from './carton.js';

/** Where a path of a carton leads, once links have been followed. `path` is where the search ended: a linked file (LINKS) may have it. */
export type ResolvedMember =
  | { readonly kind: 'file'; readonly path: string; readonly entry: FileEntry }
  | { readonly kind: 'absent'; readonly path: string }
  | { readonly kind: 'broken'; readonly reason: string };

/** Chains this long are nobody's intention. */
const longestChain = 40;

/** Follows links: relative ones, inside the carton, and only where the last part of a path is the link. */
export function resolveMember(members: CartonMembers, path: string): ResolvedMember {
  const entries = indexEntries(members.tree);
  const passed: string[] = [];
  for (let at = path; ;) {
    const entry = entries.get(at);
    if (entry === undefined) return { kind: 'absent', path: at };
    if (entry.kind === 'directory') return { kind: 'broken', reason: `${JSON.stringify(at)} is a folder` };
    if (entry.kind === 'file') return { kind: 'file', path: at, entry };
    passed.push(at);
    const target = followLink(entry);
    if (typeof target !== 'string') return target;
    if (passed.includes(target)) return { kind: 'broken', reason: `the link ${JSON.stringify(at)} leads back to itself` };
    if (passed.length >= longestChain) return { kind: 'broken', reason: `it is a chain of more than ${longestChain} links` };
    at = target;
  }
}

function followLink({ path, linkTarget = '' }: FileEntry): string | (ResolvedMember & { readonly kind: 'broken' }) {
  const refuse = (reason: string) => ({ kind: 'broken', reason: `the link ${JSON.stringify(path)} ${reason}` }) as const;
  if (linkTarget === '') return refuse('leads nowhere');
  if (linkTarget.startsWith('/')) return refuse(`leads to the absolute path ${JSON.stringify(linkTarget)}`);
  const segments = path.split('/').slice(0, -1);
  for (const segment of linkTarget.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return refuse(`leads out of the carton, to ${JSON.stringify(linkTarget)}`);
  }
  return segments.length === 0 ? refuse('leads to the carton itself') : segments.join('/');
}

const indexes = new WeakMap<FileTree, ReadonlyMap<string, FileEntry>>();

/** Made once a tree. */
function indexEntries(tree: FileTree): ReadonlyMap<string, FileEntry> {
  const known = indexes.get(tree);
  if (known !== undefined) return known;
  const made = new Map(tree.entries.map((entry) => [entry.path, entry]));
  indexes.set(tree, made);
  return made;
}
