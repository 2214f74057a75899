import type { FindingLevel } from './finding.js';

/** Where a rule comes from. `document` is a text of the specification, or `practice` for what readers do beyond it; `quote` a few of its words. */
export interface Clause<Document extends string = string> {
  readonly document: Document | 'practice';
  readonly section: string;
  readonly quote: string;
}

/** What a rule of a format says. */
export interface RuleText<Document extends string = string> {
  /** Letters of the format and a number, `MP-12`; with an `A` before the number for advice from practice. */
  readonly id: string;
  /** The code of its findings is `<format>/<slug>`. */
  readonly slug: string;
  readonly level: FindingLevel;
  readonly clause: Clause<Document>;
  readonly title: string;
}

/** One place where a package breaks a rule. `where` is a text, or what gives one when the breach is told; `hint` how to mend it. */
export interface Breach<Place = string> {
  readonly where: Place;
  readonly message: string;
  readonly hint: string;
}

/** Pure: everything it needs was gathered in the context before. */
export interface Check<Context, Place = string> {
  readonly check: (context: Context) => readonly Breach<Place>[];
}

/** Why no program can tell from the package. */
export interface NoCheck {
  readonly notCheckable: string;
}

/** A row of a format's table of rules. */
export type FormatRule<Text extends RuleText, Context, Place = string> = Text & (Check<Context, Place> | NoCheck);

export function isChecked<Rule extends object>(rule: Rule): rule is Extract<Rule, Check<never, unknown>> {
  return 'check' in rule;
}
