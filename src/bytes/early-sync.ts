import type { FileHandle } from 'node:fs/promises';

/** At least so much, else the disk is kept busy with seams. */
const everyBytes = 64 * 1024 * 1024;

/** One at a time in the whole process: each holds one of the few threads that also write. */
let isBusy = false;

/** Lets the disk begin with a long file while more of it still comes, so that little is left to wait for at its end. */
export class EarlySync {
  readonly #handle: FileHandle;
  #unsynced: number;
  #running: Promise<void> = Promise.resolve();
  #failure: unknown;

  /** `unsynced`: bytes of an earlier handle of the file. */
  constructor(handle: FileHandle, unsynced = 0) {
    this.#handle = handle;
    this.#unsynced = unsynced;
  }

  /** About so many bytes are not on their way to the disk yet. */
  get unsynced(): number {
    return this.#unsynced;
  }

  /** So many more bytes were written. */
  note(bytes: number): void {
    this.#unsynced += bytes;
    if (isBusy || this.#unsynced < everyBytes) return;
    this.#unsynced = 0;
    isBusy = true;
    this.#running = this.#sync();
  }

  async #sync(): Promise<void> {
    try {
      await this.#handle.datasync();
    } catch (error) {
      // The system tells of it only once.
      this.#failure ??= error;
    } finally {
      isBusy = false;
    }
  }

  /** Nothing is under way any more; throws what went wrong. To be called before the file is synced or closed. */
  async settle(): Promise<void> {
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure as Error;
  }
}
