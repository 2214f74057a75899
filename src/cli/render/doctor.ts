import type { DoctorResult } from '../../ops/index.js';
import type { Style } from '../terminal.js';
import { type Render, shown } from './rendered.js';

type Check = DoctorResult['checks'][number];

export const renderDoctor: Render<DoctorResult> = ({ ok, checks }, style) => {
  const width = Math.max(0, ...checks.map(({ name }) => name.length));
  const verdict = ok ? style.color.green('All is well') : style.color.red('Something has to be mended first');
  return shown([...checks.flatMap((check) => renderCheck(check, width, style)), verdict]);
};

function renderCheck({ name, status, message, hint }: Check, width: number, { color }: Style): string[] {
  const paint = { ok: color.green, warning: color.yellow, error: color.red }[status];
  return [
    `${paint(status.padEnd(7))}  ${name.padEnd(width)}  ${message}`,
    ...(hint === undefined ? [] : [`         ${' '.repeat(width)}  ${color.dim('hint:')} ${hint}`]),
  ];
}
