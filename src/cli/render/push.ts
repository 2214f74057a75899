import type { PushResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { toFacts } from './table.js';
import { plural } from './text.js';
import { toTotals } from './totals.js';

export const renderPush: Render<PushResult> = (result, style) => ({
  out: [
    `${style.color.green('Pushed')} ${result.parts === undefined ? '' : `${plural(result.parts.length, 'file')} `}to ${style.color.bold(result.name ?? '')}`,
    ...toFacts(
      [
        ['digest', result.digest],
        ['bytes', toTotals(result.bytes)],
        ['image', result.hybrid === undefined ? undefined : `${result.hybrid.name ?? ''} ${result.hybrid.digest}`.trim()],
        ['attached', result.referrers === undefined ? undefined : plural(result.referrers.length, 'referrer')],
      ],
      style,
    ),
  ],
  err: renderFindings([...result.lost, ...(result.findings ?? [])], style),
  quiet: [result.digest],
});
