import { createError, type ToolkitError } from '../core/index.js';

/** A tensor file or value that is malformed. `reason` says what was expected and what was found; `place` is line and column or an index. */
export function badArray(where: string, reason: string, place?: string, cause?: unknown): ToolkitError {
  return createError('tensors/bad-array', {
    message: `Cannot read the tensor ${quote(where)}: ${reason}`,
    hint: 'A tensor is a .npy file of numbers, booleans or text, or JSON: a nested array, or {"dtype": …, "shape": […], "data": […]}',
    where: place === undefined ? where : `${where}:${place}`,
    cause,
  });
}

/** A tensor that may be right but is larger than this program holds in memory. */
export function overLimit(where: string, reason: string): ToolkitError {
  return createError('bytes/limit', { message: `Cannot read the tensor ${quote(where)}: ${reason}`, where });
}

/** Foreign text for a message: quoted, on one line, of bounded length. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
