import { createError, type ToolkitError } from '../core/index.js';

/** A weight file that contradicts itself or its size; `offset` is where the reader was. */
export function badHeader(file: string, offset: number, reason: string, cause?: unknown): ToolkitError {
  return createError('weights/bad-header', {
    message: `Cannot read the header of "${file}": ${reason}`,
    hint: 'The file is damaged, incomplete or not of this format: fetch or export it again',
    where: `${file}: byte ${offset}`,
    cause,
  });
}

/** A header that may be right but is larger than this program reads. */
export function overLimit(file: string, offset: number, reason: string): ToolkitError {
  return createError('bytes/limit', { message: `Cannot read the header of "${file}": ${reason}`, where: `${file}: byte ${offset}` });
}

/** Foreign text for a message: quoted, on one line, of bounded length. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
