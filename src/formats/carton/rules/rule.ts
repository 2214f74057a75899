import { escapeForDisplay } from '../../../bytes/index.js';
import type { Breach as AnyBreach, FormatRule, RuleText } from '../../../core/index.js';
import type { Place, RuleContext } from './context.js';

/** The specification, the newest text of the format (which has four more fields), and the text on runners. */
type Document = 'carton-v1.md' | 'format.md' | 'runner.md';

/** `where`: file, line and column, or a member; asked for only when the breach is told. */
export type Breach = AnyBreach<Place>;

/** What breaks the specification is an error; what only the original reader refuses a warning; an oddity a note. */
export type Rule = FormatRule<RuleText<Document>, RuleContext, Place>;

/** A value out of TOML, or a path, as a message shows it: quoted, short, without line breaks. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = escapeForDisplay(write(value, 0));
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}

function write(value: unknown, depth: number): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? value.toFixed(1) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth > 2) return '…';
  const items = Array.isArray(value)
    ? value.slice(0, 20).map((each) => write(each, depth + 1))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${write(each, depth + 1)}`);
  return Array.isArray(value) ? `[${items.join(', ')}]` : `{${items.slice(0, 20).join(', ')}}`;
}
