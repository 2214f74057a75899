import type { Io, Run, Shape, TensorInfo, TensorSpec } from '../../core/index.js';
import type { Style } from '../terminal.js';
import { type Column, toFacts, toTable } from './table.js';
import { plural, toSize } from './text.js';

export function renderIo({ inputs, outputs, selfTests, examples }: Io, style: Style): string[] {
  const columns: readonly Column[] = [{ title: '' }, { title: '' }, { title: '' }, { title: '' }, { title: '', shrinks: true }];
  const toRow = (direction: string) => (spec: TensorSpec) => [direction, spec.name, spec.dtype ?? '?', toShape(spec.shape), spec.description ?? ''];
  const counts = [selfTests > 0 ? plural(selfTests, 'self test') : '', examples > 0 ? plural(examples, 'example') : ''].filter(Boolean).join(', ');
  return [...toTable(columns, [...inputs.map(toRow('in')), ...outputs.map(toRow('out'))], style, '  '), ...(counts === '' ? [] : [`  ${counts}`])];
}

/** `[batch, 64]`, `?` for an unnamed dimension; a symbol for a whole shape by its name. */
function toShape(shape: Shape | undefined): string {
  if (shape === undefined) return '';
  if (typeof shape === 'string') return shape === '*' ? 'any rank' : shape;
  return `[${shape.map((extent) => extent ?? '?').join(', ')}]`;
}

export function renderRun(run: Run, style: Style): string[] {
  const { runtime, version, entrypoint, command, environment, workingDirectory, timeout, options, resources } = run;
  return toFacts(
    [
      ['runtime', [runtime, version].filter(Boolean).join(' ')],
      ['entrypoint', entrypoint],
      ['command', typeof command === 'string' ? command : command?.join(' ')],
      ['folder', workingDirectory],
      ['timeout', timeout === undefined ? undefined : `${timeout} s`],
      ['environment', toPairs(environment)],
      ['options', toPairs(options)],
      ['resources', toPairs(resources)],
    ],
    style,
  );
}

function toPairs(values: Readonly<Record<string, unknown>> | undefined): string {
  return Object.entries(values ?? {})
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

export function renderTensors(tensors: readonly TensorInfo[], style: Style): string[] {
  const columns: readonly Column[] = [
    { title: 'NAME', shrinks: true },
    { title: 'DTYPE' },
    { title: 'SHAPE' },
    { title: 'SIZE', align: 'right' },
    { title: 'FILE', paint: style.color.dim },
  ];
  return toTable(
    columns,
    tensors.map(({ name, dtype, shape, bytes, file }) => [name, dtype, toShape(shape), toSize(bytes), file]),
    style,
    '  ',
  );
}
