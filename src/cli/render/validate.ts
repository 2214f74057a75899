import { hasErrors } from '../../core/index.js';
import type { ValidateResult } from '../../ops/index.js';
import { countFindings, renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { toFormat } from './totals.js';

/** The verdict comes last, where the eye rests after a long list. */
export const renderValidate: Render<ValidateResult> = (result, style) => {
  const { green, red } = style.color;
  const refused = !result.valid && !hasErrors(result.findings) ? ' (--strict)' : '';
  const verdict = result.valid ? green('Valid') : `${red('Not valid')}${refused}`;
  const counts = countFindings(result.findings);
  return {
    out: [...renderFindings(result.findings, style), `${verdict}: ${toFormat(result)}${counts === '' ? '' : `, ${counts}`}`],
    err: [],
    quiet: [],
  };
};
