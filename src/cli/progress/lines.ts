import type { Escape } from '../display.js';
import type { OutputStream } from '../io.js';
import type { LiveProgress } from './live-progress.js';
import { toDuration, toSize } from '../render/text.js';

/** Work that ends sooner, in milliseconds, is not worth a line. */
const worthALine = 1000;

interface Item {
  readonly text: string;
  readonly total: number | undefined;
  readonly since: number;
  announced: boolean;
}

/** For logs and pipes: a line when long work has begun, a line when it ended, nothing between. */
export function createProgressLines(stream: OutputStream, escape: Escape): LiveProgress {
  const waiting = new Set<Item>();
  const announce = () => {
    for (const item of waiting) {
      if (performance.now() - item.since < worthALine) continue;
      waiting.delete(item);
      item.announced = true;
      stream.write(`${item.text}${item.total === undefined ? '' : ` (${toSize(item.total)})`}\n`);
    }
  };
  const timer = setInterval(announce, worthALine / 4).unref();
  return {
    start: (task, name, total) => {
      const item: Item = { text: escape(`${task} ${name}`), total, since: performance.now(), announced: false };
      let bytes = 0;
      waiting.add(item);
      return {
        advance: (count) => {
          bytes += count;
        },
        done: (outcome = 'done') => {
          waiting.delete(item);
          if (item.announced) stream.write(`${item.text}: ${outcome}, ${toSize(bytes)} in ${toDuration(performance.now() - item.since)}\n`);
        },
      };
    },
    close: () => clearInterval(timer),
  };
}
