import type { VerifyResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { plural, toSize } from './text.js';

export const renderVerify: Render<VerifyResult> = ({ ok, checked, problems, signatures }, style) => {
  const verdict = ok ? style.color.green('Verified') : style.color.red('Not verified');
  const signed = signatures.length === 0 ? '' : `, ${plural(signatures.length, 'signature')}`;
  const notes = problems.filter(({ level }) => level === 'note').length;
  const faults = count(problems.length - notes, 'problem') + count(notes, 'note');
  return {
    out: [...renderFindings(problems, style), `${verdict}: ${plural(checked.files, 'file')}, ${toSize(checked.bytes)}${signed}${faults}`],
    err: [],
    quiet: [],
  };
};

function count(found: number, what: string): string {
  return found === 0 ? '' : `, ${plural(found, what)}`;
}
