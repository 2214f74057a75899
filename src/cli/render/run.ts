import type { RunResult } from '../../ops/index.js';
import { toJson } from '../display.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { renderWritten } from './written.js';

/** The answer as JSON for people and pipes alike, or the names of the files that it went to. */
export const renderRun: Render<RunResult> = ({ outputs, files, written, findings }, style) => {
  const out = files === undefined ? [toJson({ outputs })] : [...files];
  return { out, err: [...renderWritten(written), ...renderFindings(findings, style)], quiet: out };
};
