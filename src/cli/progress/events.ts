import { toJson } from '../display.js';
import type { OutputStream } from '../io.js';
import { type LiveProgress, redrawInterval } from './live-progress.js';

/** One JSON line an event: `{ event, task, item, bytes, total }`; `bytes` done so far, `total` null when unknown. The last has an `outcome`. */
export function createProgressEvents(stream: OutputStream): LiveProgress {
  return {
    start: (task, item, total) => {
      let bytes = 0;
      let told = performance.now();
      const tell = (event: string, more: object = {}) => stream.write(`${toJson({ event, task, item, bytes, total: total ?? null, ...more })}\n`);
      tell('start');
      return {
        advance: (count) => {
          bytes += count;
          const now = performance.now();
          if (now - told < redrawInterval) return;
          told = now;
          tell('progress');
        },
        done: (outcome = 'done') => void tell('done', { outcome }),
      };
    },
    close: () => {},
  };
}
