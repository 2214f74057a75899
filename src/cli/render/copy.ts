import type { CopyResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { toFacts, toTable } from './table.js';
import { plural } from './text.js';
import { toTarget, toTotals } from './totals.js';

export const renderCopy: Render<CopyResult> = (result, style) => {
  const many = result.copied.length > 1;
  const title = many
    ? `${plural(result.copied.length, 'package')} to ${style.color.bold(result.path ?? result.repository ?? 'the store')}`
    : `to ${style.color.bold(toTarget(result))}`;
  const roots = result.copied.map(({ name, digest }) => [name ?? '<none>', digest]);
  return {
    out: [
      `${style.color.green('Copied')} ${title}`,
      ...(many ? toTable([{ title: '', shrinks: true }, { title: '' }], roots, style, '  ') : []),
      ...toFacts(
        [
          ['digest', many ? undefined : (result.digest ?? undefined)],
          ['model hash', result.modelHash],
          ['bytes', toTotals(result.bytes)],
          ['attached', result.referrers === undefined ? undefined : plural(result.referrers.length, 'referrer')],
        ],
        style,
      ),
    ],
    err: renderFindings(result.lost, style),
    quiet: many ? result.copied.map(({ digest }) => digest) : [result.digest ?? result.modelHash ?? ''],
  };
};
