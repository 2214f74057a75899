import type { DiffEntry, DiffResult } from '../../ops/index.js';
import type { Style } from '../terminal.js';
import type { Render } from './rendered.js';

/** As git shows changes: `-` is A, `+` is B. */
export const renderDiff: Render<DiffResult> = (result, style) => {
  const { files, tensors } = result;
  const out = [
    ...section(
      'Metadata',
      result.metadata.flatMap((entry) => renderEntry(entry, style)),
      style,
    ),
    ...section(
      'Files',
      [
        ...signed(files.removed, files.added, style),
        ...files.changed.map((path) => `  ~ ${path}`),
        ...files.renamed.map(({ from, to }) => `  > ${from} → ${to}`),
      ],
      style,
    ),
    ...section(
      'Tensors',
      [...signed(tensors.removed, tensors.added, style), ...tensors.changed.map(({ name, a, b }) => `  ~ ${name}: ${a} → ${b}`)],
      style,
    ),
  ];
  return { out: result.equal ? [style.color.green('Equal')] : out, err: [], quiet: [] };
};

function section(title: string, lines: readonly string[], style: Style): readonly string[] {
  return lines.length === 0 ? [] : [style.color.bold(title), ...lines];
}

function signed(removed: readonly string[], added: readonly string[], { color }: Style): string[] {
  return [...removed.map((text) => color.red(`  - ${text}`)), ...added.map((text) => color.green(`  + ${text}`))];
}

function renderEntry({ field, a, b }: DiffEntry, { color }: Style): string[] {
  const line = (sign: string, value: unknown) => (value === undefined || value === null ? [] : [`  ${sign} ${field}: ${toText(value)}`]);
  return [...line('-', a).map(color.red), ...line('+', b).map(color.green)];
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
