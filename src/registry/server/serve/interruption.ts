/** Waits for things until something ends all waiting. Promise.race with one promise would keep a reaction for every chunk. */
export class Interruption {
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Undefined when the end came first. */
  wait<T extends object | true>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const wake = () => resolve(undefined);
      if (this.#isOver) wake();
      else this.#waiting.add(wake);
      promise.then(resolve, reject).finally(() => this.#waiting.delete(wake));
    });
  }
}
