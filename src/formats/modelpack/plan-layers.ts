import { createError, type Finding, type Part, type Role, roles } from '../../core/index.js';
import { toKind } from './roles.js';
import { type Encoding, encodings, type Kind, kinds, type Vintage } from './spec.js';

/** A layer that is to be written: one file, or many small ones of one kind in a tar. */
export interface PlannedLayer {
  readonly kind: Kind;
  readonly encoding: Encoding;
  /** Path of the file, or the folder (else the kind) that a group stands for. */
  readonly filepath: string;
  /** Sorted by path, at least one. */
  readonly parts: readonly Part[];
  readonly group: boolean;
}

/** How layers are encoded: a default for all roles, and exceptions. */
export interface LayerEncodings {
  readonly all?: Encoding;
  readonly byRole: Partial<Readonly<Record<Role, Encoding>>>;
}

/**
 * From this number of files of one kind on, its small files share one tar layer: every layer costs a registry two requests and the manifest
 * 600 to 700 bytes, of which 4,000,000 are sure to be taken. (2,048 files make 1.3 MB, some 6,000 are the ceiling.)
 */
const groupFrom = 256;
const groupedFileBytes = 4 * 1024 * 1024;

/** Documents that registries show; they stay layers of their own, found by name. */
const shownDocument = /^(readme|licen[cs]e)(\.(md|txt))?$/i;

const defaults: Readonly<Record<Vintage, Encoding>> = { cncf: 'raw', cnai: 'tar', 'draft-2024': 'tar' };

/** Parts → layers, weights first, in the order of `kinds` and paths. Throws `modelpack/cannot-write` for an encoding that the vintage forbids. */
export function planLayers(parts: readonly Part[], vintage: Vintage, wanted: LayerEncodings, findings: Finding[]): PlannedLayer[] {
  const resolve = encodingResolver(vintage, wanted, findings);
  return kinds.flatMap((kind) => {
    const ofKind = parts.filter((part) => toKind(part.role) === kind).toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const groups = ofKind.length >= groupFrom;
    const grouped = ofKind.filter((part) => groups && isGrouped(part, wanted));
    const alone = grouped.length > 1 ? ofKind.filter((part) => !isGrouped(part, wanted)) : ofKind;
    const layers = alone.map((part): PlannedLayer => ({
      kind,
      encoding: resolve(part.role, false),
      filepath: part.path,
      parts: [part],
      group: false,
    }));
    if (grouped.length > 1) layers.unshift(groupOf(kind, grouped, resolve, findings));
    return layers;
  });
}

/** An encoding that was asked for by role is kept file by file; the manifest may then turn out too large, which is said before any work. */
function isGrouped(part: Part, wanted: LayerEncodings): boolean {
  const asked = wanted.byRole[part.role] ?? wanted.all;
  return asked !== 'raw' && part.size <= groupedFileBytes && !shownDocument.test(part.path);
}

function groupOf(kind: Kind, parts: readonly Part[], resolve: (role: Role, group: boolean) => Encoding, findings: Finding[]): PlannedLayer {
  const encoding = resolve((parts[0] as Part).role, true);
  findings.push({
    level: 'note',
    code: 'modelpack/grouped-layer',
    message: `${parts.length} small ${kind} files share one ${encoding} layer, so that the manifest stays small`,
    hint: 'Ask for one layer a file with --layers raw',
  });
  return { kind, encoding, filepath: commonFolder(parts) ?? kind, parts, group: true };
}

function commonFolder(parts: readonly Part[]): string | undefined {
  const first = (parts[0] as Part).path.split('/').slice(0, -1);
  const last = (parts.at(-1) as Part).path.split('/').slice(0, -1);
  const differs = first.findIndex((name, at) => name !== last[at]);
  const common = differs < 0 ? first : first.slice(0, differs);
  return common.length === 0 ? undefined : common.join('/');
}

function encodingResolver(vintage: Vintage, wanted: LayerEncodings, findings: Finding[]): (role: Role, group: boolean) => Encoding {
  for (const role of roles) {
    const encoding = wanted.byRole[role];
    const reason = encoding === undefined ? undefined : refusal(vintage, toKind(role), encoding);
    if (reason !== undefined) throw cannotWrite(vintage, `${role}=${encoding}`, reason);
  }
  if (vintage === 'draft-2024' && wanted.all !== undefined && !wanted.all.startsWith('tar'))
    throw cannotWrite(vintage, wanted.all, 'it knows tar layers only');
  if (vintage === 'draft-2024' && wanted.all === 'tar+zstd') throw cannotWrite(vintage, wanted.all, 'it knows tar and tar+gzip only');
  const said = new Set<Kind>();
  return (role, group) => {
    const asked = wanted.byRole[role] ?? wanted.all ?? defaults[vintage];
    const fallback = group || vintage !== 'cncf' ? 'tar' : 'raw';
    const kind = toKind(role);
    const reason = refusal(vintage, kind, asked);
    if (reason !== undefined && !said.has(kind)) {
      said.add(kind);
      findings.push({ level: 'note', code: 'modelpack/encoding-kept', message: `${kind} layers stay ${fallback}: ${reason}` });
    }
    return reason !== undefined || (group && asked === 'raw') ? fallback : asked;
  };
}

/** Why a vintage has no such layer; undefined when it has. */
function refusal(vintage: Vintage, kind: Kind, encoding: Encoding): string | undefined {
  if (vintage === 'cnai' && encoding === 'raw' && kind !== 'weight') return 'the cnai specification has raw layers for weights only';
  if (vintage !== 'draft-2024') return undefined;
  if (encoding === 'raw' || encoding === 'tar+zstd') return 'the draft knows tar and tar+gzip only';
  if (encoding === 'tar+gzip' && kind === 'weight') return 'the draft says that the model layer MUST NOT be compressed';
  return undefined;
}

function cannotWrite(vintage: Vintage, what: string, reason: string): Error {
  return createError('modelpack/cannot-write', {
    message: `Cannot write ${what} layers as "${vintage}": ${reason}`,
    hint: 'Choose another encoding with --layers, or another --vintage',
  });
}

/** `raw`, or `ROLE=raw`, as `--layers` and `[format.modelpack] layers` spell them. Throws `ops/bad-option`. */
export function parseLayerEncodings(words: readonly string[]): LayerEncodings {
  let all: Encoding | undefined;
  const byRole: Partial<Record<Role, Encoding>> = {};
  for (const word of words) {
    const [left, right] = word.includes('=') ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] : [undefined, word];
    const encoding = encodings.find((each) => each === right);
    const role = roles.find((each) => each === left);
    if (encoding === undefined) throw badWord(word, `"${right}" is none of ${encodings.join(', ')}`);
    if (left !== undefined && role === undefined) throw badWord(word, `"${left}" is none of ${roles.join(', ')}`);
    if (role === undefined) all = encoding;
    else byRole[role] = encoding;
  }
  return { ...(all === undefined ? {} : { all }), byRole };
}

function badWord(word: string, reason: string): Error {
  return createError('ops/bad-option', {
    message: `Cannot use the layer encoding "${word}": ${reason}`,
    hint: 'Write for example --layers tar or --layers doc=tar+gzip',
  });
}
