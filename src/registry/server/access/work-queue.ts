/** Work of which only some is done at once and only some may wait. */
export class WorkQueue {
  readonly #mostRunning: number;
  readonly #mostWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(mostRunning: number, mostWaiting: number) {
    this.#mostRunning = mostRunning;
    this.#mostWaiting = mostWaiting;
  }

  /** `full` when too many wait already, without starting anything. */
  async run<T>(work: () => Promise<T>): Promise<T | 'full'> {
    if (this.#running >= this.#mostRunning) {
      if (this.#waiting.length >= this.#mostWaiting) return 'full';
      // Whoever wakes it leaves the place to it.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running++;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
