import * as v from 'valibot';
import { type Description, emptyDescription, type Finding, isToolkitError, type Limits, parseReference, type Role } from '../core/index.js';
import { escapeGlob } from './glob.js';
import { invalid, judge, type KeyPath, listOf, type Located, table, toInvalidError } from '../text/index.js';
import type { ParsedBuildfile } from './parsed-buildfile.js';
import { findPathProblem } from './person-path.js';
import { parseYaml } from './yaml.js';

const optional = v.exactOptional;
/** YAML reads `1.0` and `2024` as numbers; a version may be one. */
const loose = v.pipe(v.union([v.string(), v.number(), v.boolean()], 'text'), v.transform(String));
const pathText = v.string('a path');

const kitfile = table({
  manifestVersion: optional(loose),
  package: optional(
    table({
      name: optional(loose),
      version: optional(loose),
      description: optional(loose),
      license: optional(loose),
      authors: optional(listOf(loose)),
    }),
  ),
  model: optional(
    table({
      name: optional(loose),
      path: optional(pathText),
      license: optional(loose),
      framework: optional(loose),
      format: optional(loose),
      version: optional(loose),
      description: optional(loose),
      parts: optional(v.array(table({ name: optional(loose), path: pathText, license: optional(loose), type: optional(loose) }), 'a list of parts')),
      parameters: optional(v.unknown()),
    }),
  ),
  code: optional(v.array(table({ path: pathText, description: optional(loose), license: optional(loose) }), 'a list')),
  datasets: optional(
    v.array(
      table({
        name: optional(loose),
        path: optional(pathText),
        description: optional(loose),
        license: optional(loose),
        parameters: optional(v.unknown()),
        remotePath: optional(loose),
        remoteHash: optional(loose),
      }),
      'a list',
    ),
  ),
  docs: optional(v.array(table({ path: pathText, description: optional(loose) }), 'a list')),
  prompts: optional(v.array(table({ path: pathText, description: optional(loose) }), 'a list')),
  mcpServers: optional(v.array(table({ name: optional(loose), path: pathText, description: optional(loose) }), 'a list')),
});

type Kitfile = v.InferOutput<typeof kitfile>;

interface NamedPath {
  readonly role: Role;
  readonly path: string;
  readonly at: KeyPath;
}

/**
 * KitOps' Kitfile → description. Only what it names is packed; a folder (`.` or `data/`) means everything below it. A base kit in
 * `model.path` is not followed, and what has no neutral place is left out: a finding each. Throws `buildfile/syntax` or `buildfile/invalid`.
 */
export async function parseKitfile(text: string, file: string, limits: Limits): Promise<ParsedBuildfile> {
  const content = await parseYaml(text, file, limits);
  const document: Located = { ...content, value: content.value ?? {} };
  const { output, findings } = judge(kitfile, document);
  if (findings.length > 0) throw toInvalidError(file, findings);
  const named = listPaths(output).filter((one) => !isBaseKit(one));
  const problems = judgePaths(named, document);
  if (problems.length > 0) throw toInvalidError(file, problems);
  const toGlob = (one: NamedPath): string => escapeGlob(one.path);
  return {
    description: toDescription(output, named, toGlob, file),
    findings: [...noteBaseKit(output, document), ...noteLosses(output, document)],
    findGlobPlace: (glob) => {
      const found = named.find((one) => toGlob(one) === glob);
      return found === undefined ? undefined : document.locate(found.at);
    },
  };
}

/** The order matters: what is named in `model` may be the whole folder, so it comes last. */
function listPaths(kit: Kitfile): NamedPath[] {
  const list = (section: 'code' | 'datasets' | 'docs' | 'prompts' | 'mcpServers', role: Role): NamedPath[] =>
    (kit[section] ?? []).flatMap((item, index) => (item.path === undefined ? [] : [{ role, path: item.path, at: [section, index, 'path'] }]));
  return [
    ...list('code', 'code'),
    ...list('datasets', 'dataset'),
    ...list('docs', 'doc'),
    ...list('prompts', 'other'),
    ...list('mcpServers', 'other'),
    ...(kit.model?.parts ?? []).map((part, index): NamedPath => ({ role: 'weights', path: part.path, at: ['model', 'parts', index, 'path'] })),
    ...(kit.model?.path === undefined ? [] : [{ role: 'weights' as const, path: kit.model.path, at: ['model', 'path'] }]),
  ];
}

/** A path with a tag or digest is the name of another ModelKit. */
function isBaseKit({ path, at }: NamedPath): boolean {
  if (at.join('.') !== 'model.path' || !/[:@]/.test(path)) return false;
  try {
    parseReference(path);
    return true;
  } catch (error) {
    if (isToolkitError(error)) return false;
    throw error;
  }
}

function judgePaths(named: readonly NamedPath[], document: Located): Finding[] {
  const seen = new Map<string, string>();
  return named.flatMap((one) => {
    const where = document.locate(one.at);
    const plain = one.path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
    const problem = plain === '' || plain === '.' ? undefined : findPathProblem(plain);
    if (problem !== undefined) return [invalid(`Cannot use the path "${one.path}": ${problem}`, where)];
    const before = seen.get(plain);
    if (before !== undefined) return [invalid(`Cannot use the path "${one.path}": it is named already at ${before}`, where)];
    seen.set(plain, where);
    return [];
  });
}

function toDescription(kit: Kitfile, named: readonly NamedPath[], toGlob: (one: NamedPath) => string, origin: string): Description {
  const byRole: Partial<Record<Role, readonly string[]>> = {};
  for (const one of named) byRole[one.role] = [...(byRole[one.role] ?? []), toGlob(one)];
  const licenses = [...new Set([kit.package?.license, kit.model?.license].filter((license) => license !== undefined))];
  const { name = kit.model?.name, version = kit.model?.version, description = kit.model?.description, authors } = kit.package ?? {};
  return {
    ...emptyDescription,
    origin,
    identity: {
      ...(name === undefined ? {} : { name }),
      ...(version === undefined ? {} : { version }),
      ...(description === undefined ? {} : { description }),
      ...(licenses.length === 0 ? {} : { licenses }),
      ...(authors === undefined ? {} : { authors }),
    },
    weights: kit.model?.format === undefined ? {} : { format: kit.model.format },
    files: { byRole, ignore: [], onlyNamed: true },
    run: kit.model?.framework === undefined ? {} : { runtime: kit.model.framework },
  };
}

function noteBaseKit(kit: Kitfile, document: Located): Finding[] {
  const base = kit.model?.path;
  if (base === undefined || !isBaseKit({ role: 'weights', path: base, at: ['model', 'path'] })) return [];
  return [
    {
      level: 'warning',
      code: 'buildfile/base-kit',
      message: `model.path names the ModelKit "${base}": base kits are not followed, so its files are not packed`,
      where: document.locate(['model', 'path']),
      hint: 'Unpack the base kit into this folder and name its files',
    },
  ];
}

/** Everything that was written and that no field of the description can hold. */
function noteLosses(kit: Kitfile, document: Located): Finding[] {
  const lost: KeyPath[] = [];
  for (const key of ['name', 'version', 'description'] as const) {
    if (kit.package?.[key] !== undefined && kit.model?.[key] !== undefined && kit.model[key] !== kit.package[key]) lost.push(['model', key]);
  }
  if (kit.model?.parameters !== undefined) lost.push(['model', 'parameters']);
  const loseItems = (items: readonly object[] = [], base: KeyPath): void => {
    for (const [index, item] of items.entries()) {
      for (const key of Object.keys(item)) if (key !== 'path') lost.push([...base, index, key]);
    }
  };
  loseItems(kit.model?.parts, ['model', 'parts']);
  for (const section of ['code', 'datasets', 'docs', 'prompts', 'mcpServers'] as const) loseItems(kit[section], [section]);
  return lost.map((at) => ({
    level: 'note',
    code: 'buildfile/no-place',
    message: `${at.join('.')} has no place in a package and is left out`,
    where: document.locate(at),
  }));
}
