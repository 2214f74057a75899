import type { PullResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { toFacts } from './table.js';
import { plural } from './text.js';
import { toTotals } from './totals.js';

export const renderPull: Render<PullResult> = (result, style) => ({
  out: [
    result.files === undefined || result.path === null
      ? `${style.color.green('Pulled')} ${style.color.bold(result.name ?? result.digest)} to the store`
      : `${style.color.green('Pulled')} ${plural(result.files, 'file')} to ${style.color.bold(result.path)}`,
    ...toFacts(
      [
        ['digest', result.digest],
        ['bytes', toTotals(result.bytes)],
        ['attached', result.referrers === undefined ? undefined : plural(result.referrers.length, 'referrer')],
      ],
      style,
    ),
  ],
  err: renderFindings(result.findings, style),
  quiet: [result.path ?? result.digest],
});
