import type { Style } from '../terminal.js';
import { type Span, toSpans } from './markdown-spans.js';

const mostLines = 40;
/** More of it than this is never looked at: that fills the lines. */
const mostSource = 16 * 1024;
const indentWidth = 2;

/**
 * Markdown → at most 40 lines for a terminal, wrapped to its width, and whether something was left out. Headings, lists, quotes, code, emphasis, links with their target;
 * an image is `[image: alt]`, HTML stays the text that it is. `text` is safe to show already and has real line breaks.
 */
export function renderMarkdown(text: string, style: Style, indent = ''): { readonly lines: readonly string[]; readonly isCut: boolean } {
  const source = text.slice(0, mostSource).split('\n');
  const references = readDefinitions(source);
  const lines: string[] = [];
  for (const block of readBlocks(source)) {
    if (lines.length > mostLines) break;
    if (lines.length > 0 && !(block.kind === 'item' && block.isTight)) lines.push('');
    lines.push(...renderBlock(block, references, style, indent).map((line) => (line.trim() === '' ? '' : indent + line)));
  }
  return { lines: lines.slice(0, mostLines), isCut: lines.length > mostLines || text.length > mostSource };
}

type Block =
  | { readonly kind: 'heading' | 'paragraph' | 'quote'; readonly text: string }
  | { readonly kind: 'code' | 'verbatim'; readonly lines: readonly string[] }
  /** `isTight`: no empty line before it. */
  | { readonly kind: 'item'; readonly mark: string; readonly depth: number; readonly text: string; readonly isTight: boolean }
  | { readonly kind: 'rule' };

const fence = /^ {0,3}(`{3,}|~{3,})/;
const heading = /^ {0,3}#{1,6}(?:[ \t]+|$)(.*)$/;
const item = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)$/;
const rule = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/;
const quote = /^ {0,3}> ?(.*)$/;
const table = /^\s*\|/;
const indented = /^(?: {4}|\t)(.*)$/;
const definition = /^ {0,3}\[([^\][]{1,200})\]:[ \t]*<?([^\s<>]{1,2000})>?/;

function readDefinitions(lines: readonly string[]): ReadonlyMap<string, string> {
  const found = lines.map((line) => definition.exec(line)).filter((match) => match !== null);
  return new Map(found.map(([, name = '', target = '']) => [name.toLowerCase(), target]));
}

function readBlocks(lines: readonly string[]): Block[] {
  const reader = { lines, at: 0, blocks: [] as Block[], isAfterEmpty: true };
  while (reader.at < lines.length) readBlock(reader);
  return reader.blocks;
}

interface Reader {
  readonly lines: readonly string[];
  at: number;
  readonly blocks: Block[];
  isAfterEmpty: boolean;
}

function readBlock(reader: Reader): void {
  const line = reader.lines[reader.at] ?? '';
  const [isAfterEmpty, last] = [reader.isAfterEmpty, reader.blocks.at(-1)];
  reader.isAfterEmpty = line.trim() === '';
  const single = (block?: Block) => {
    reader.at++;
    if (block !== undefined) add(reader, block);
  };
  const title = heading.exec(line);
  const listed = item.exec(line);
  if (reader.isAfterEmpty || definition.test(line)) return single();
  if (fence.test(line)) return readFence(reader);
  if (title !== null) return single({ kind: 'heading', text: withoutHashes(title[1] ?? '') });
  if (rule.test(line)) return single({ kind: 'rule' });
  if (isAfterEmpty && last?.kind !== 'item' && indented.test(line)) return readWhile(reader, indented, (code) => ({ kind: 'code', lines: code }));
  if (table.test(line)) return readWhile(reader, /^(\s*\|.*)$/, (rows) => ({ kind: 'verbatim', lines: rows }));
  if (quote.test(line)) return readWhile(reader, quote, (quoted) => ({ kind: 'quote', text: quoted.join(' ') }));
  if (listed !== null) return readItem(reader, listed, !isAfterEmpty && last?.kind === 'item');
  readParagraph(reader);
}

/** A block that no text goes on with: what follows begins anew, as after an empty line. */
function add(reader: Reader, block: Block): void {
  reader.blocks.push(block);
  reader.isAfterEmpty = true;
}

/** `# Title #` may be closed. */
function withoutHashes(title: string): string {
  const text = title.trimEnd();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end === 0 || /\s/.test(text.charAt(end - 1)) ? text.slice(0, end) : text;
}

function readFence(reader: Reader): void {
  const mark = fence.exec(reader.lines[reader.at] ?? '')?.[1] ?? '';
  const start = ++reader.at;
  while (reader.at < reader.lines.length && !(reader.lines[reader.at] ?? '').trim().startsWith(mark)) reader.at++;
  add(reader, { kind: 'code', lines: reader.lines.slice(start, reader.at++) });
}

function readWhile(reader: Reader, pattern: RegExp, toBlock: (lines: readonly string[]) => Block): void {
  const taken: string[] = [];
  for (let match = pattern.exec(reader.lines[reader.at] ?? ''); match !== null; match = pattern.exec(reader.lines[reader.at] ?? '')) {
    taken.push(match[1] ?? '');
    reader.at++;
  }
  add(reader, toBlock(taken));
}

function readItem(reader: Reader, [, space = '', mark = '', text = '']: RegExpExecArray, isTight: boolean): void {
  reader.at++;
  const depth = Math.floor(space.replaceAll('\t', '    ').length / indentWidth);
  reader.blocks.push({ kind: 'item', mark, depth, text: [text, ...readRest(reader)].join('\n'), isTight });
}

function readParagraph(reader: Reader): void {
  const first = reader.lines[reader.at++] ?? '';
  const text = [first, ...readRest(reader)].join('\n');
  const isTitle = underline.test(reader.lines[reader.at] ?? '');
  if (isTitle) reader.at++;
  reader.blocks.push({ kind: isTitle ? 'heading' : 'paragraph', text });
}

/** The lines that go on with a paragraph. */
function readRest(reader: Reader): string[] {
  const rest: string[] = [];
  for (let line = reader.lines[reader.at]; line !== undefined && !endsParagraph(line); line = reader.lines[reader.at]) {
    rest.push(line);
    reader.at++;
  }
  return rest;
}

function endsParagraph(line: string): boolean {
  return line.trim() === '' || [fence, heading, item, rule, underline, quote, table].some((pattern) => pattern.test(line));
}

function renderBlock(block: Block, references: ReadonlyMap<string, string>, style: Style, indent: string): string[] {
  const width = style.width - indent.length;
  const { bold, dim, cyan } = style.color;
  const flow = (text: string, first = '', next = first, paint?: (word: string) => string) =>
    wrap(toSpans(text, references, style), width, first, next, paint);
  switch (block.kind) {
    case 'heading':
      return flow(block.text, '', '', bold);
    case 'paragraph':
      return flow(block.text);
    case 'quote':
      return flow(block.text, '| ');
    case 'item': {
      const space = ' '.repeat(indentWidth * Math.min(block.depth, 8));
      const mark = /\d/.test(block.mark) ? block.mark : '-';
      return flow(block.text, `${space}${mark} `, `${space}${' '.repeat(mark.length + 1)}`);
    }
    case 'code':
      return block.lines.map((line) => (line === '' ? '' : `  ${cyan(fit(line, width - 2))}`));
    case 'verbatim':
      return block.lines.map((line) => fit(line.trim(), width));
    case 'rule':
      return [dim('-'.repeat(Math.min(width, 20)))];
  }
}

function fit(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

/** Words one after the other, as many as a line holds; `first` and `next` stand before the first and every other line. */
function wrap(spans: readonly Span[], width: number, first: string, next: string, paint: (word: string) => string = (word) => word): string[] {
  const lines: { text: string; length: number; words: number }[] = [{ text: first, length: first.length, words: 0 }];
  for (const pieces of toWords(spans)) {
    const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
    const full = lines.at(-1);
    if (full !== undefined && full.words > 0 && full.length + 1 + length > width) lines.push({ text: next, length: next.length, words: 0 });
    const line = lines.at(-1);
    if (line === undefined) continue;
    line.text += `${line.words > 0 ? ' ' : ''}${pieces.map((piece) => paint(piece.paint(piece.text))).join('')}`;
    line.length += length + (line.words > 0 ? 1 : 0);
    line.words++;
  }
  return lines.map(({ text }) => text.trimEnd());
}

/** Spans cut at white space; what stands together without any is one word. */
function toWords(spans: readonly Span[]): Span[][] {
  const words: Span[][] = [];
  let isOpen = false;
  for (const { text, paint } of spans) {
    for (const piece of text.split(/(\s+)/)) {
      if (piece === '') continue;
      if (/^\s/.test(piece)) isOpen = false;
      else if (isOpen) words.at(-1)?.push({ text: piece, paint });
      else words.push([{ text: piece, paint }]);
      if (!/^\s/.test(piece)) isOpen = true;
    }
  }
  return words;
}
