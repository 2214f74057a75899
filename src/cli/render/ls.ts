import type { FileResult, LsResult } from '../../ops/index.js';
import { renderFindings } from './findings.js';
import { type Render, shown } from './rendered.js';
import { type Column, toTable } from './table.js';
import { toShortDigest, toSize } from './text.js';

/** One path a line, as scripts want it. */
export const renderPaths: Render<LsResult> = ({ files, findings }, style) =>
  shown(
    files.map(({ path }) => path),
    renderFindings(findings, style),
  );

export const renderLongList: Render<LsResult> = ({ files, findings }, style) => {
  const columns: readonly Column[] = [
    { title: 'MODE' },
    { title: 'ROLE' },
    { title: 'SIZE', align: 'right' },
    { title: 'DIGEST', paint: style.color.dim },
    { title: 'PATH', shrinks: true },
  ];
  const toRow = ({ mode, role, size, digest, path }: FileResult) => [
    mode ?? '-',
    role,
    size === null ? 'linked' : toSize(size),
    toShortDigest(digest),
    path,
  ];
  return shown(toTable(columns, files.map(toRow), style), renderFindings(findings, style));
};
