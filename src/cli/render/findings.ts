import type { Finding, FindingLevel } from '../../core/index.js';
import type { Style } from '../terminal.js';
import { plural, toCount } from './text.js';

const levels: readonly FindingLevel[] = ['error', 'warning', 'note'];

/** Findings of one rule, and places of one finding, that are shown; the rest of them is counted. */
const most = 10;

/** Errors first. What is said of several places is said once. Place and advice stand on lines of their own, so that a message stays readable. */
export function renderFindings(findings: readonly Finding[], style: Style, indent = ''): string[] {
  const byRule = (level: FindingLevel) =>
    groupBy(
      findings.filter((finding) => finding.level === level),
      toName,
    );
  return levels.flatMap(byRule).flatMap((group) => renderRule(group, style, indent));
}

function toName({ rule, code }: Finding): string {
  return rule ?? code;
}

function groupBy(findings: readonly Finding[], toKey: (finding: Finding) => string): Finding[][] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = toKey(finding);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return [...groups.values()];
}

function renderRule(findings: readonly Finding[], style: Style, indent: string): string[] {
  const said = groupBy(findings, ({ message, hint = '' }) => `${message}\n${hint}`);
  const lines = said.slice(0, most).flatMap(([first, ...others]) => (first === undefined ? [] : renderFinding(first, others, style, indent)));
  const hidden = said.slice(most).flat();
  return [...lines, ...hidden.slice(0, 1).map((finding) => `${indent}… and ${toCount(hidden.length)} more of ${toName(finding)}; --json lists all`)];
}

function renderFinding(finding: Finding, others: readonly Finding[], style: Style, indent: string): string[] {
  const { bold, dim } = style.color;
  const places = [finding, ...others].flatMap(({ where }) => where ?? []);
  const hidden = places.length <= most ? '' : `, and ${toCount(places.length - most)} more`;
  return [
    `${indent}${paintLevel(finding.level, style)} ${bold(toName(finding))}: ${finding.message}`,
    ...(places.length === 0 ? [] : [`${indent}  ${dim('where:')} ${places.slice(0, most).join(', ')}${hidden}`]),
    ...(finding.hint === undefined ? [] : [`${indent}  ${dim('hint:')} ${finding.hint}`]),
  ];
}

function paintLevel(level: FindingLevel, { color }: Style): string {
  const paint = { error: color.red, warning: color.yellow, note: color.cyan }[level];
  return paint(level);
}

/** `2 errors, 1 warning`; empty when there is nothing to count. */
export function countFindings(findings: readonly Finding[]): string {
  return levels
    .map((level) => ({ level, count: findings.filter((finding) => finding.level === level).length }))
    .filter(({ count }) => count > 0)
    .map(({ level, count }) => plural(count, level))
    .join(', ');
}
