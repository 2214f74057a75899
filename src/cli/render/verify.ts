import type { VerifyResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { plural, toSize } from './text.js';

export const renderVerify: Render<VerifyResult> = ({ ok, checked, problems, signatures }, style) => {
  const verdict = ok ? style.color.green('Verified') : style.color.red('Not verified');
  const signed = signatures.length === 0 ? '' : `, ${plural(signatures.length, 'signature')}`;
  const faults = problems.length === 0 ? '' : `, ${plural(problems.length, 'problem')}`;
  return {
    out: [...renderFindings(problems, style), `${verdict}: ${plural(checked.files, 'file')}, ${toSize(checked.bytes)}${signed}${faults}`],
    err: [],
    quiet: [],
  };
};
