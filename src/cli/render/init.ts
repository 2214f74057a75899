import type { InitResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';

/** A text for standard output has been written, byte for byte, before this is called. */
export const renderInit: Render<InitResult> = ({ path, findings }, style) => ({
  out: path === null ? [] : [`${style.color.green('Wrote')} ${style.color.bold(path)}`],
  err: renderFindings(findings, style),
  quiet: path === null ? [] : [path],
});
