import { createError, type ToolkitError } from '../../core/index.js';

/** `what` names the thing and how much of it there is. */
export function overLimit(where: string, what: string, limit: number): ToolkitError {
  return createError('bytes/limit', {
    message: `Cannot read "${where}": ${what} is more than the limit of ${limit}`,
    hint: 'Raise the limit only for what you trust',
    where,
  });
}
