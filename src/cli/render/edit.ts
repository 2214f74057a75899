import type { EditResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { toFacts } from './table.js';
import { toTarget, toTotals } from './totals.js';

export const renderEdit: Render<EditResult> = (result, style) => ({
  out: [
    `${style.color.green('Wrote')} ${style.color.bold(toTarget(result))}`,
    ...toFacts(
      [
        ['was', result.from],
        ['is', result.digest],
        ['changed', result.changed.join(', ') || 'nothing'],
        ['bytes', toTotals(result.bytes)],
      ],
      style,
    ),
  ],
  err: renderFindings([...result.lost, ...result.findings], style),
  quiet: [result.digest],
});
