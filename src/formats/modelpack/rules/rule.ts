import type { FormatRule, RuleText } from '../../../core/index.js';
import type { Vintage } from '../spec.js';
import type { RuleContext } from './context.js';

export type { Breach } from '../../../core/index.js';

type Document = 'spec.md' | 'annotations.md' | 'config.md' | 'config-schema.json' | 'draft spec.md';

interface VintageText extends RuleText<Document> {
  readonly vintages: readonly Vintage[];
}

/**
 * MUST and REQUIRED are errors, SHOULD and recommendations warnings; advice says what it costs to ignore it. `where` of a breach is a JSON field of
 * the manifest, `config blob, FIELD`, or a layer and its entry.
 */
export type Rule = FormatRule<VintageText, RuleContext>;

/** A value out of JSON as a message shows it: quoted, short, without line breaks. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
