import { AccessFile, type AccessSource } from './access-file.js';
import { type Offer, parseAuthorization } from './authorization.js';
import { type PasswordTable, parsePasswordFile } from './password-file.js';
import { type Identity, ProvenOffers } from './proven-offers.js';
import { allRights } from './rights.js';
import { findToken, parseTokenFile, type TokenTable } from './token-file.js';
import { WorkQueue } from './work-queue.js';

export type Verdict =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'known'; readonly identity: Identity }
  | { readonly kind: 'wrong' }
  /** Too many want to be judged. */
  | { readonly kind: 'busy' };

export interface DoorkeeperOptions {
  readonly passwords?: AccessSource | undefined;
  readonly tokens?: AccessSource | undefined;
  readonly announce: (problem: string) => void;
  /** Milliseconds. */
  readonly clock: () => number;
}

/** Each keeps the thread busy for its time. */
const mostHashes = 2;
const mostWaiting = 64;

/** bcrypt looks at no more: what comes after would not count. */
const bcryptBytes = 72;

/** Says who somebody is. */
export class Doorkeeper {
  readonly #passwords: AccessFile<PasswordTable> | undefined;
  readonly #tokens: AccessFile<TokenTable> | undefined;
  readonly #proven: ProvenOffers;
  readonly #queue = new WorkQueue(mostHashes, mostWaiting);
  readonly #running = new Map<string, Promise<Verdict>>();
  #seen: readonly (object | undefined)[] = [];

  /** Throws `registry/bad-access-file`. */
  constructor({ passwords, tokens, announce, clock }: DoorkeeperOptions) {
    this.#passwords = passwords === undefined ? undefined : new AccessFile(passwords, parsePasswordFile, announce);
    this.#tokens = tokens === undefined ? undefined : new AccessFile(tokens, parseTokenFile, announce);
    this.#proven = new ProvenOffers(clock);
  }

  async judge(field: string | undefined): Promise<Verdict> {
    const passwords = this.#passwords?.current();
    const tokens = this.#tokens?.current();
    this.#forgetAfterChange([passwords, tokens]);
    const offer = parseAuthorization(field);
    if (offer.kind === 'none' || field === undefined) return { kind: 'nobody' };
    const key = this.#proven.keyOf(field);
    const proven = this.#proven.find(key);
    if (proven !== undefined) return { kind: 'known', identity: proven };
    return this.#running.get(key) ?? this.#start(key, offer, passwords, tokens);
  }

  #forgetAfterChange(tables: readonly (object | undefined)[]): void {
    if (tables.every((table, index) => table === this.#seen[index])) return;
    this.#seen = tables;
    this.#proven.clear();
    this.#running.clear();
  }

  /** Those who come with the same meanwhile wait for the same. */
  #start(key: string, offer: Offer, passwords: PasswordTable | undefined, tokens: TokenTable | undefined): Promise<Verdict> {
    const seen = this.#seen;
    const verdict = this.#prove(offer, passwords, tokens)
      .then((found) => {
        if (found.kind === 'known' && seen === this.#seen) this.#proven.keep(key, found.identity);
        return found;
      })
      .finally(() => {
        if (this.#running.get(key) === verdict) this.#running.delete(key);
      });
    this.#running.set(key, verdict);
    return verdict;
  }

  async #prove(offer: Offer, passwords: PasswordTable | undefined, tokens: TokenTable | undefined): Promise<Verdict> {
    if (offer.kind !== 'basic' && offer.kind !== 'bearer') return { kind: 'wrong' };
    const token = tokens === undefined ? undefined : findToken(tokens, offer.kind === 'basic' ? offer.password : offer.token);
    if (token !== undefined) return { kind: 'known', identity: token };
    if (offer.kind === 'bearer' || passwords === undefined) return { kind: 'wrong' };
    const { user, password } = offer;
    const isRight = await this.#queue.run(() => compare(password, passwords.users.get(user), passwords.decoy));
    if (isRight === 'full') return { kind: 'busy' };
    return isRight ? { kind: 'known', identity: { name: user, rights: allRights } } : { kind: 'wrong' };
  }
}

async function compare(password: string, hash: string | undefined, decoy: string): Promise<boolean> {
  const { compare: compareHash } = await import('bcryptjs');
  const isRight = await compareHash(password, hash ?? decoy);
  return isRight && hash !== undefined && Buffer.byteLength(password) <= bcryptBytes;
}
