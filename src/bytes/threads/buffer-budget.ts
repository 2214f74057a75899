/**
 * What all buffers for bulk bytes may take together: so much that a few streams have the largest that pay, so little that with
 * sixty streams the process stays small.
 */
const budgetBytes = 40 * 1024 * 1024;

/** Smaller ones cost more by their number than they save. (measured: 64 KiB takes half as long again) */
const leastBytes = 128 * 1024;

let reserved = 0;

export interface BufferShare {
  /** How large each buffer may be. */
  readonly bytes: number;
  /** Gives the share back; further calls do nothing. */
  readonly release: () => void;
}

/** A share for `count` buffers of `wanted` bytes each, or of fewer while many others have theirs. */
export function reserveBuffers(wanted: number, count: number): BufferShare {
  const fair = Math.floor((budgetBytes - reserved) / (4 * count));
  const bytes = Math.min(wanted, Math.max(leastBytes, fair));
  let held = bytes * count;
  reserved += held;
  return {
    bytes,
    release: () => {
      reserved -= held;
      held = 0;
    },
  };
}
