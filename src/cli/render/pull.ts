import type { PullResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { toFacts } from './table.js';
import type { Style } from '../terminal.js';
import { plural } from './text.js';
import { toTotals } from './totals.js';

export const renderPull: Render<PullResult> = (result, style) => ({
  out: [
    `${style.color.green('Pulled')} ${toPlace(result, style)}`,
    ...toFacts(
      [
        ['digest', result.digest ?? undefined],
        ['model hash', result.modelHash],
        ['bytes', toTotals(result.bytes)],
        ['attached', result.referrers === undefined ? undefined : plural(result.referrers.length, 'referrer')],
      ],
      style,
    ),
  ],
  err: renderFindings(result.findings, style),
  quiet: [result.path ?? result.digest ?? ''],
});

/** A folder of files, one file, or the local store. */
function toPlace({ path, files, name, digest }: PullResult, { color }: Style): string {
  if (path === null) return `${color.bold(name ?? digest ?? '')} to the store`;
  return files === undefined ? `to ${color.bold(path)}` : `${plural(files, 'file')} to ${color.bold(path)}`;
}
