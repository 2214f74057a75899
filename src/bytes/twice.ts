import { isToolkitError } from '../core/index.js';

/** Wrong bytes may have become so on their way: where an attempt meets them it is made once more, and no more than that. */
export async function twice<T>(attempt: (isLast: boolean) => Promise<T>): Promise<T> {
  try {
    return await attempt(false);
  } catch (error) {
    if (!isToolkitError(error, 'bytes/digest-mismatch')) throw error;
    return attempt(true);
  }
}
