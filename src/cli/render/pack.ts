import type { PackResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { toFacts } from './table.js';
import { plural } from './text.js';
import { toFormat, toTarget, toTotals } from './totals.js';

export const renderPack: Render<PackResult> = (result, style) => ({
  out: [
    `${style.color.green('Packed')} ${result.parts.length === 0 ? '' : `${plural(result.parts.length, 'file')} as `}${toFormat(result)} to ${style.color.bold(toTarget(result))}`,
    ...toFacts(
      [
        ['digest', result.digest ?? undefined],
        ['model hash', result.modelHash],
        ['bytes', toTotals(result.bytes)],
        ['image', result.hybrid === undefined ? undefined : `${result.hybrid.name ?? ''} ${result.hybrid.digest}`.trim()],
      ],
      style,
    ),
  ],
  err: renderFindings([...result.lost, ...result.findings], style),
  quiet: [result.digest ?? result.modelHash ?? ''],
});
