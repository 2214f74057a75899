import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { replaceFile } from '../../bytes/index.js';
import { parseModelportToml } from '../../buildfile/index.js';
import { createError, type Description, isToolkitError, type Limits } from '../../core/index.js';
import { parseTypedToml, readPersonText, writeToml } from '../../text/index.js';
import type { FolderSource } from '../folder.js';

/** Tensor name → file, relative to the folder. */
export type SampleFiles = Readonly<Record<string, string>>;

/** What is added to a modelport.toml; all that a person wrote stays, comments too. */
export type BuildfileChange =
  | {
      readonly kind: 'self-test' | 'example';
      readonly name: string;
      readonly description: string;
      readonly inputs: SampleFiles;
      readonly outputs: SampleFiles;
    }
  /** Of self tests that are there, counted from 0. */
  | { readonly kind: 'expected'; readonly files: ReadonlyMap<number, SampleFiles> };

/** Writes the folder's modelport.toml, and makes one where there is none. Gives its path. Throws `ops/refused` when the result would not say what is meant. */
export async function changeBuildfile({ tree, location }: FolderSource, change: BuildfileChange, limits: Limits): Promise<string> {
  const path = join(tree.root, 'modelport.toml');
  const before = existsSync(path) ? await readPersonText(path, limits) : '';
  const after = change.kind === 'expected' ? insertExpected(before, change.files, path, limits) : appendBlock(before, change);
  const wanted = expectedChange(parseModelportToml(before, path, limits).description, change);
  if (!isDeepStrictEqual(tryParse(after, path, limits), wanted))
    throw createError('ops/refused', {
      message: `Cannot write into the modelport.toml of "${location}": its tests are not written in a way that can be added to`,
      hint: 'Write each test as a table of its own under [[self_test]] or [[example]], without an empty "expected"',
      where: path,
    });
  replaceFile(path, after);
  return path;
}

function tryParse(text: string, path: string, limits: Limits): Description | undefined {
  try {
    return parseModelportToml(text, path, limits).description;
  } catch (error) {
    if (isToolkitError(error, 'buildfile/syntax') || isToolkitError(error, 'buildfile/invalid')) return undefined;
    throw error;
  }
}

function expectedChange(before: Description, change: BuildfileChange): Description {
  const { selfTests, examples } = before;
  if (change.kind === 'expected')
    return { ...before, selfTests: selfTests.map((test, at) => (change.files.has(at) ? { ...test, expected: change.files.get(at) ?? {} } : test)) };
  const { name, description, inputs, outputs } = change;
  if (change.kind === 'example') return { ...before, examples: [...examples, { name, description, inputs, sampleOut: outputs }] };
  return { ...before, selfTests: [...selfTests, { name, description, inputs, expected: outputs }] };
}

function appendBlock(text: string, { kind, name, description, inputs, outputs }: Exclude<BuildfileChange, { readonly kind: 'expected' }>): string {
  const isTest = kind === 'self-test';
  const lines = [
    isTest ? '[[self_test]]' : '[[example]]',
    writeToml({ name, description }).trimEnd(),
    `inputs = ${toInlineTable(inputs)}`,
    `${isTest ? 'expected' : 'sample_out'} = ${toInlineTable(outputs)}`,
    '',
  ];
  const end = lineEndOf(text);
  const start = text === '' ? '' : text.endsWith('\n') ? end : `${end}${end}`;
  return `${text}${start}${lines.flatMap((line) => line.split('\n')).join(end)}`;
}

/** Right below the header of each test: before its other keys and tables. */
function insertExpected(text: string, files: ReadonlyMap<number, SampleFiles>, path: string, limits: Limits): string {
  const document = parseTypedToml(text, path, limits);
  const lines = text.split('\n');
  const end = lineEndOf(text).slice(0, -1);
  for (const [at, table] of [...files].toSorted(([one], [other]) => other - one)) {
    const line = Number(/:(\d+):\d+$/.exec(document.locate(['self_test', at]))?.[1] ?? lines.length);
    lines.splice(line, 0, `expected = ${toInlineTable(table)}${end}`);
  }
  return lines.join('\n');
}

/** `{ x = "tests/x.npy" }` */
function toInlineTable(files: SampleFiles): string {
  const pairs = Object.entries(files).map(([name, file]) => writeToml({ [name]: file }).trimEnd());
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}

function lineEndOf(text: string): '\r\n' | '\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
