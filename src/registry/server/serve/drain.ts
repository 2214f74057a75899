import type { Interruption } from './interruption.js';

/** A body that nobody has read to its end. */
export interface Rest {
  readonly isComplete: boolean;
  flow(onBytes: (count: number) => void, onEnd: () => void): void;
}

/** Reads on to nowhere, at most so many bytes and milliseconds. Whether that was the end of the body. */
export async function drain(body: Rest, mostBytes: number, mostMs: number, gone: Interruption): Promise<boolean> {
  let left = mostBytes;
  let timer: NodeJS.Timeout | undefined;
  const stopped = new Promise<true>((resolve) => {
    const stop = () => resolve(true);
    timer = setTimeout(stop, mostMs);
    body.flow((count) => {
      left -= count;
      if (left < 0) stop();
    }, stop);
  });
  await gone.wait(stopped);
  clearTimeout(timer);
  return body.isComplete && left >= 0;
}
