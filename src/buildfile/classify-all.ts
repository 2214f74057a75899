import type { FileRules, Finding, Role } from '../core/index.js';
import { classify } from './classify.js';
import { isIgnoredBelow, isIgnoredByDefault } from './default-ignores.js';
import { compileGlob, compileGlobs, type Glob } from './glob.js';
import { findNearest } from '../text/index.js';

export interface ClassifiableFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
}

export interface ClassifiedFile {
  readonly path: string;
  readonly role: Role;
  /** False when the build file names it. */
  readonly guessed: boolean;
}

export interface Classification {
  /** The files that are packed, in the order given. */
  readonly files: readonly ClassifiedFile[];
  readonly findings: readonly Finding[];
}

export interface ClassifyContext {
  /** Paths that weight files keep tensors in (ONNX external data): they are weights whatever they are called. */
  readonly externalData?: ReadonlySet<string>;
  /** Paths that self tests and examples name as their tensors: they belong to the tests whatever they are called. */
  readonly testTensors?: ReadonlySet<string>;
  /** Where a pattern was written, for the findings; `ParsedBuildfile.findGlobPlace`. */
  readonly findGlobPlace?: (glob: string) => string | undefined;
}

interface Rule {
  readonly role: Role;
  readonly glob: Glob;
  used: boolean;
}

/**
 * Which files are packed, and as what. A rule that names a file exactly beats patterns and the default ignores; among patterns (a folder is
 * one) the first in the order of `rules.byRole` wins; they do not see what is ignored by default, unless it is the folder that is named. `rules.ignore` beats everything. Error findings:
 * `buildfile/no-match` for a rule that no file matches, `buildfile/named-twice` for a file named under two roles. Throws `buildfile/bad-glob`.
 */
export function classifyAll(files: readonly ClassifiableFile[], rules: FileRules, context: ClassifyContext = {}): Classification {
  const all = toRules(rules);
  const named = new Map<string, Rule[]>();
  for (const rule of all) if (rule.glob.literal !== undefined) named.set(rule.glob.literal, [...(named.get(rule.glob.literal) ?? []), rule]);
  const isTakenOut = compileGlobs(rules.ignore);
  const findings: Finding[] = [];
  const packed: ClassifiedFile[] = [];
  for (const file of files) {
    if (isTakenOut(file.path)) continue;
    const exact = named.get(file.path);
    const isIgnored = isIgnoredByDefault(file.path);
    const rule = exact?.[0] ?? findPattern(all, file.path, isIgnored);
    if (rule === undefined && isIgnored) continue;
    for (const one of exact ?? []) one.used = true;
    if (exact !== undefined) findings.push(...judgeRoles(file.path, exact, context));
    const isExternal = context.externalData?.has(file.path) === true;
    if (rule !== undefined) packed.push({ path: file.path, role: rule.role, guessed: false });
    else if (context.testTensors?.has(file.path) === true && !isExternal) packed.push({ path: file.path, role: 'test', guessed: false });
    else if (!rules.onlyNamed)
      packed.push({ path: file.path, role: isExternal ? 'weights' : classify(file.path, file.size, file.mode).role, guessed: true });
    else if (isExternal) findings.push(leftOut(file.path));
  }
  return { files: packed, findings: [...findings, ...judgeUnused(all, files, rules, context)] };
}

function toRules(rules: FileRules): Rule[] {
  return Object.entries(rules.byRole).flatMap(([role, globs]) => globs.map((glob) => ({ role: role as Role, glob: compileGlob(glob), used: false })));
}

/** Every pattern that matches counts as used, also where an earlier one decides. */
function findPattern(rules: readonly Rule[], path: string, isIgnored: boolean): Rule | undefined {
  let first: Rule | undefined;
  for (const rule of rules) {
    if ((first !== undefined && rule.used) || !rule.glob.matches(path)) continue;
    if (isIgnored && (rule.glob.literal === undefined || isIgnoredBelow(rule.glob.literal, path))) continue;
    rule.used = true;
    first ??= rule;
  }
  return first;
}

function judgeRoles(path: string, rules: readonly Rule[], context: ClassifyContext): Finding[] {
  const [first, second] = [rules[0], rules.find((rule) => rule.role !== rules[0]?.role)];
  if (first === undefined || second === undefined) return [];
  return [
    error(
      'buildfile/named-twice',
      `Cannot use "${path}" as ${second.role}: it is named as ${first.role} already`,
      context.findGlobPlace?.(second.glob.pattern),
    ),
  ];
}

function leftOut(path: string): Finding {
  return error(
    'buildfile/external-data',
    `Cannot leave out "${path}": a weight file keeps its tensors in it, and the build file does not name it`,
    path,
  );
}

function judgeUnused(all: readonly Rule[], files: readonly ClassifiableFile[], rules: FileRules, context: ClassifyContext): Finding[] {
  return all
    .filter((rule) => !rule.used)
    .map(({ role, glob }) =>
      error(
        'buildfile/no-match',
        `Cannot find a file for "${glob.pattern}" (${role}): nothing in the folder matches`,
        context.findGlobPlace?.(glob.pattern),
        explainUnused(glob, files, rules),
      ),
    );
}

function explainUnused(glob: Glob, files: readonly ClassifiableFile[], rules: FileRules): string | undefined {
  const hidden = files.find((file) => glob.matches(file.path));
  if (hidden !== undefined) {
    return compileGlobs(rules.ignore)(hidden.path)
      ? `[files].ignore takes out "${hidden.path}"`
      : `"${hidden.path}" is left out unless it is named exactly`;
  }
  const nearest =
    glob.literal === undefined
      ? undefined
      : findNearest(
          glob.literal,
          files.slice(0, mostCandidates).map((file) => file.path),
        );
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}

const mostCandidates = 1000;

function error(code: string, message: string, where: string | undefined, hint?: string): Finding {
  return { level: 'error', code, message, ...(where === undefined ? {} : { where }), ...(hint === undefined ? {} : { hint }) };
}

/**
 * For walking a folder: true for the folders that need not be entered, which are those ignored by default (unless a rule names something
 * in them exactly) and those that `rules.ignore` names. Files are left to `classifyAll`.
 */
export function toFolderIgnore(rules: FileRules): (path: string, isDirectory: boolean) => boolean {
  const literals = toRules(rules).flatMap((rule) => rule.glob.literal ?? []);
  const ignore = rules.ignore.map(compileGlob);
  const isNamed = (folder: string): boolean =>
    literals.some(
      (literal) => folder === literal || literal.startsWith(`${folder}/`) || (folder.startsWith(`${literal}/`) && !isIgnoredBelow(literal, folder)),
    );
  return (path, isDirectory) =>
    isDirectory && (ignore.some((glob) => glob.literal !== undefined && glob.matches(path)) || (isIgnoredByDefault(path) && !isNamed(path)));
}
