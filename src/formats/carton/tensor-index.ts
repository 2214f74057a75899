import { defaultLimits, type Finding, type Limits } from '../../core/index.js';
import { judgePath } from '../../bytes/index.js';
import type { TomlTable, TomlValue } from '../../text/index.js';
import type { IndexEntry, TomlDocument } from './carton.js';
import { toCartonDtype } from './carton-toml.js';
import { mostProblems } from './links.js';
import { cartonDtypes, tensorIndexName } from './spec.js';
import { isTable, toSafeInteger } from './toml-values.js';

export interface ParsedIndex {
  /** Of a name that stands twice both, in the order of the file. */
  readonly entries: readonly IndexEntry[];
  /** Errors `carton/bad-tensor-index`, each with its place; what they speak of is left out of `entries`. */
  readonly problems: readonly Finding[];
}

/** tensor_data/index.toml → its entries. Without `inner` an entry is a plain tensor; `tensor` may be missing. (tensor_data) */
export function parseTensorIndex(document: TomlDocument, limits: Limits = defaultLimits): ParsedIndex {
  const list = document.value['tensor'] ?? [];
  if (!Array.isArray(list)) return { entries: [], problems: [problem('"tensor" is no list of tables', document.locate(['tensor']))] };
  const entries: IndexEntry[] = [];
  const problems: Finding[] = [];
  for (const [index, item] of (list as readonly TomlValue[]).entries()) {
    const entry = isTable(item) ? parseEntry(item, limits) : 'it is no table';
    if (typeof entry !== 'string') entries.push(entry);
    else if (problems.length < mostProblems) problems.push(problem(`tensor[${index}]: ${entry}`, document.locate(['tensor', index])));
  }
  return { entries, problems };
}

/** The entry, or why it is none. */
function parseEntry(table: TomlTable, limits: Limits): IndexEntry | string {
  const { name, dtype: word, file } = table;
  if (typeof name !== 'string') return 'expected "name" to be a text';
  if (word === 'nested') return parseNested(name, table['inner']);
  const dtype = toCartonDtype(word);
  if (dtype === undefined) return `expected "dtype" to be nested or one of ${cartonDtypes.join(', ')}, found ${show(word)}`;
  const shape = parseSizes(table['shape']);
  if (shape === undefined) return 'expected "shape" to be a list of integers from 0 on';
  if (typeof file !== 'string') return 'expected "file" to be a text';
  const reason = judgePath(file, limits);
  return reason === undefined ? { kind: 'plain', name, dtype, shape, file } : `cannot use "file" = ${JSON.stringify(file)}: ${reason}`;
}

function parseNested(name: string, value: TomlValue | undefined): IndexEntry | string {
  const inner = Array.isArray(value) ? (value as readonly TomlValue[]).filter((each) => typeof each === 'string') : undefined;
  if (inner === undefined || inner.length !== (value as readonly TomlValue[]).length) return 'expected "inner" to be a list of names';
  return { kind: 'nested', name, inner };
}

function parseSizes(value: TomlValue | undefined): readonly number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const sizes = (value as readonly TomlValue[]).map(toSafeInteger);
  return sizes.every((size) => size !== undefined) ? sizes : undefined;
}

function show(value: TomlValue | undefined): string {
  return value === undefined ? 'none' : typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : 'no text';
}

function problem(reason: string, where: string): Finding {
  return { level: 'error', code: 'carton/bad-tensor-index', message: `Cannot use ${tensorIndexName}, ${reason}`, where };
}
