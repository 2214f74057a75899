import type { UnpackResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { plural, toSize } from './text.js';

export const renderUnpack: Render<UnpackResult> = ({ path, files, bytes, findings }, style) => ({
  out: [`${style.color.green('Unpacked')} ${plural(files, 'file')} (${toSize(bytes)}) to ${style.color.bold(path)}`],
  err: renderFindings(findings, style),
  quiet: [path],
});
