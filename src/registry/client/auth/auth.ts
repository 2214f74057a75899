/** What a registry is logged in to with. All of it is secret but the user's name. */
export type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  /** A refresh token, for which the token service gives access tokens (OAuth2). */
  | { readonly kind: 'identity-token'; readonly token: string }
  /** An access token that is used as it is. */
  | { readonly kind: 'registry-token'; readonly token: string };

/** Where logins are looked up and kept. Hosts are written as in package names, `HOST[:PORT]`, and match exactly. */
export interface CredentialStore {
  /** Undefined when nobody logged in there. Throws `registry/credentials` when they are kept but cannot be had. */
  find(host: string): Promise<Credentials | undefined>;
  /** Says where they were kept, for a person: a file, or a helper. */
  save(host: string, credentials: Credentials): Promise<{ readonly where: string; readonly encrypted: boolean }>;
  /** False when there were none. */
  remove(host: string): Promise<boolean>;
}

/** What a request wants to do with a repository, or that it wants the catalog. */
export type Scope =
  | { readonly kind: 'repository'; readonly name: string; readonly actions: readonly ('pull' | 'push' | 'delete')[] }
  | { readonly kind: 'catalog' };

/** Logs requests to one registry in. One a registry, shared by all transfers: tokens are fetched once and renewed before they end. */
export interface Authorizer {
  /**
   * The Authorization header for requests of these scopes, from what is known by now; undefined when nothing was asked for so far. A
   * token that is about to end is renewed first.
   */
  authorize(scopes: readonly Scope[], signal?: AbortSignal): Promise<string | undefined>;
  /**
   * After a 401: gets what its `WWW-Authenticate` asks for. `used` is the header that was refused, so that of many requests that are
   * refused together one fetches the token. False when asking again is pointless (no credentials, or a new token was refused as well);
   * throws `registry/login` when the credentials were not taken, `registry/bad-address` for a token service that is not to be trusted.
   */
  challenge(header: string, scopes: readonly Scope[], used: string | undefined, signal?: AbortSignal): Promise<boolean>;
}
