import { judgePath } from '../bytes/index.js';
import { defaultLimits } from '../core/index.js';

/** Why a path that a person wrote cannot name a file of the folder, or undefined. People may write `./` before it. */
export function findPathProblem(path: string): string | undefined {
  return judgePath(path.replace(/^(?:\.\/)+/, ''), defaultLimits);
}
