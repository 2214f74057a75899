import type { PruneResult } from '../../ops/index.js';
import type { Render } from './rendered.js';
import { toTable } from './table.js';
import { plural, toSize } from './text.js';

export const renderPrune: Render<PruneResult> = ({ dryRun, removed, freedBytes, kept }, style) => ({
  out: [
    ...(dryRun
      ? toTable(
          [{ title: '' }, { title: '', align: 'right' }],
          removed.map(({ digest, size }) => [digest, toSize(size)]),
          style,
        )
      : []),
    `${style.color.green(dryRun ? 'Would delete' : 'Deleted')} ${plural(removed.length, 'blob')}, ${toSize(freedBytes)}; ${toKept(kept)}`,
  ],
  err: [],
  quiet: removed.map(({ digest }) => digest),
});

function toKept(kept: number): string {
  return `${plural(kept, 'blob')} kept`;
}
