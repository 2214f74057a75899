import type { CartonShrinkResult } from '../../../ops/index.js';
import { renderFindings } from '../findings.js';
import type { Render } from '../rendered.js';
import { toFacts } from '../table.js';
import { plural, toSize } from '../text.js';
import { toTarget } from '../totals.js';

export const renderShrink: Render<CartonShrinkResult> = (result, style) => ({
  out: [
    `${style.color.green('Shrunk')} to ${style.color.bold(toTarget(result))}`,
    ...toFacts(
      [
        ['left out', `${plural(result.left.length, 'file')}, ${toSize(result.savedBytes)}`],
        ['model hash', result.modelHash],
        ['digest', result.digest ?? undefined],
        ['unused links', result.unused.length === 0 ? undefined : result.unused.join(', ')],
      ],
      style,
    ),
    ...result.left.map((path) => `  ${path}`),
  ],
  err: renderFindings(result.findings, style),
  quiet: [...result.left],
});
