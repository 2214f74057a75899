import type { Style } from '../terminal.js';

/** A piece of text that looks the same from end to end. */
export interface Span {
  readonly text: string;
  readonly paint: (text: string) => string;
}

/** One alternative each. What stands between marks has a length that bounds the work. */
const inline = [
  /\\(?<escaped>[!-/:-@[-`{-~])/,
  /(?<ticks>`{1,20})(?<code>[^`](?:.{0,500}?[^`])?)\k<ticks>(?!`)/,
  /!\[(?<alt>[^\]]{0,500})\](?:\([^()\s]{0,2000}(?:\s{1,9}"[^"]{0,500}")?\)|\[[^\]]{0,200}\])/,
  /\[(?<label>(?:[^\][]|!\[[^\]]{0,200}\]\([^()]{0,2000}\)){1,500})\](?:\(<?(?<target>[^()\s<>]{0,2000})>?(?:\s{1,9}"[^"]{0,500}")?\)|\[(?<reference>[^\]]{0,200})\])/,
  /<(?<address>(?:https?:|mailto:)[^\s<>]{1,2000})>/,
  /(?<stars>\*\*|__)(?=\S)(?<strong>.{0,1000}?\S)\k<stars>/,
  /(?<![\w*])(?<star>[*_])(?=[^\s*_])(?<emphasis>.{0,1000}?[^\s*_])\k<star>(?![\w*])/,
];
const pattern = new RegExp(inline.map(({ source }) => source).join('|'), 'gs');

const deepest = 4;

/** Inline Markdown → spans. Links come with their target, images as `[image: alt]`; what is not understood stays as it is. */
export function toSpans(text: string, references: ReadonlyMap<string, string>, style: Style): Span[] {
  return read(text, { references, style, paint: (plain) => plain, depth: 0 });
}

interface Look {
  readonly references: ReadonlyMap<string, string>;
  readonly style: Style;
  readonly paint: (text: string) => string;
  readonly depth: number;
}

function read(text: string, look: Look): Span[] {
  if (look.depth > deepest) return [{ text, paint: look.paint }];
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    spans.push({ text: text.slice(end, match.index), paint: look.paint }, ...toMeaning(match, look));
    end = match.index + match[0].length;
  }
  spans.push({ text: text.slice(end), paint: look.paint });
  return spans.filter((span) => span.text !== '');
}

function toMeaning(match: RegExpExecArray, look: Look): Span[] {
  const { escaped, code, alt, label, target, reference, address, strong, emphasis } = match.groups ?? {};
  const { bold, italic, cyan, dim } = look.style.color;
  const inside = (content: string, more: (word: string) => string) =>
    read(content, { ...look, depth: look.depth + 1, paint: (word) => look.paint(more(word)) });
  if (escaped !== undefined) return [{ text: escaped, paint: look.paint }];
  if (code !== undefined) return [{ text: code.trim(), paint: cyan }];
  if (alt !== undefined) return [{ text: alt.trim() === '' ? '[image]' : `[image: ${alt}]`, paint: dim }];
  if (address !== undefined) return [{ text: address, paint: look.paint }];
  if (strong !== undefined) return inside(strong, bold);
  if (emphasis !== undefined) return inside(emphasis, italic);
  if (label === undefined) return [{ text: match[0], paint: look.paint }];
  const leads = target ?? look.references.get((reference === '' ? label : (reference ?? '')).toLowerCase());
  const shown = inside(label, (word) => word);
  return leads === undefined || leads === '' || leads === label ? shown : [...shown, { text: ` (${leads})`, paint: dim }];
}
