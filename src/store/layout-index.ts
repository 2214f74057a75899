import {
  createError,
  type Descriptor,
  type Finding,
  isJsonObject,
  type JsonObject,
  type Limits,
  type NamedDescriptor,
  parseJson,
} from '../core/index.js';
import { annotationKeys, mediaTypes, parseDescriptor } from '../oci/index.js';

/** One root of a layout. `json` is the entry as it stands in the file, so that a change of another entry keeps it word by word. */
export interface LayoutEntry extends NamedDescriptor {
  readonly json: JsonObject;
}

/** What index.json says. (OCI image-spec, image-layout.md, index.json file) */
export interface LayoutIndex {
  readonly json: JsonObject;
  readonly entries: readonly LayoutEntry[];
}

export const emptyLayoutIndex: LayoutIndex = { json: { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [] }, entries: [] };

/** Throws `oci/bad-manifest` or `core/bad-json`. A layout may hold many more roots than a manifest has layers, so it has a limit of its own. */
export function parseLayoutIndex(bytes: Uint8Array, where: string, limits: Limits): LayoutIndex {
  const json = parseJson(bytes, where, { bytes: limits.layoutIndexBytes, depth: limits.jsonDepth });
  const list = isJsonObject(json) ? (json['manifests'] ?? []) : undefined;
  if (!isJsonObject(json) || !Array.isArray(list)) {
    throw createError('oci/bad-manifest', { message: `Cannot use the index "${where}": expected an object with an array "manifests"`, where });
  }
  const entries = list.map((entry: unknown, position) => parseEntry(entry, `manifests[${position}]`, where));
  return { json, entries };
}

function parseEntry(value: unknown, field: string, where: string): LayoutEntry {
  const descriptor = parseDescriptor(value, field, where);
  const name = descriptor.annotations?.[annotationKeys.refName];
  return { descriptor, json: value as JsonObject, ...(name === undefined ? {} : { name }) };
}

export function toIndexText({ json, entries }: LayoutIndex): string {
  return JSON.stringify({ ...json, manifests: entries.map((entry) => entry.json) });
}

/** Of several entries with one name the last counts, as it is the one that was written last. */
export function findNamed(index: LayoutIndex, name: string): Descriptor | undefined {
  return index.entries.findLast((entry) => entry.name === name)?.descriptor;
}

export function listNamed({ entries }: LayoutIndex): NamedDescriptor[] {
  const last = new Map(entries.map((entry) => [entry.name, entry]));
  return entries.filter((entry) => entry.name === undefined || last.get(entry.name) === entry).map(toNamed);
}

function toNamed({ name, descriptor }: LayoutEntry): NamedDescriptor {
  return { descriptor, ...(name === undefined ? {} : { name }) };
}

export function listRepeated({ entries }: LayoutIndex, where: string): Finding[] {
  const names = entries.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const repeated = new Set(names.filter((name, position) => names.indexOf(name) !== position));
  return [...repeated].map((name) => ({
    level: 'warning',
    code: 'store/repeated-name',
    message: `The name ${JSON.stringify(name)} stands more than once in the index; the last entry counts`,
    where,
  }));
}

/** The name points to the descriptor and to nothing else any more. */
export function withName(index: LayoutIndex, name: string, descriptor: Descriptor): LayoutIndex {
  return { ...index, entries: [...withoutName(index, name).entries, toEntry({ name, descriptor })] };
}

/** Holds the descriptor; without a name unless it has one already. */
export function withRoot(index: LayoutIndex, descriptor: Descriptor): LayoutIndex {
  if (index.entries.some((entry) => entry.descriptor.digest === descriptor.digest)) return index;
  return { ...index, entries: [...index.entries, toEntry({ descriptor })] };
}

/** The roots take the place of those that stand; one of those that comes back as it was keeps its entry word by word. `judge` is told of the others. */
export function withRoots(index: LayoutIndex, roots: readonly NamedDescriptor[], judge: (descriptor: Descriptor) => void): LayoutIndex {
  if (roots === index.entries) return index;
  const known = new Map<NamedDescriptor, LayoutEntry>(index.entries.map((entry) => [entry, entry]));
  const entries = roots.map((root) => {
    const entry = known.get(root);
    if (entry === undefined) judge(root.descriptor);
    return entry ?? toEntry(root);
  });
  return { ...index, entries };
}

/** The name stands in an annotation, and only there. */
function toEntry({ name, descriptor }: NamedDescriptor): LayoutEntry {
  const { [annotationKeys.refName]: _, ...others } = descriptor.annotations ?? {};
  const { annotations: __, ...plain } = descriptor;
  const annotations = name === undefined ? others : { ...others, [annotationKeys.refName]: name };
  const whole: Descriptor = { ...plain, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
  return { descriptor: whole, json: { ...whole }, ...(name === undefined ? {} : { name }) };
}

export function withoutName(index: LayoutIndex, name: string): LayoutIndex {
  return { ...index, entries: index.entries.filter((entry) => entry.name !== name) };
}
