import { createError, type Description, emptyDescription, type Finding, type Limits, type Role } from '../core/index.js';
import { escapeGlob, findGlobProblem, fromGoGlob } from './glob.js';
import { assertPersonText, invalid, suggest, toInvalidError } from '../text/index.js';
import type { ParsedBuildfile } from './parsed-buildfile.js';

const fileWords: Readonly<Record<string, Role>> = { CONFIG: 'config', MODEL: 'weights', CODE: 'code', DATASET: 'dataset', DOC: 'doc' };
const propertyWords = ['NAME', 'ARCH', 'FAMILY', 'FORMAT', 'PARAMSIZE', 'PRECISION', 'QUANTIZATION'] as const;
type PropertyWord = (typeof propertyWords)[number];
const words: readonly string[] = [...Object.keys(fileWords), ...propertyWords];

interface Line {
  readonly word: string;
  /** As written, trimmed. */
  readonly argument: string;
  readonly where: string;
  readonly argumentWhere: string;
  readonly tab: boolean;
}

/**
 * modctl's Modelfile → description: words in any case, one argument a line, blanks in it quoted or not, a backslash before a character
 * that is meant as it is, Go globs (`**` is `*`). Only what it names is packed, DATASET included. A tab after the word, which modctl
 * refuses, is taken with a note. Throws `buildfile/syntax` for what is no line of a Modelfile, else `buildfile/invalid`; all with findings.
 */
export function parseModelfile(text: string, file: string, limits: Limits): ParsedBuildfile {
  assertPersonText(text, file, limits);
  const lines = text.split(/\r?\n/).flatMap((line, index) => splitLine(line, `${file}:${index + 1}`) ?? []);
  assertWords(lines);
  const problems: Finding[] = [];
  const globs = toGlobs(lines, problems);
  const properties = toProperties(lines, problems);
  if (problems.length > 0) throw toInvalidError(file, problems);
  const byRole: Partial<Record<Role, readonly string[]>> = {};
  for (const { role, glob } of globs) byRole[role] = [...new Set([...(byRole[role] ?? []), glob])];
  return {
    description: toDescription(properties, byRole, file),
    findings: [...lines.filter((line) => line.tab).map(toTabNote), ...judgeParamSize(properties, lines)],
    findGlobPlace: (wanted) => globs.find(({ glob }) => glob === wanted)?.where,
  };
}

function splitLine(line: string, where: string): Line | undefined {
  const parts = /^(\s*)(\S+)(\s*)(.*?)\s*$/s.exec(line);
  if (parts === null || parts[2]?.startsWith('#') === true) return undefined;
  const [, indent = '', word = '', gap = '', argument = ''] = parts;
  const column = indent.length + 1;
  return {
    word: word.toUpperCase(),
    argument,
    where: `${where}:${column}`,
    argumentWhere: `${where}:${column + word.length + gap.length}`,
    tab: gap.startsWith('\t'),
  };
}

function assertWords(lines: readonly Line[]): void {
  const findings = lines.flatMap((line): Finding[] => {
    if (!words.includes(line.word))
      return [syntax(`Cannot use the word "${line.word.slice(0, 60)}": it is not known`, line.where, explainWord(line.word))];
    if (line.argument === '')
      return [syntax(`Cannot use ${line.word}: nothing follows it`, line.where, `Write ${line.word} and, after a blank, its value`)];
    return [];
  });
  const first = findings[0];
  if (first === undefined) return;
  const others = findings.length > 1 ? ` (and ${findings.length - 1} more)` : '';
  throw createError('buildfile/syntax', { message: first.message + others, hint: first.hint, where: first.where, findings });
}

/** Ollama has a file of the same name with other words in it. */
function explainWord(word: string): string {
  const isOllama = ['FROM', 'PARAMETER', 'TEMPLATE', 'SYSTEM', 'ADAPTER', 'LICENSE', 'MESSAGE'].includes(word);
  return isOllama ? 'This looks like a Modelfile of Ollama: write a modelport.toml, which is read instead' : suggest(word, words);
}

function syntax(message: string, where: string, hint: string): Finding {
  return { level: 'error', code: 'buildfile/syntax', message, where, hint };
}

function toGlobs(lines: readonly Line[], problems: Finding[]): { role: Role; glob: string; where: string }[] {
  return lines.flatMap((line) => {
    const role = fileWords[line.word];
    if (role === undefined) return [];
    const glob = unquote(line.argument, (escaped) => escapeGlob(escaped));
    const problem = glob === undefined ? 'a quote is not closed' : findGlobProblem(fromGoGlob(glob));
    if (glob === undefined || problem !== undefined) {
      problems.push(invalid(`Cannot use ${line.word} ${line.argument}: ${problem ?? ''}`, line.argumentWhere));
      return [];
    }
    return [{ role, glob: fromGoGlob(glob), where: line.argumentWhere }];
  });
}

function toProperties(lines: readonly Line[], problems: Finding[]): ReadonlyMap<PropertyWord, string> {
  const properties = new Map<PropertyWord, string>();
  for (const line of lines) {
    const word = propertyWords.find((known) => known === line.word);
    if (word === undefined) continue;
    const value = unquote(line.argument, (escaped) => escaped);
    if (value === undefined) problems.push(invalid(`Cannot use ${word} ${line.argument}: a quote is not closed`, line.argumentWhere));
    else if (value === '') problems.push(invalid(`Cannot use ${word}: its value is empty`, line.argumentWhere));
    else if (properties.has(word))
      problems.push(invalid(`Cannot use ${word} "${value}": it is "${properties.get(word) ?? ''}" already, and ${word} may stand once`, line.where));
    else properties.set(word, value);
  }
  return properties;
}

/**
 * The argument without its quotes, which open only at the start of a word (an apostrophe inside a name is one); runs of blanks outside
 * of them are one blank. Undefined when a quote stays open. `keep` says what an escaped character becomes.
 */
function unquote(argument: string, keep: (escaped: string) => string): string | undefined {
  let value = '';
  let quote = '';
  for (let at = 0; at < argument.length; at++) {
    const character = argument.charAt(at);
    const startsWord = at === 0 || /\s/.test(argument.charAt(at - 1));
    if (character === '\\' && quote !== "'" && at + 1 < argument.length) value += keep(argument.charAt(++at));
    else if (quote === '' && startsWord && (character === '"' || character === "'")) quote = character;
    else if (quote !== '' && character === quote) quote = '';
    else if (quote === '' && /\s/.test(character)) value += startsWord ? '' : ' ';
    else value += character;
  }
  return quote === '' ? value : undefined;
}

function toDescription(properties: ReadonlyMap<PropertyWord, string>, byRole: Description['files']['byRole'], origin: string): Description {
  const set = <Key extends string>(key: Key, word: PropertyWord): Partial<Record<Key, string>> => {
    const value = properties.get(word);
    return value === undefined ? {} : ({ [key]: value } as Record<Key, string>);
  };
  return {
    ...emptyDescription,
    origin,
    identity: { ...set('name', 'NAME'), ...set('family', 'FAMILY') },
    weights: {
      ...set('architecture', 'ARCH'),
      ...set('format', 'FORMAT'),
      ...set('paramSize', 'PARAMSIZE'),
      ...set('precision', 'PRECISION'),
      ...set('quantization', 'QUANTIZATION'),
    },
    files: { byRole, ignore: [], onlyNamed: true },
  };
}

function toTabNote(line: Line): Finding {
  return {
    level: 'note',
    code: 'buildfile/tab',
    message: `${line.word} is followed by a tab, which modctl does not take`,
    where: line.where,
    hint: 'Write a blank',
  };
}

function judgeParamSize(properties: ReadonlyMap<PropertyWord, string>, lines: readonly Line[]): Finding[] {
  const size = properties.get('PARAMSIZE');
  if (size === undefined || /^\d+(\.\d)?[KMBTQ]$/i.test(size)) return [];
  const where = lines.find((line) => line.word === 'PARAMSIZE')?.argumentWhere ?? '';
  return [
    {
      level: 'warning',
      code: 'buildfile/param-size',
      message: `PARAMSIZE is "${size}": expected a number with at most one decimal and K, M, B, T or Q, such as 0.6B`,
      where,
    },
  ];
}
