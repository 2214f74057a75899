import type { Style } from '../terminal.js';
import { shorten } from './text.js';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Gives way when the terminal is too narrow. One column of a table. */
  readonly shrinks?: boolean;
  readonly paint?: (text: string) => string;
}

const gap = '  ';
const narrowest = 12;

/** Rows of plain text → aligned lines, the titles first when there are any. Cells are painted after they are measured. */
export function toTable(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style, indent = ''): string[] {
  const widths = fit(columns, measure(columns, rows), style.width - indent.length);
  const line = (cells: readonly string[], paint: (column: Column, text: string) => string) =>
    (
      indent + columns.map((column, at) => paint(column, cell(column, cells[at] ?? '', widths[at] ?? 0, at === columns.length - 1))).join(gap)
    ).trimEnd();
  const body = rows.map((row) => line(row, (column, text) => column.paint?.(text) ?? text));
  const titled = columns.some(({ title }) => title !== '');
  return titled && rows.length > 0
    ? [
        line(
          columns.map(({ title }) => title),
          (_, text) => style.color.dim(text),
        ),
        ...body,
      ]
    : body;
}

function measure(columns: readonly Column[], rows: readonly (readonly string[])[]): number[] {
  const widths = columns.map(({ title }) => title.length);
  for (const row of rows) {
    for (let at = 0; at < widths.length; at++) widths[at] = Math.max(widths[at] ?? 0, row[at]?.length ?? 0);
  }
  return widths;
}

function fit(columns: readonly Column[], widths: readonly number[], available: number): readonly number[] {
  const excess = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - available;
  if (excess <= 0) return widths;
  return widths.map((width, at) => (columns[at]?.shrinks === true ? Math.max(Math.min(width, narrowest), width - excess) : width));
}

function cell(column: Column, text: string, width: number, last: boolean): string {
  const cut = column.shrinks === true ? shorten(text, width) : text;
  if (column.align === 'right') return cut.padStart(width);
  return last ? cut : cut.padEnd(width);
}

/** `name  value` lines, for facts; pairs without a value are left out. */
export function toFacts(facts: readonly (readonly [name: string, value: string | undefined])[], style: Style, indent = '  '): string[] {
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined && fact[1] !== '');
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${indent}${style.color.dim(name.padEnd(width))}${gap}${value}`);
}
