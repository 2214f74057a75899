import { basename } from 'node:path';
import { createError, type Finding, type Limits } from '../core/index.js';
import { parseKitfile } from './kitfile.js';
import { parseModelfile } from './modelfile.js';
import { parseModelportToml } from './modelport-toml.js';
import type { ParsedBuildfile } from './parsed-buildfile.js';
import { readPersonText } from '../text/index.js';

export type BuildfileKind = 'modelport.toml' | 'Modelfile' | 'Kitfile';

/** File names in the order in which the first that is there wins. */
const kindByName: ReadonlyMap<string, BuildfileKind> = new Map([
  ['modelport.toml', 'modelport.toml'],
  ['Modelfile', 'Modelfile'],
  ['Kitfile', 'Kitfile'],
  ['kitfile', 'Kitfile'],
  ['.kitfile', 'Kitfile'],
]);

export function isBuildfileName(name: string): boolean {
  return kindByName.has(name);
}

export interface FoundBuildfile {
  /** A name in the folder, or the explicit path unchanged; undefined when nothing was written about the folder. */
  readonly path: string | undefined;
  /** A note for each build file that is passed over. */
  readonly findings: readonly Finding[];
}

/** Which build file speaks for a folder whose entries have these names. An explicit path is taken unseen and silences the others. */
export function findBuildfile(names: Iterable<string>, explicit?: string): FoundBuildfile {
  if (explicit !== undefined) return { path: explicit, findings: [] };
  const present = new Set(names);
  const [first, ...others] = [...kindByName.keys()].filter((name) => present.has(name));
  const findings = others.map((name): Finding => ({
    level: 'note',
    code: 'buildfile/passed-over',
    message: `${name} is not read, because there is a ${first ?? ''}`,
    where: name,
  }));
  return { path: first, findings };
}

export interface Buildfile extends ParsedBuildfile {
  readonly kind: BuildfileKind;
}

/**
 * Reads a build file of any kind. The kind comes from the name (`*.toml`, `*Modelfile*`, `*Kitfile*` in any case). Throws what the parsers
 * throw, `bytes/not-found`, and `buildfile/invalid` for a name that tells no kind.
 */
export async function readBuildfile(path: string, limits: Limits): Promise<Buildfile> {
  const kind = toKind(path);
  const text = await readPersonText(path, limits);
  switch (kind) {
    case 'modelport.toml':
      return { kind, ...parseModelportToml(text, path, limits) };
    case 'Modelfile':
      return { kind, ...parseModelfile(text, path, limits) };
    case 'Kitfile':
      return { kind, ...(await parseKitfile(text, path, limits)) };
  }
}

function toKind(path: string): BuildfileKind {
  const name = basename(path).toLowerCase();
  if (name.endsWith('.toml')) return 'modelport.toml';
  if (name.includes('modelfile')) return 'Modelfile';
  if (name.includes('kitfile')) return 'Kitfile';
  throw createError('buildfile/invalid', {
    message: `Cannot tell what kind of build file "${path}" is`,
    hint: 'Name it *.toml, Modelfile or Kitfile',
    where: path,
  });
}
