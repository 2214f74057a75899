import { posix } from 'node:path';
import type { Finding, Part, Role } from '../../core/index.js';
import { scanMarkdown } from './markdown.js';
import { miscFolder, miscPrefix } from './spec.js';

export interface MovedText {
  readonly text: string;
  /** Parts that the text shows and that become misc files. */
  readonly misc: readonly Part[];
  readonly findings: readonly Finding[];
}

/** What a model may need to run stays where it is, and is copied for the text; data is not worth a copy. */
const copied: readonly Role[] = ['code', 'config', 'tokenizer', 'environment'];
const neverCopied: readonly Role[] = ['weights', 'dataset'];

/** True for a misc file that model/ keeps too. */
export function isCopied(part: Part): boolean {
  return copied.includes(part.role);
}

/**
 * A README as model_description: its relative links and images lead to `@misc/`. `path` is that of the part it is the text of. A target that is
 * not in the package, or is the model itself, stays as it is, and is said.
 */
export function moveTargets({ text, path }: { readonly text: string; readonly path: string }, parts: readonly Part[]): MovedText {
  const byPath = new Map(parts.map((part) => [part.path, part]));
  const misc = new Set<Part>();
  const findings: Finding[] = [];
  const lines = text.split('\n');
  for (const { target, line } of scanMarkdown(text).targets) {
    const wanted = toPartPath(target, path);
    if (wanted === undefined) continue;
    const part = byPath.get(wanted);
    const isMovable = part !== undefined && !neverCopied.includes(part.role);
    if (isMovable && replaceFrom(lines, line - 1, target, `${miscPrefix}${miscNameOf(part.path)}`)) misc.add(part);
    else findings.push(leadsNowhere(target, `${path}:${line}`));
  }
  return { text: lines.join('\n'), misc: [...misc], findings };
}

/** Below misc/; files of a folder `misc` do not get another one. */
export function miscNameOf(path: string): string {
  return path.startsWith(miscFolder) ? path.slice(miscFolder.length) : path;
}

/** The part that a target means, or undefined for what leads out of the package or into the text itself. */
function toPartPath(target: string, from: string): string | undefined {
  if (target === '' || target.startsWith('#') || target.startsWith(miscPrefix) || /^([A-Za-z][A-Za-z0-9+.-]*:|\/\/)/.test(target)) return undefined;
  const bare = target.replace(/[?#].*$/s, '');
  return posix.normalize(bare.startsWith('/') ? `.${decode(bare)}` : posix.join(posix.dirname(from), decode(bare)));
}

function decode(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/** In that line, or in the next one where the target of a link stands alone. False when it is written in a way that is not understood. */
function replaceFrom(lines: string[], at: number, target: string, replacement: string): boolean {
  const escaped = target.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const opened = new RegExp(`(\\]\\(\\s*|\\]:\\s*|^\\s*)(?:<${escaped}>|${escaped}(?=[\\s)]|$))`, 'g');
  const written = /[\s()<>]/.test(replacement) ? `<${replacement}>` : replacement;
  for (const index of [at, at + 1]) {
    const line = lines[index];
    const changed = line?.replace(opened, (_, start: string) => `${start}${written}`);
    if (line === undefined || changed === undefined || changed === line) continue;
    lines[index] = changed;
    return true;
  }
  return false;
}

function leadsNowhere(target: string, where: string): Finding {
  return {
    level: 'warning',
    code: 'carton/description-target',
    message: `The description leads to ${JSON.stringify(target.slice(0, 200))}, which a carton cannot show: expected an https URL or a file that can go to misc/`,
    where,
    hint: 'Give the whole https URL, or add the file to the folder',
  };
}
