import type { Finding, FindingLevel } from '../../core/index.js';
import type { Style } from '../terminal.js';
import { plural } from './text.js';

const levels: readonly FindingLevel[] = ['error', 'warning', 'note'];

/** Errors first. Place and advice stand on lines of their own, so that a message stays readable. */
export function renderFindings(findings: readonly Finding[], style: Style, indent = ''): string[] {
  return levels.flatMap((level) => findings.filter((finding) => finding.level === level)).flatMap((finding) => renderFinding(finding, style, indent));
}

function renderFinding({ level, code, rule, message, where, hint }: Finding, style: Style, indent: string): string[] {
  const { bold, dim } = style.color;
  return [
    `${indent}${paintLevel(level, style)}${bold(rule ?? code)}: ${message}`,
    ...(where === undefined ? [] : [`${indent}  ${dim('where:')} ${where}`]),
    ...(hint === undefined ? [] : [`${indent}  ${dim('hint:')} ${hint}`]),
  ];
}

function paintLevel(level: FindingLevel, { color }: Style): string {
  const paint = { error: color.red, warning: color.yellow, note: color.cyan }[level];
  return `${paint(level)} `;
}

/** `2 errors, 1 warning`; empty when there is nothing to count. */
export function countFindings(findings: readonly Finding[]): string {
  return levels
    .map((level) => ({ level, count: findings.filter((finding) => finding.level === level).length }))
    .filter(({ count }) => count > 0)
    .map(({ level, count }) => plural(count, level))
    .join(', ');
}
