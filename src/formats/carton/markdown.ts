/** Where a link or an image leads. `line` counts from 1. */
export interface MarkdownTarget {
  readonly kind: 'link' | 'image';
  readonly target: string;
  readonly line: number;
}

export interface RawHtml {
  /** How the tag begins, short. */
  readonly text: string;
  readonly line: number;
}

export interface MarkdownParts {
  /** Of inline links and images, of definitions (used or not) and of `<https://…>`. */
  readonly targets: readonly MarkdownTarget[];
  readonly html: readonly RawHtml[];
}

interface Scan {
  readonly text: string;
  at: number;
  /** Open brackets; true for those of an image. */
  readonly brackets: boolean[];
  /** Where runs of backticks end, by their length, the last one first. */
  readonly ticks: ReadonlyMap<number, number[]>;
  readonly targets: MarkdownTarget[];
  readonly html: RawHtml[];
  line: number;
  /** Up to where `line` was counted. */
  counted: number;
}

const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const fenceInList = /^\s*(`{3,}(?=[^`]*$)|~{3,})/;
const definition = /^ {0,3}\[(?:[^\][\\]|\\.){1,999}\]:[ \t]*(?:<([^<>]*)>|(\S+))/;
const autolink = /<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>/y;
const mailLink = /<([^\s<>@]{1,100}@[A-Za-z0-9.-]{1,255})>/y;
const tag = /<\/?[A-Za-z][A-Za-z0-9-]*(?=[\s/>])[^<>]{0,2000}>|<!--|<\?|<!\[CDATA\[|<![A-Za-z]/y;
const destination =
  /[ \t\n]*(?:<([^<>\n]*)>|((?:\\.|[^\s\\()<]|\((?:\\.|[^\s\\()]){0,500}\)){0,4000}))[ \t\n]*(?:"[^"]{0,2000}"|'[^']{0,2000}'|\([^()]{0,2000}\))?[ \t\n]*\)/y;

/**
 * What of a Markdown text leads out of it, and its raw HTML. A scanner and no renderer: code (fenced, indented after an empty line, in backticks)
 * is passed over, escapes count. In time linear in the text.
 */
export function scanMarkdown(text: string): MarkdownParts {
  const shown = hideCode(text);
  const scan: Scan = { text: shown, at: 0, brackets: [], ticks: findTicks(shown), targets: [], html: [], line: 1, counted: 0 };
  while (scan.at < scan.text.length) step(scan);
  return { targets: scan.targets, html: scan.html };
}

/** Code blocks become empty lines, and so do definitions; those are kept as a link of the same line. */
function hideCode(text: string): string {
  let open: string | undefined;
  let [isAfterEmpty, isInList] = [true, false];
  const lines = text.split(/\r?\n/).map((line) => {
    const mark = (isInList ? fenceInList : fence).exec(line)?.[1];
    if (open !== undefined) {
      if (mark?.startsWith(open) === true && line.trim() === mark) open = undefined;
      return '';
    }
    if (mark !== undefined) open = mark;
    const isIndented = /^(?: {4}|\t)/.test(line) && isAfterEmpty && !isInList;
    if (/^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(line)) isInList = !isIndented;
    else if (/^\S/.test(line)) isInList = false;
    isAfterEmpty = line.trim() === '' || isIndented;
    if (mark !== undefined || isIndented) return '';
    const [, angled, bare] = definition.exec(line) ?? [];
    return angled === undefined && bare === undefined ? line : `[](<${(angled ?? bare ?? '').replaceAll(/[<>]/g, '')}>)`;
  });
  return lines.join('\n');
}

/** One thing that means something, or the text up to the next one. */
function step(scan: Scan): void {
  special.lastIndex = scan.at;
  const found = special.exec(scan.text);
  scan.at = found?.index ?? scan.text.length;
  if (found === null) return;
  const [mark] = found;
  if (mark === '\\') scan.at += 2;
  else if (mark.startsWith('`')) skipCode(scan, mark.length);
  else if (mark === '<') readAngle(scan);
  else if (mark === ']') closeBracket(scan);
  else {
    scan.brackets.push(mark === '![');
    scan.at += mark.length;
  }
}

const special = /\\|`+|<|!\[|\[|\]/g;

function skipCode(scan: Scan, length: number): void {
  scan.at += length;
  const ends = scan.ticks.get(length) ?? [];
  while ((ends.at(-1) ?? Infinity) <= scan.at) ends.pop();
  scan.at = ends.at(-1) ?? scan.at;
}

function findTicks(text: string): ReadonlyMap<number, number[]> {
  const ticks = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const ends = ticks.get(run.length) ?? [];
    ticks.set(run.length, ends);
    ends.push(index + run.length);
  }
  for (const ends of ticks.values()) ends.reverse();
  return ticks;
}

function readAngle(scan: Scan): void {
  const link = match(autolink, scan) ?? match(mailLink, scan);
  const target = link?.[1];
  if (target !== undefined) addTarget(scan, 'link', target.includes(':') ? target : `mailto:${target}`);
  const html = link === null ? match(tag, scan) : null;
  if (html !== null) {
    scan.html.push({ text: html[0].slice(0, 40), line: lineAt(scan) });
    if (html[0] === '<!--') scan.at = endOfComment(scan);
  }
  scan.at += (link ?? html)?.[0].length ?? 1;
}

/** One that nothing ends takes the rest. */
function endOfComment({ text, at }: Scan): number {
  const end = text.indexOf('-->', at);
  return end < 0 ? text.length : end;
}

function closeBracket(scan: Scan): void {
  const isImage = scan.brackets.pop();
  scan.at++;
  if (isImage === undefined || scan.text[scan.at] !== '(') return;
  scan.at++;
  const found = match(destination, scan);
  if (found === null) return;
  addTarget(scan, isImage ? 'image' : 'link', unescape(found[1] ?? found[2] ?? ''));
  scan.at += found[0].length;
}

function match(pattern: RegExp, { text, at }: Scan): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function addTarget(scan: Scan, kind: 'link' | 'image', target: string): void {
  scan.targets.push({ kind, target, line: lineAt(scan) });
}

function lineAt(scan: Scan): number {
  for (; scan.counted < scan.at; scan.counted++) if (scan.text[scan.counted] === '\n') scan.line++;
  return scan.line;
}

function unescape(target: string): string {
  return target.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1').replaceAll('&amp;', '&');
}
