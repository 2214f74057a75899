import type { HttpClient } from '../../../http/index.js';
import type { Authorizer, Credentials, CredentialStore, Scope } from './auth.js';
import { toBasicHeader } from './basic-header.js';
import { type Challenge, parseChallenges } from './challenge.js';
import { judgeRealm } from './realm-policy.js';
import { coversScopes, mergeScopes, toScopeText } from './scope.js';
import { SharedWork } from './shared-work.js';
import { type CachedToken, TokenCache } from './token-cache.js';
import { TokenService, toDistrustError, toLoginError, toServiceId } from './token-service.js';

export interface AuthorizerOptions {
  /** As in package names: logins are looked up by it, and errors name it. */
  readonly host: string;
  /** Where the registry is spoken to: scheme, host and port. */
  readonly registryUrl: string;
  readonly http: HttpClient;
  readonly credentials: Pick<CredentialStore, 'find'>;
  /** Hosts (`HOST` or `HOST:PORT`) whose token services may get the login of this registry, beside those that are known. */
  readonly trustedRealmHosts?: readonly string[];
  /** Milliseconds that only go forwards. */
  readonly now?: () => number;
}

export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  return new RegistryAuthorizer(options);
}

/** How the registry wants to be asked, once it has said so. */
type Method = { readonly kind: 'header'; readonly header: string } | { readonly kind: 'tokens'; readonly service: TokenService };

/** A token that is refused so soon after it was given would be refused again. In milliseconds. */
const tooSoon = 2000;

/** A token is renewed when a quarter of its life is left, at most this. In milliseconds. */
const longestMargin = 30_000;

class RegistryAuthorizer implements Authorizer {
  readonly #options: AuthorizerOptions;
  readonly #now: () => number;
  readonly #tokens = new TokenCache();
  readonly #fetches = new SharedWork<CachedToken>();
  #credentials: Promise<Credentials | undefined> | undefined;
  #method: Method | undefined;

  constructor(options: AuthorizerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async authorize(scopes: readonly Scope[], signal?: AbortSignal): Promise<string | undefined> {
    const method = this.#method;
    if (method?.kind !== 'tokens') return method?.header;
    const wanted = mergeScopes(scopes.map(toScopeText));
    const known = this.#tokens.find(method.service.id, wanted);
    if (known !== undefined && this.#isFresh(known)) return known.header;
    return (await this.#fetch(method.service, known?.scopes ?? wanted, signal)).header;
  }

  async challenge(header: string, scopes: readonly Scope[], used: string | undefined, signal?: AbortSignal): Promise<boolean> {
    const challenges = parseChallenges(header);
    const [first] = challenges;
    if (first === undefined) return false;
    const credentials = await this.#findCredentials();
    const bearer = challenges.find((challenge) => challenge.kind === 'bearer');
    if (bearer === undefined) return this.#useBasic(credentials, used);
    if (credentials?.kind === 'registry-token') return this.#useHeader(`Bearer ${credentials.token}`, used, 'the token is wrong or has ended');
    const service = this.#openService(bearer, credentials);
    return this.#useTokens(service, mergeScopes([...bearer.scopes, ...scopes.map(toScopeText)]), used, signal);
  }

  #findCredentials(): Promise<Credentials | undefined> {
    this.#credentials ??= this.#options.credentials.find(this.#options.host);
    return this.#credentials;
  }

  #useBasic(credentials: Credentials | undefined, used: string | undefined): boolean {
    if (credentials === undefined) return false;
    if (credentials.kind === 'password') {
      return this.#useHeader(toBasicHeader(credentials.username, credentials.password), used, 'the user name or password is wrong');
    }
    throw toLoginError(this.#options.host, 'expected a user name and password, but a token is what is kept for it');
  }

  #useHeader(header: string, used: string | undefined, reason: string): boolean {
    if (header === used) throw toLoginError(this.#options.host, reason);
    this.#method = { kind: 'header', header };
    return true;
  }

  /** The same service stays, for what it remembers. */
  #openService({ realm: address, service }: Challenge & { kind: 'bearer' }, credentials: Credentials | undefined): TokenService {
    const { host, registryUrl, http, trustedRealmHosts = [] } = this.#options;
    const realm = judgeRealm(address, { host, registryUrl, trustedRealmHosts });
    const open = this.#method?.kind === 'tokens' && this.#method.service.id === toServiceId(realm, service) ? this.#method.service : undefined;
    return open ?? new TokenService({ host, registryUrl, http, realm, service, credentials });
  }

  async #useTokens(service: TokenService, wanted: readonly string[], used: string | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    this.#method = { kind: 'tokens', service };
    const known = this.#tokens.find(service.id, wanted);
    if (known !== undefined && known.header !== used && this.#isFresh(known)) return true;
    const refused = known?.header === used ? known : this.#tokens.findByHeader(used);
    if (refused !== undefined && this.#isPointless(refused, service, wanted)) {
      if (service.isDistrusted) throw toDistrustError(this.#options.host, service.realmHost, 'the token that is given to everybody was refused');
      return false;
    }
    if (refused !== undefined) this.#tokens.remove(refused);
    await this.#fetch(service, wanted, signal);
    return true;
  }

  /** There is nothing new to ask for, and it was given just now. */
  #isPointless(refused: CachedToken, service: TokenService, wanted: readonly string[]): boolean {
    return refused.service === service.id && coversScopes(refused.scopes, wanted) && this.#now() - refused.fetchedAt < tooSoon;
  }

  #isFresh(token: CachedToken): boolean {
    return this.#now() < token.renewAt;
  }

  #fetch(service: TokenService, scopes: readonly string[], signal: AbortSignal | undefined): Promise<CachedToken> {
    return this.#fetches.run(JSON.stringify([service.id, scopes]), (shared) => this.#request(service, scopes, shared), signal);
  }

  async #request(service: TokenService, scopes: readonly string[], signal: AbortSignal): Promise<CachedToken> {
    const fetchedAt = this.#now();
    const { token, lifeMs } = await service.request(scopes, signal);
    const renewAt = fetchedAt + lifeMs - Math.min(lifeMs / 4, longestMargin);
    const cached = { header: `Bearer ${token}`, service: service.id, scopes, fetchedAt, renewAt };
    this.#tokens.add(cached);
    return cached;
  }
}
