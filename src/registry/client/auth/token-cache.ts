import { coversScopes } from './scope.js';

/** An access token with what it was asked for. Times are milliseconds of a clock that only goes forwards. */
export interface CachedToken {
  /** The Authorization header. */
  readonly header: string;
  /** Which token service it is from. */
  readonly service: string;
  /** Merged. */
  readonly scopes: readonly string[];
  readonly fetchedAt: number;
  /** From then on it is not to be used for anything new. */
  readonly renewAt: number;
}

const mostTokens = 256;

/** The tokens of one registry, by service and scopes. The oldest are forgotten. */
export class TokenCache {
  readonly #tokens = new Map<string, CachedToken>();

  /** One that is good for these scopes, the latest of several; it may have to be renewed. */
  find(service: string, scopes: readonly string[]): CachedToken | undefined {
    return [...this.#tokens.values()].findLast((token) => token.service === service && coversScopes(token.scopes, scopes));
  }

  findByHeader(header: string | undefined): CachedToken | undefined {
    return [...this.#tokens.values()].findLast((token) => token.header === header);
  }

  add(token: CachedToken): void {
    const key = toKey(token);
    this.#tokens.delete(key);
    this.#tokens.set(key, token);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > mostTokens && oldest !== undefined) this.#tokens.delete(oldest);
  }

  remove(token: CachedToken): void {
    const key = toKey(token);
    if (this.#tokens.get(key) === token) this.#tokens.delete(key);
  }
}

function toKey({ service, scopes }: CachedToken): string {
  return JSON.stringify([service, scopes]);
}
