import type { Socket } from 'node:net';
import { PeerWatch } from './peer-watch.js';
import type { ServeLimits } from './serve-limits.js';

/** One connection. Its requests are answered one after the other, however many a client sends ahead. */
export class Connection {
  readonly socket: Socket;
  readonly watch: PeerWatch;
  readonly address: string;
  readonly #most: number;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isGone = false;
  #onGone: (() => void) | undefined;

  constructor(socket: Socket, limits: ServeLimits) {
    this.socket = socket;
    this.address = socket.remoteAddress ?? '';
    this.#most = limits.requestsAhead;
    this.watch = new PeerWatch(limits, { setIdle: (ms) => void socket.setTimeout(ms), giveUp: () => void socket.destroy() });
    socket.once('close', () => {
      this.#isGone = true;
      this.#onGone?.();
    });
  }

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Runs `work` when all before it is done, unless the client is gone by then. `work` never throws. A client too far ahead is cut off. */
  run(work: () => Promise<void>): Promise<void> {
    if (this.#waiting > this.#most) this.socket.destroy();
    this.#waiting++;
    this.#last = this.#follow(this.#last, work);
    return this.#last;
  }

  async #follow(last: Promise<void>, work: () => Promise<void>): Promise<void> {
    await last;
    if (!this.#isGone) await work();
    this.#waiting--;
  }

  /** Who is told, at once or later, that the client is gone: one at a time. */
  tellGone(listener: (() => void) | undefined): void {
    this.#onGone = listener;
    if (this.#isGone) listener?.();
  }
}
