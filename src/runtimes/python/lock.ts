import { escapeForDisplay, judgePath } from '../../bytes/index.js';
import { createError, type Limits } from '../../core/index.js';
import { parseTypedToml } from '../../text/index.js';

/** A wheel of a lock file; `sha256` in hex. */
export type Wheel = { readonly sha256: string; readonly fileName: string } & (
  | { readonly kind: 'url'; readonly url: string }
  /** Relative to the model's folder. */
  | { readonly kind: 'file'; readonly path: string }
);

/** The wheels for one environment; `markers` by their names of PEP 508, compared as text, an absent one fits all. */
export interface LockEntry {
  readonly markers: Readonly<Record<string, string>>;
  readonly wheels: readonly Wheel[];
}

/** `.carton/carton.lock`. Throws `runtime/failed` naming the place of what is wrong. (Carton, runner python) */
export function parseLock(text: string, file: string, limits: Limits): readonly LockEntry[] {
  const { value } = parseTypedToml(text, file, { ...limits, personFileBytes: limits.configBytes });
  return listTables(value['lockfile'], 'lockfile', file).map((entry, index) => {
    const { locked_deps: wheels, ...markers } = entry;
    const where = `lockfile[${index}].locked_deps`;
    const texts = Object.entries(markers).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    return {
      markers: Object.fromEntries(texts),
      wheels: listTables(wheels, where, file).map((wheel, at) => parseWheel(wheel, `${where}[${at}]`, file, limits)),
    };
  });
}

type Table = Readonly<Record<string, unknown>>;

function listTables(value: unknown, where: string, file: string): readonly Table[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'object' && item !== null))
    throw wrong(file, where, 'expected a list of tables');
  return value as readonly Table[];
}

function parseWheel(table: Table, where: string, file: string, limits: Limits): Wheel {
  const { sha256, url, bundled_whl_path: path } = table;
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) throw wrong(file, `${where}.sha256`, 'expected 64 hex digits');
  const hash = sha256.toLowerCase();
  if (typeof path === 'string') {
    const problem = judgePath(path, limits) ?? (/\s/.test(path) ? 'it has blanks' : undefined);
    if (problem !== undefined)
      throw wrong(file, `${where}.bundled_whl_path`, `expected a path in the model's folder, found ${JSON.stringify(path)}: ${problem}`);
    return { kind: 'file', sha256: hash, path, fileName: toFileName(path, where, file) };
  }
  if (typeof url !== 'string') throw wrong(file, where, 'expected url or bundled_whl_path');
  if (!/^https?:\/\/[^\s#?]+$/.test(url) || !URL.canParse(url))
    throw wrong(file, `${where}.url`, `expected an http(s) URL, found ${JSON.stringify(url)}`);
  return { kind: 'url', sha256: hash, url, fileName: toFileName(new URL(url).pathname, where, file) };
}

/** pip reads the name of a wheel, and builds what is none. */
function toFileName(path: string, where: string, file: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.endsWith('.whl')) return name;
  throw wrong(file, where, `expected a wheel (.whl), found ${JSON.stringify(name)}`);
}

function wrong(file: string, where: string, reason: string): Error {
  return createError('runtime/failed', {
    message: `Cannot use the lock file of a Python model: ${escapeForDisplay(reason)}`,
    hint: 'Lock the model again, or remove the file to run it with NumPy alone',
    where: `${file}: ${where}`,
  });
}
