import { createError, type ToolkitError } from '../../core/index.js';
import { escapeForDisplay } from '../escape-for-display.js';

/** `entry` is the path that it is about; without it the archive as a whole. */
export function badZip(where: string, reason: string, entry?: string, cause?: unknown): ToolkitError {
  return createError('bytes/bad-archive', {
    message: `Cannot read the zip archive "${where}": ${about(entry)}${reason}`,
    hint: 'The archive is damaged or made to be misread: fetch or build it again',
    where,
    cause,
  });
}

export function refusedZipEntry(where: string, reason: string, entry: string): ToolkitError {
  return createError('bytes/refused-entry', {
    message: `Cannot use the zip archive "${where}": ${about(entry)}${reason}`,
    hint: 'Build it again without this entry',
    where,
  });
}

function about(entry: string | undefined): string {
  return entry === undefined ? '' : `"${escapeForDisplay(entry)}": `;
}
