import * as v from 'valibot';
import { createError, type Finding, isJsonObject, type ToolkitError } from '../core/index.js';
import type { KeyPath } from './locate-toml.js';
import type { Located } from './located.js';
import { suggest } from './nearest.js';

/** For valibot a list is an object too. */
export const anyTable = v.custom<Readonly<Record<string, unknown>>>(isJsonObject, 'a table');

/**
 * A table with exactly these keys. Every issue message in this room is written to follow "expected "; that of an unknown key is the list
 * of the known ones.
 */
export function table<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(anyTable, v.objectWithRest(entries, v.never(Object.keys(entries).join(' ')), 'a table'));
}

/** A table with any keys, all of one kind. */
export function tableOf<const Item extends v.GenericSchema>(item: Item, what: string) {
  return v.pipe(anyTable, v.record(v.string(), item, what));
}

export const text = v.string('text in quotes');

/** A list, or its only element by itself. */
export function listOf<const Item extends v.GenericSchema>(item: Item) {
  return v.pipe(
    v.unknown(),
    v.transform((value): unknown => (Array.isArray(value) ? value : [value])),
    v.array(item),
  );
}

export interface Judged<Output> {
  /** Only meaningful while there are no findings. */
  readonly output: Output;
  readonly findings: readonly Finding[];
}

/** Holds data against a schema; all breaches, each with its place, as error findings `buildfile/invalid`. */
export function judge<Schema extends v.GenericSchema>(schema: Schema, document: Located): Judged<v.InferOutput<Schema>> {
  const result = v.safeParse(schema, document.value);
  const issues: readonly v.BaseIssue<unknown>[] = result.issues ?? [];
  return { output: result.output, findings: issues.slice(0, mostFindings).map((issue) => toFinding(issue, document)) };
}

/** Nobody reads more, and finding each place reads the text again. */
const mostFindings = 100;

function toFinding(issue: v.BaseIssue<unknown>, document: Located): Finding {
  const path = (issue.path ?? []).map((item) => item.key as string | number);
  const where = document.locate(path);
  const last = path.at(-1);
  if (issue.type === 'never') return unknownKey(path, issue.message.split(' '), where);
  if (issue.input === undefined && typeof last === 'string')
    return invalid(`Cannot use ${showPath(path.slice(0, -1))}: the key "${last}" is missing`, where);
  return invalid(`Cannot use ${showPath(path)} = ${show(issue.input)}: expected ${issue.message}`, where);
}

function unknownKey(path: KeyPath, known: readonly string[], where: string): Finding {
  const key = String(path.at(-1));
  const inTable = path.length > 1 ? ` in ${showPath(path.slice(0, -1))}` : '';
  return invalid(`Cannot use the key "${key}"${inTable}: it is not known`, where, suggest(key, known));
}

export function invalid(message: string, where: string, hint?: string): Finding {
  return { level: 'error', code: 'buildfile/invalid', message, where, ...(hint === undefined ? {} : { hint }) };
}

/** `input[0].shape[1]` */
export function showPath(path: KeyPath): string {
  if (path.length === 0) return 'the file';
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('');
}

/** A value as a person wrote it, cut short. */
function show(value: unknown): string {
  const shown = value === undefined ? 'nothing' : JSON.stringify(value);
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown;
}

/** The error for a build file with findings: its message is that of the first in the file, and all of them travel with it. */
export function toInvalidError(file: string, findings: readonly Finding[]): ToolkitError {
  const inOrder = findings.toSorted((one, other) => toPosition(one) - toPosition(other));
  const first = inOrder[0];
  const others = inOrder.length > 1 ? ` (and ${inOrder.length - 1} more)` : '';
  return createError('buildfile/invalid', {
    message: `${first?.message ?? `Cannot use "${file}"`}${others}`,
    hint: first?.hint,
    where: first?.where ?? file,
    findings: inOrder,
  });
}

function toPosition(finding: Finding): number {
  const [, line = '0', column = '0'] = /:(\d+):(\d+)$/.exec(finding.where ?? '') ?? [];
  return Number(line) * 1e7 + Number(column);
}
