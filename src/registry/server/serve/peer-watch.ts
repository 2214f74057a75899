import type { ServeLimits } from './serve-limits.js';

export interface WatchedPeer {
  /** Ends the connection after so many milliseconds without a byte; 0: never. */
  setIdle(ms: number): void;
  /** Ends it now. */
  giveUp(): void;
}

/** Notices a client that keeps a request going with next to nothing. Only the time in which it is the client's turn counts. */
export class PeerWatch {
  readonly #limits: ServeLimits;
  readonly #peer: WatchedPeer;
  readonly #clock: () => number;
  #since: number | undefined;
  #waited = 0;
  #bytes = 0;
  #pending = 0;

  /** `clock` counts milliseconds. */
  constructor(limits: ServeLimits, peer: WatchedPeer, clock: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#peer = peer;
    this.#clock = clock;
  }

  /** From now on it is the client's turn. `pending`: bytes that are given to it and may be on their way. */
  expect(pending = 0): void {
    if (this.#since === undefined) {
      this.#since = this.#clock();
      this.#peer.setIdle(this.#limits.idleMs);
    }
    this.#pending = pending;
  }

  progress(bytes: number): void {
    this.#bytes += bytes;
  }

  rest(): void {
    if (this.#since === undefined) return;
    this.leave();
    this.#peer.setIdle(0);
  }

  /** The same, when whoever has the connection from now on has set its own time. */
  leave(): void {
    if (this.#since === undefined) return;
    this.check();
    this.#waited += this.#clock() - this.#since;
    this.#since = undefined;
    this.#pending = 0;
  }

  /** To be called now and then while it waits. */
  check(): void {
    if (this.#since === undefined) return;
    const now = this.#clock();
    const waited = this.#waited + now - this.#since;
    if (waited < this.#limits.rateMs) return;
    const isSlow = this.#bytes + this.#pending < (waited / 1000) * this.#limits.leastRate;
    this.#since = now;
    this.#waited = 0;
    this.#bytes = 0;
    if (isSlow) this.#peer.giveUp();
  }
}
