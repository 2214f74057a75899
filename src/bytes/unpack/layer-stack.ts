import type { FileEntry, Finding, Limits } from '../../core/index.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { LayerMask, LayerReading, normalizeLayerName } from './layer-mask.js';
import type { TarEntry } from '../tar/tar-entry.js';

/** `layer` counts from the lowest, 0; `offset` is where the content begins in that layer's tar. */
export interface StackedEntry extends FileEntry {
  readonly layer: number;
  readonly offset: number;
}

export interface StackedLayers {
  /** Sorted by path, each once; hard links are files with the content of their target. */
  readonly entries: readonly StackedEntry[];
  /** Devices and dead hard links, which are not in the tree. */
  readonly findings: readonly Finding[];
}

/**
 * The tree that layers (lowest first) make together: whiteouts applied, upper over lower, of equal names in one layer the last.
 * Pure: for listing. Throws `bytes/unsafe-path` and `bytes/refused-entry` for what no reader may accept.
 */
export function stackLayers(layers: readonly (readonly TarEntry[])[], limits: Limits): StackedLayers {
  const mask = new LayerMask();
  const entries: StackedEntry[] = [];
  const findings: Finding[] = [];
  for (let layer = layers.length - 1; layer >= 0; layer--) {
    const where = `layers[${layer}]`;
    const reading = new LayerReading(mask, where, limits);
    const held = new Map<string, TarEntry>();
    const visible = new Set<string>();
    for (const entry of layers[layer] ?? []) {
      const admitted = reading.admit(entry);
      if (admitted === undefined) continue;
      held.set(admitted.name, entry);
      if (admitted.visible) visible.add(admitted.name);
    }
    reading.close();
    for (const name of visible) {
      const stacked = toStacked(name, held, layer);
      if (stacked !== undefined) entries.push(stacked);
      else findings.push(leftOut(name, where, reasonFor(held.get(name))));
    }
  }
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { entries, findings };
}

function toStacked(path: string, held: ReadonlyMap<string, TarEntry>, layer: number): StackedEntry | undefined {
  const entry = followHardLink(path, held, (one) => one);
  const kind = entry?.kind;
  if (entry === undefined || (kind !== 'file' && kind !== 'directory' && kind !== 'symlink')) return undefined;
  const { size, mode, mtime, linkTarget, offset } = entry;
  return { path, kind, size, mode: mode & 0o777, mtime, ...(linkTarget === undefined ? {} : { linkTarget }), offset, layer };
}

/** What the entry of that name is in the end, in its own layer. Undefined when a hard link has no target there, or leads in a circle. */
export function followHardLink<T>(name: string, held: ReadonlyMap<string, T>, entryOf: (held: T) => TarEntry): T | undefined {
  let found = held.get(name);
  for (let hops = 0; found !== undefined && hops < 40; hops++) {
    const entry = entryOf(found);
    if (entry.kind !== 'hardlink') return found;
    found = held.get(normalizeLayerName(entry.linkTarget ?? ''));
  }
  return undefined;
}

function reasonFor(entry: TarEntry | undefined): string {
  return entry?.kind === 'hardlink' ? 'it is a hard link to a file that its layer does not hold' : `it is a ${entry?.kind ?? 'device'}`;
}

/** Something of an image that is not put on disk. */
export function leftOut(name: string, where: string, reason: string): Finding {
  return {
    level: 'warning',
    code: 'bytes/refused-entry',
    message: `"${escapeForDisplay(name)}" is left out: ${reason}`,
    where: escapeForDisplay(where),
  };
}
