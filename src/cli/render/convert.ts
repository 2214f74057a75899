import type { ConvertResult } from '../../ops/index.js';
import { countFindings } from './findings.js';
import type { Render } from './rendered.js';
import { toFacts } from './table.js';
import { toFormat, toTarget, toTotals } from './totals.js';

export const renderConvert: Render<ConvertResult> = (result, style) => ({
  out: [
    `${style.color.green(result.dryRun ? 'Would write' : 'Wrote')} ${toFormat(result)}${result.dryRun ? '' : ` to ${style.color.bold(toTarget(result))}`}`,
    ...toFacts(
      [
        ['digest', result.dryRun ? undefined : result.digest],
        ['bytes', result.dryRun ? undefined : toTotals(result.bytes)],
        ['lost', countFindings(result.lost) || 'nothing'],
      ],
      style,
    ),
  ],
  // The losses were announced before anything was written.
  err: [],
  quiet: result.dryRun ? [] : [result.digest],
});
