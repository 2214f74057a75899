/** What the pages of all formats say about their rules. */
import type { RuleText } from '../src/core/index.js';

type AnyRule = RuleText & ({ readonly check: unknown } | { readonly notCheckable: string });

/** A column between level and title, for formats that have more to say of a rule. */
export interface Column<Rule> {
  readonly title: string;
  readonly toCell: (rule: Rule) => string;
}

export function isAdvice({ clause }: RuleText): boolean {
  return clause.document === 'practice';
}

export function toTable<Rule extends AnyRule>(listed: readonly Rule[], columns: readonly Column<Rule>[] = []): string {
  const titles = ['rule', 'name', 'level', ...columns.map(({ title }) => title), 'what holds', 'source'];
  const rows = listed.map((rule) => {
    const { id, slug, level, clause, title } = rule;
    const source = isAdvice(rule) ? clause.section : `${clause.document}, ${clause.section}`;
    const more = columns.map(({ toCell }) => toCell(rule));
    return [id, `\`${slug}\``, 'check' in rule ? level : 'not checkable', ...more, escape(title), `${source}: “${escape(clause.quote)}”`];
  });
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n') + '\n';
}

export function listUncheckable(listed: readonly AnyRule[]): string {
  const lines = listed.flatMap((rule) => ('notCheckable' in rule ? [`- ${rule.id}: ${rule.notCheckable}.`] : []));
  return ['Not checkable from a package:', '', ...lines, ''].join('\n');
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|');
}
