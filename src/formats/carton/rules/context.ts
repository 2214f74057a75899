import type { Digest, FileEntry } from '../../../core/index.js';
import type { KeyPath, TomlTable } from '../../../text/index.js';
import type { CartonDocuments, CartonInfo, Document, Manifest, TomlDocument } from '../carton.js';
import { isTable } from '../toml-values.js';

/** Everything that rules look at, gathered before the first one runs. */
export interface RuleContext {
  readonly documents: CartonDocuments;
  readonly toml: TomlView;
  readonly links: TomlView;
  readonly index: TomlView;
  /** What carton.toml says, as far as it is well-formed. */
  readonly info: CartonInfo;
  readonly manifest: Manifest | undefined;
  readonly members: ReadonlyMap<string, FileEntry>;
  /** Of the index. */
  readonly tensorNames: ReadonlySet<unknown>;
  /** By the path in tensor_data/. */
  readonly texts: ReadonlyMap<string, TextTensorFile>;
  /** Files of misc/ that were recognised by their content: path → media type. */
  readonly media: ReadonlyMap<string, string>;
  /** SHA-256 of the members that were read whole. */
  readonly digests: ReadonlyMap<string, Digest>;
}

/** Computed when it is shown: finding a line reads the text again. */
export type Place = () => string;

/** A TOML document under the eyes of rules; one that is not there or broken is an empty table. */
export interface TomlView {
  readonly kind: Document<TomlDocument>['kind'];
  readonly table: TomlTable;
  at(...path: KeyPath): Place;
}

/** A table of a document, with the way to it. */
export interface Item {
  readonly table: TomlTable;
  readonly path: KeyPath;
}

/** A file with the values of a tensor of texts; `values` is their number. */
export type TextTensorFile =
  | { readonly kind: 'read'; readonly values: number }
  | { readonly kind: 'malformed'; readonly reason: string; readonly where?: string | undefined };

export function viewOf(document: Document<TomlDocument>, name: string): TomlView {
  if (document.kind !== 'read') return { kind: document.kind, table: {}, at: () => () => name };
  const { value } = document;
  return {
    kind: 'read',
    table: value.value,
    at:
      (...path) =>
      () =>
        value.locate(path),
  };
}

/** The tables of an array of tables; what is no table in it is for the rule on its form. */
export function itemsOf(view: TomlView, key: string): readonly Item[] {
  const value = view.table[key];
  if (!Array.isArray(value)) return [];
  return value.flatMap((table: unknown, at) => (isTable(table as TomlTable) ? [{ table: table as TomlTable, path: [key, at] }] : []));
}

export function rootOf({ table }: TomlView): Item {
  return { table, path: [] };
}

/** The table under a key of another one, when it is one. */
export function childOf({ table, path }: Item, key: string): Item | undefined {
  const value = table[key];
  return isTable(value) ? { table: value, path: [...path, key] } : undefined;
}

/** Whether a file is there, or listed and so for the rules on MANIFEST and LINKS. */
export function isKnown({ members, manifest }: RuleContext, path: string): boolean {
  return members.has(path) || manifest?.digests.has(path) === true;
}

/** A member by its path. */
export function memberPlace(path: string): Place {
  return () => path;
}
