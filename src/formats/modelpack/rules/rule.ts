import type { FindingLevel } from '../../../core/index.js';
import type { Vintage } from '../spec.js';
import type { RuleContext } from './context.js';

/** Where a rule comes from. `document` is a file of the specification, or `practice` for what readers and registries do beyond it. */
export interface Clause {
  readonly document: 'spec.md' | 'annotations.md' | 'config.md' | 'config-schema.json' | 'draft spec.md' | 'practice';
  readonly section: string;
  /** A few of its words. */
  readonly quote: string;
}

/** One place where a package breaks a rule. */
export interface Breach {
  /** JSON field of the manifest, `config blob, FIELD`, or a layer and its entry. */
  readonly where: string;
  readonly message: string;
  /** How to mend it. */
  readonly hint: string;
}

interface RuleText {
  /** `MP-` and a number for sentences of the specification, `MP-A` and a number for advice from practice. */
  readonly id: string;
  /** The code of its findings is `modelpack/<slug>`. */
  readonly slug: string;
  /** MUST and REQUIRED are errors, SHOULD and recommendations warnings; advice says what it costs to ignore it. */
  readonly level: FindingLevel;
  readonly vintages: readonly Vintage[];
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

/** A value out of JSON as a message shows it: quoted, short, without line breaks. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
