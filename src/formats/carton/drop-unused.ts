import type { TomlTable, TomlValue } from '../../text/index.js';
import { describeCartonToml } from './carton-toml.js';
import { tensorFolder } from './spec.js';

/** Rows of the tensor index that stay, and the members below tensor_data/ that nobody needs any more. */
export interface KeptTensors {
  readonly rows: readonly TomlTable[];
  readonly files: ReadonlySet<string>;
}

/** Leaves out the tensors that carton.toml named `before` and does not name `after`. What nobody ever named stays: it is not known what it is for. */
export function dropUnused(rows: readonly TomlTable[], before: TomlTable, after: TomlTable): KeptTensors {
  const named = listNamed(after);
  const orphans = new Set([...listNamed(before)].filter((name) => !named.has(name)));
  const needed = listInner(rows.filter(({ name }) => !isIn(orphans, name)));
  for (const inner of listInner(rows.filter(({ name }) => isIn(orphans, name)))) if (!named.has(inner)) orphans.add(inner);
  const kept = rows.filter(({ name }) => !isIn(orphans, name) || isIn(needed, name));
  const files = listFiles(kept);
  return { rows: kept.map(withInner), files: new Set([...listFiles(rows)].filter((file) => !files.has(file))) };
}

function listNamed(value: TomlTable): ReadonlySet<string> {
  const { selfTests, examples } = describeCartonToml({ value, locate: () => '' });
  const tests = selfTests.flatMap(({ inputs, expected }) => [...inputs.values(), ...(expected?.values() ?? [])]);
  const shown = examples.flatMap(({ inputs, outputs }) => [...inputs.values(), ...outputs.values()]);
  return new Set([...tests, ...shown.flatMap((reference) => (reference.kind === 'tensor' ? [reference.name] : []))]);
}

function listInner(rows: readonly TomlTable[]): ReadonlySet<string> {
  const texts = rows.flatMap(({ inner }) => (Array.isArray(inner) ? (inner as readonly TomlValue[]) : []));
  return new Set(texts.filter((text) => typeof text === 'string'));
}

function listFiles(rows: readonly TomlTable[]): ReadonlySet<string> {
  return new Set(rows.flatMap(({ file }) => (typeof file === 'string' ? [tensorFolder + file] : [])));
}

function isIn(names: ReadonlySet<string>, name: TomlValue | undefined): boolean {
  return typeof name === 'string' && names.has(name);
}

/** The format's own library wants the key in every row. */
function withInner(row: TomlTable): TomlTable {
  return row['inner'] === undefined ? { ...row, inner: [] } : row;
}
