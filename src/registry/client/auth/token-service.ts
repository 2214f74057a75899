import { fromBytes } from '../../../bytes/index.js';
import { createError } from '../../../core/index.js';
import type { HttpClient, HttpRequest, HttpResponse } from '../../../http/index.js';
import type { Credentials } from './auth.js';
import { toBasicHeader } from './basic-header.js';
import type { Realm } from './realm-policy.js';
import { readTokenAnswer, type TokenAnswer } from './token-answer.js';

export interface TokenServiceOptions {
  /** As in package names, for errors. */
  readonly host: string;
  readonly registryUrl: string;
  readonly http: HttpClient;
  readonly realm: Realm;
  /** What the registry calls itself there. */
  readonly service: string | undefined;
  /** Of the registry; they go only to a realm that takes credentials. */
  readonly credentials: Credentials | undefined;
}

/** Tells token services apart. */
export function toServiceId({ url }: Realm, service: string | undefined): string {
  return JSON.stringify([url.href, service]);
}

type Grant = 'none' | 'password' | 'refresh-token';

/**
 * Fetches access tokens: with GET and Basic, or by OAuth2 with POST where there is a refresh token or GET is not known. (distribution,
 * token authentication and OAuth2 token specifications)
 */
export class TokenService {
  readonly id: string;
  readonly #options: TokenServiceOptions;
  readonly #credentials: Credentials | undefined;
  /** Given by the service along with an access token; goes back there only. */
  #refreshToken: string | undefined;

  constructor(options: TokenServiceOptions) {
    this.id = toServiceId(options.realm, options.service);
    this.#options = options;
    this.#credentials = options.realm.takesCredentials ? options.credentials : undefined;
  }

  /** Whether there are credentials that this service does not get. */
  get isDistrusted(): boolean {
    return this.#credentials === undefined && this.#options.credentials !== undefined;
  }

  /** Names the service in errors. */
  get realmHost(): string {
    return this.#options.realm.url.host;
  }

  /**
   * A token for these scopes; it may grant less. Throws `registry/login` when the login was not taken, or none was sent and nothing is
   * given without one; `registry/denied`, `registry/busy`, `registry/interrupted` or `registry/bad-answer` for other answers, and what `HttpClient` throws.
   */
  async request(scopes: readonly string[], signal: AbortSignal): Promise<TokenAnswer> {
    const answer = (await this.#renew(scopes, signal)) ?? (await this.#logIn(scopes, signal));
    this.#refreshToken = answer.refreshToken ?? this.#refreshToken;
    return answer;
  }

  /** With the refresh token that an earlier answer brought. It may have ended: then the login counts again. */
  async #renew(scopes: readonly string[], signal: AbortSignal): Promise<TokenAnswer | undefined> {
    if (this.#refreshToken === undefined) return undefined;
    const grant = { grant_type: 'refresh_token', refresh_token: this.#refreshToken };
    const response = await this.#post(grant, scopes, signal);
    if (![400, 401, 403, 404, 405].includes(response.status)) return this.#read(response, 'refresh-token');
    response.drop();
    if (this.#refreshToken === grant.refresh_token) this.#refreshToken = undefined;
    return undefined;
  }

  async #logIn(scopes: readonly string[], signal: AbortSignal): Promise<TokenAnswer> {
    const credentials = this.#credentials;
    if (credentials?.kind === 'identity-token') {
      const grant = { grant_type: 'refresh_token', refresh_token: credentials.token };
      return this.#read(await this.#post(grant, scopes, signal), 'refresh-token');
    }
    if (credentials?.kind !== 'password') return this.#read(await this.#get(undefined, scopes, signal), 'none');
    const { username, password } = credentials;
    const response = await this.#get(toBasicHeader(username, password), scopes, signal);
    if (response.status !== 404 && response.status !== 405) return this.#read(response, 'password');
    response.drop();
    return this.#read(await this.#post({ grant_type: 'password', username, password }, scopes, signal), 'password');
  }

  #get(authorization: string | undefined, scopes: readonly string[], signal: AbortSignal): Promise<HttpResponse> {
    const url = new URL(this.#options.realm.url);
    if (this.#options.service !== undefined) url.searchParams.set('service', this.#options.service);
    for (const scope of scopes) url.searchParams.append('scope', scope);
    return this.#send({ method: 'GET', url: url.href, authorization, signal });
  }

  #post(grant: Readonly<Record<string, string>>, scopes: readonly string[], signal: AbortSignal): Promise<HttpResponse> {
    const form = new URLSearchParams({ ...grant, client_id: 'modelport' });
    if (this.#options.service !== undefined) form.set('service', this.#options.service);
    if (scopes.length > 0) form.set('scope', scopes.join(' '));
    const bytes = Buffer.from(form.toString());
    let isSent = false;
    const open = async () => {
      if (isSent) throw toRedirectError(this.#options.host, this.realmHost);
      isSent = true;
      return fromBytes(bytes);
    };
    return this.#send({
      method: 'POST',
      url: this.#options.realm.url.href,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: { size: bytes.byteLength, open },
      signal,
    });
  }

  #send(request: HttpRequest): Promise<HttpResponse> {
    return this.#options.http.send({ ...request, foundAt: this.#options.registryUrl });
  }

  async #read(response: HttpResponse, grant: Grant): Promise<TokenAnswer> {
    if (response.status >= 200 && response.status < 300) return readTokenAnswer(response, this.#options.host);
    response.drop();
    throw this.#toError(response, grant);
  }

  #toError({ status, headers }: HttpResponse, grant: Grant): Error {
    const { host } = this.#options;
    const said = `its token service on "${this.realmHost}" answered ${status}`;
    const where = host;
    if (status === 429) {
      const asked = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0];
      const message = `Cannot log in to "${host}": ${said}: too many requests${asked === undefined ? '' : `, it asks to wait ${asked} s`}`;
      return createError('registry/busy', { message, hint: 'Run the same command again later', where });
    }
    if (status >= 500)
      return createError('registry/interrupted', { message: `Cannot log in to "${host}": ${said}`, hint: 'Run the same command again later', where });
    const isRefused = status === 401 || status === 403 || (status === 400 && grant === 'refresh-token');
    if (!isRefused) return createError('registry/bad-answer', { message: `Cannot log in to "${host}": expected a token, but ${said}`, where });
    if (this.isDistrusted) return toDistrustError(host, this.realmHost, said);
    if (grant === 'none') return toLoginError(host, `${said}: it gives nothing without a login`);
    if (status === 403) {
      const hint = `Ask for the right to do this, or log in again: \`modelport login ${host}\``;
      return createError('registry/denied', {
        message: `Cannot log in to "${host}": ${said}: this login is not taken, or may not do this`,
        hint,
        where,
      });
    }
    return toLoginError(host, `${said}: ${grant === 'password' ? 'the user name or password is wrong' : 'the identity token is wrong or has ended'}`);
  }
}

/** The body holds the login, and only a redirect asks for it twice. */
function toRedirectError(host: string, realmHost: string): Error {
  return createError('registry/bad-address', {
    message: `Cannot log in to "${host}": its token service on "${realmHost}" sends logins elsewhere, which is not followed`,
    where: host,
  });
}

export function toLoginError(host: string, reason: string): Error {
  return createError('registry/login', {
    message: `Cannot log in to "${host}": ${reason}`,
    hint: `Log in: \`modelport login ${host}\``,
    where: host,
  });
}

/** There is a login, which was kept from a token service that nobody vouches for, and without it there is no way. */
export function toDistrustError(host: string, realmHost: string, reason: string): Error {
  return createError('registry/login', {
    message: `Cannot log in to "${host}": it sends logins to "${realmHost}", which is another host and did not get yours; ${reason}`,
    hint: `If "${realmHost}" belongs to the registry, add it to \`token_hosts\` of the configuration`,
    where: host,
  });
}
