import type { Capabilities, Description, Finding, Identity, TensorSpec } from '../core/index.js';

/** What a file that was not written for modelport lets us know. Hints are never errors: what is odd in the file is a finding, and the rest is used. */
export interface Hints {
  readonly identity: Identity;
  readonly capabilities: Capabilities;
  readonly weights: Description['weights'];
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly run: Description['run'];
  readonly findings: readonly Finding[];
}

export const noHints: Hints = { identity: {}, capabilities: {}, weights: {}, inputs: [], outputs: [], run: {}, findings: [] };

/** A value with only those keys that are known. */
export function known<Value extends object>(value: { readonly [Key in keyof Value]: Value[Key] | undefined }): Value {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Value;
}

export function toText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** A list of texts, also from a single one; undefined when there is none. */
export function toTexts(value: unknown): readonly string[] | undefined {
  const texts = (Array.isArray(value) ? value : [value]).flatMap((item) => toText(item) ?? []);
  return texts.length === 0 ? undefined : texts;
}

export function unreadable(file: string, cause: unknown, what = file): Finding {
  return {
    level: 'warning',
    code: 'buildfile/unreadable',
    message: `${what} is not used: ${cause instanceof Error ? cause.message : String(cause)}`,
    where: file,
  };
}
