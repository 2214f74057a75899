import type { Progress } from '../../core/index.js';

/** Progress that holds a timer or the cursor: close it before anything else is written to the terminal. */
export interface LiveProgress extends Progress {
  readonly close: () => void;
}

/** At least this long between two drawings, or two events of one item, in milliseconds. */
export const redrawInterval = 100;
