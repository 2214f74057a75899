import { escapeForDisplay } from '../../../bytes/index.js';
import type { FindingLevel } from '../../../core/index.js';
import type { Place, RuleContext } from './context.js';

/**
 * Where a rule comes from: the specification, the newest text of the format (which has four more fields), the text on runners, or `practice` for
 * what readers do beyond them.
 */
export interface Clause {
  readonly document: 'carton-v1.md' | 'format.md' | 'runner.md' | 'practice';
  readonly section: string;
  /** A few of its words. */
  readonly quote: string;
}

/** One place where a carton breaks a rule. */
export interface Breach {
  /** File, line and column, or a member; asked for only when the breach is told. */
  readonly where: Place;
  readonly message: string;
  /** How to mend it. */
  readonly hint: string;
}

interface RuleText {
  /** `CT-` and a number for sentences of the specification, `CT-A` and a number for advice from practice. */
  readonly id: string;
  /** The code of its findings is `carton/<slug>`. */
  readonly slug: string;
  /** What breaks the specification is an error; what only the original reader refuses a warning; an oddity a note. */
  readonly level: FindingLevel;
  readonly clause: Clause;
  readonly title: string;
}

export interface CheckedRule extends RuleText {
  /** Pure: everything it needs was gathered before. */
  readonly check: (context: RuleContext) => readonly Breach[];
}

export interface UncheckableRule extends RuleText {
  /** Why no program can tell from the package. */
  readonly notCheckable: string;
}

export type Rule = CheckedRule | UncheckableRule;

export function isChecked(rule: Rule): rule is CheckedRule {
  return 'check' in rule;
}

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
