import type { RuntimeEnvironment } from '../../core/index.js';

/** What making an environment needs to know besides what goes into it. `folder` is the model's. */
export interface EnvironmentRequest extends RuntimeEnvironment {
  readonly location: string;
  readonly folder: string;
  readonly timeoutMs: number;
}
