/**
 * What all buffers for bulk bytes may take together: so much that a few streams have the largest that pay, so little that with
 * sixty streams the process stays small.
 */
const budgetBytes = 20 * 1024 * 1024;

/** For the last of very many. Still smaller ones would cost more by their number than they save. (measured: these take half as long again) */
const leastBytes = 64 * 1024;

/** What is kept for the next loans: left to itself, memory of one file after the other piles up before it is collected. */
const pooledBytes = 16 * 1024 * 1024;

/** Whether threads have to see it. */
export type BufferKind = 'own' | 'shared';

/** Some buffers of one length for a stream. End it. */
export interface BufferLoan {
  readonly bytes: number;
  /** One that nobody needs any more, else a new one; at most as often as was said. */
  readonly take: () => Buffer;
  /** `isDone`: nobody works on what was taken, so that others may have it. Further calls do nothing. */
  readonly end: (isDone: boolean) => void;
}

/** Lends within one budget. */
export class BufferBank {
  #lent = 0;
  readonly #pool: { readonly kind: BufferKind; readonly buffer: Buffer }[] = [];

  /** `count` buffers of `wanted` bytes each, or of fewer while many others have theirs. */
  lend(kind: BufferKind, wanted: number, count: number): BufferLoan {
    const bytes = toLength(wanted, (budgetBytes - this.#lent) / (4 * count));
    const taken: Buffer[] = [];
    let held = bytes * count;
    this.#lent += held;
    return {
      bytes,
      take: () => {
        const buffer = this.#findPooled(kind, bytes) ?? allocate(kind, bytes);
        taken.push(buffer);
        return buffer;
      },
      end: (isDone) => {
        this.#lent -= held;
        held = 0;
        if (isDone) for (const buffer of taken) this.#keep(kind, buffer);
        taken.length = 0;
      },
    };
  }

  #findPooled(kind: BufferKind, bytes: number): Buffer | undefined {
    const at = this.#pool.findIndex((each) => each.kind === kind && each.buffer.byteLength === bytes);
    return at < 0 ? undefined : this.#pool.splice(at, 1)[0]?.buffer;
  }

  /** Small ones are quickly made and collected. */
  #keep(kind: BufferKind, buffer: Buffer): void {
    if (buffer.byteLength < leastBytes) return;
    this.#pool.push({ kind, buffer });
    for (let total = this.#pool.reduce((sum, each) => sum + each.buffer.byteLength, 0); total > pooledBytes;) {
      total -= this.#pool.shift()?.buffer.byteLength ?? total;
    }
  }
}

const bank = new BufferBank();

/** Of the one budget of this process. */
export function lendBuffers(kind: BufferKind, wanted: number, count: number): BufferLoan {
  return bank.lend(kind, wanted, count);
}

/** Halved until it is fair, so that there are few lengths and those that come back are wanted again. */
function toLength(wanted: number, fair: number): number {
  let bytes = wanted;
  while (bytes > fair && bytes >= 2 * leastBytes) bytes /= 2;
  return Math.floor(bytes);
}

function allocate(kind: BufferKind, bytes: number): Buffer {
  return kind === 'shared' ? Buffer.from(new SharedArrayBuffer(bytes)) : Buffer.allocUnsafeSlow(bytes);
}
