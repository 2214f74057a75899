import { createHmac, randomBytes } from 'node:crypto';
import type { Right } from './rights.js';

/** Who asks, as proven. */
export interface Identity {
  /** For logs. */
  readonly name: string;
  readonly rights: ReadonlySet<Right>;
}

const mostKept = 1000;
const keptMs = 5 * 60 * 1000;

/** Remembers for a while whose Authorization field was good, because proving a password costs a tenth of a second. The field itself is not kept. */
export class ProvenOffers {
  readonly #key = randomBytes(32);
  readonly #clock: () => number;
  readonly #kept = new Map<string, { readonly identity: Identity; readonly until: number }>();

  /** `clock` counts milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Under which a field is known here; of no use to anybody else. */
  keyOf(field: string): string {
    return createHmac('sha256', this.#key).update(field).digest('base64');
  }

  find(key: string): Identity | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || kept.until > this.#clock()) return kept?.identity;
    this.#kept.delete(key);
  }

  keep(key: string, identity: Identity): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= mostKept && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(key, { identity, until: this.#clock() + keptMs });
  }

  clear(): void {
    this.#kept.clear();
  }
}
