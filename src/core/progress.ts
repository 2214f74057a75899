/**
 * Told about long work. One `item` a layer or file; `total` bytes when known. Never throws, never prints:
 * what is shown is for the command line to decide.
 */
export interface Progress {
  /** Starts one item; the function given back is told how many more bytes are done, `done` ends it. */
  start(task: string, item: string, total?: number): ProgressItem;
}

export interface ProgressItem {
  advance(bytes: number): void;
  done(outcome?: 'done' | 'skipped' | 'failed'): void;
}

export const silentProgress: Progress = { start: () => ({ advance: () => {}, done: () => {} }) };

/** What the bytes went through, counted where it happens; `--verbose` prints it. */
export interface ByteCounters {
  /** From the disk or an archive. */
  read: number;
  hashed: number;
  written: number;
  /** Of blobs that were there already. */
  skipped: number;
  /** Of what an earlier run had left: hashed once more to go on from there, and counted in `hashed` too. */
  resumed: number;
  /** Bodies to and from registries. */
  sent: number;
  received: number;
  /** To registries and whatever they send to. */
  requests: number;
}

export function createCounters(): ByteCounters {
  return { read: 0, hashed: 0, written: 0, skipped: 0, resumed: 0, sent: 0, received: 0, requests: 0 };
}
