import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type UserPassword, parseBasic } from './basic-credentials.js';
import { listen } from './listen.js';
import { signToken, type TokenSigner } from './token-jwt.js';
import { type Access, parseScope } from './token-scope.js';

export interface TokenServerOptions {
  /** User → password. */
  readonly users?: Readonly<Record<string, string>>;
  /** The actions that somebody may ever have; a user all of them, a nameless caller `pull`, unless told otherwise. */
  readonly rights?: (user: string | undefined, scope: Access) => readonly string[];
  /** In seconds, 300 without it. 'unsaid' leaves it out of the answer: 60 then. */
  readonly expiresIn?: number | 'unsaid';
  readonly service?: string;
  readonly issuer?: string;
  /** Answers POST (OAuth2) as well; 404 otherwise, as older services do. */
  readonly oauth2?: boolean;
  /** Where GET puts the token. */
  readonly field?: 'token' | 'access_token';
  /** Tokens are signed JWTs with it, opaque without it. */
  readonly signer?: TokenSigner;
  /** Milliseconds since 1970: tokens end by this clock. */
  readonly now?: () => number;
  /** Answered instead of a token. */
  readonly failStatus?: (request: TokenRequest) => number | undefined;
  /** Changes the answer on its way out; a string goes out as it is. */
  readonly answer?: (answer: Readonly<Record<string, unknown>>) => unknown;
}

/** One request to the token service, without its secrets. */
export interface TokenRequest {
  readonly method: string;
  readonly proof: 'nothing' | 'basic' | 'password' | 'refresh_token' | 'unknown';
  readonly user: string | undefined;
  readonly service: string | undefined;
  readonly clientId: string | undefined;
  /** As asked for, one text each. */
  readonly scopes: readonly string[];
  readonly wantsRefreshToken: boolean;
  /** What the answer allows. */
  readonly granted: readonly Access[];
  readonly status: number;
}

export type TokenVerdict =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'valid'; readonly access: readonly Access[] };

export interface TokenServer {
  /** `127.0.0.1:PORT` */
  readonly host: string;
  readonly realm: string;
  readonly service: string;
  readonly issuer: string;
  readonly requests: readonly TokenRequest[];
  /** What an access token is worth at this moment. */
  check(token: string): TokenVerdict;
  /** Every access token given so far ends now; refresh tokens live on. */
  expireAll(): void;
  /** An access token without asking for it. */
  issue(user: string, access: readonly Access[]): string;
  /** A refresh token (`identitytoken` in Docker's config.json). */
  refreshTokenOf(user: string): string;
  close(): Promise<void>;
}

interface Issued {
  readonly access: readonly Access[];
  expiresAt: number;
}

type Proof = Pick<TokenRequest, 'proof' | 'user'> & { readonly accepted: boolean };

const formLimit = 64 * 1024;
const everyAction = ['pull', 'push', 'delete', '*'];

/** A token service as the Docker token specification describes it: GET with Basic credentials or none, POST as OAuth2. */
export async function startTokenServer(options: TokenServerOptions = {}): Promise<TokenServer> {
  const desk = new TokenDesk(options);
  const server = createServer((request, response) => {
    desk.serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const listening = await listen(server);
  const host = `127.0.0.1:${listening.port}`;
  return {
    host,
    realm: `http://${host}/token`,
    service: desk.service,
    issuer: desk.issuer,
    requests: desk.requests,
    check: (token) => desk.check(token),
    expireAll: () => desk.expireAll(),
    issue: (user, access) => desk.issue(user, access),
    refreshTokenOf: (user) => desk.issueRefreshToken(user),
    close: () => listening.close(),
  };
}

class TokenDesk {
  readonly requests: TokenRequest[] = [];
  readonly service: string;
  readonly issuer: string;
  readonly #issued = new Map<string, Issued>();
  readonly #refreshTokens = new Map<string, string>();

  constructor(private readonly options: TokenServerOptions) {
    this.service = options.service ?? 'test-registry';
    this.issuer = options.issuer ?? 'test-issuer';
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://token.test');
    const isForm = request.method === 'POST' && this.options.oauth2 !== false;
    if (url.pathname !== '/token' || (request.method !== 'GET' && !isForm)) return send(response, 404, { details: 'no such page' });
    const fields = isForm ? new URLSearchParams(await readForm(request)) : url.searchParams;
    const proof = isForm ? this.#judgeForm(fields) : this.#judgeBasic(request.headers.authorization);
    const scopes = fields.getAll('scope').flatMap((text) => text.split(' ').filter((scope) => scope !== ''));
    const asked: Omit<TokenRequest, 'status'> = {
      method: request.method ?? '',
      proof: proof.proof,
      user: proof.user,
      service: fields.get('service') ?? undefined,
      clientId: fields.get('client_id') ?? undefined,
      scopes,
      wantsRefreshToken: fields.get('offline_token') === 'true' || fields.get('access_type') === 'offline',
      granted: proof.accepted ? this.#grant(proof.user, scopes) : [],
    };
    const status = this.options.failStatus?.({ ...asked, status: 0 }) ?? (asked.service === this.service ? (proof.accepted ? 200 : 401) : 400);
    this.requests.push({ ...asked, status });
    if (status !== 200) return send(response, status, { details: status === 401 ? 'wrong credentials' : 'the service cannot answer this' });
    const answer = this.#toAnswer(asked, isForm);
    send(response, 200, this.options.answer === undefined ? answer : this.options.answer(answer));
  }

  check(token: string): TokenVerdict {
    const issued = this.#issued.get(token);
    if (issued === undefined) return { kind: 'unknown' };
    return issued.expiresAt <= this.#now() ? { kind: 'expired' } : { kind: 'valid', access: issued.access };
  }

  expireAll(): void {
    for (const issued of this.#issued.values()) issued.expiresAt = 0;
  }

  issue(user: string, access: readonly Access[]): string {
    const lifetime = this.#lifetime();
    const issuedAt = Math.floor(this.#now() / 1000);
    const { signer } = this.options;
    const claims = { issuer: this.issuer, service: this.service, user, issuedAt, expiresAt: issuedAt + lifetime, access };
    const token = signer === undefined ? randomBytes(32).toString('base64url') : signToken(signer, claims);
    this.#issued.set(token, { access, expiresAt: this.#now() + lifetime * 1000 });
    return token;
  }

  issueRefreshToken(user: string): string {
    const token = `refresh-${randomBytes(24).toString('base64url')}`;
    this.#refreshTokens.set(token, user);
    return token;
  }

  #now(): number {
    return this.options.now?.() ?? Date.now();
  }

  #lifetime(): number {
    const { expiresIn = 300 } = this.options;
    return expiresIn === 'unsaid' ? 60 : expiresIn;
  }

  #judgeBasic(header: string | undefined): Proof {
    if (header === undefined) return { proof: 'nothing', user: undefined, accepted: true };
    const credentials = parseBasic(header);
    return { proof: credentials === undefined ? 'unknown' : 'basic', user: credentials?.user, accepted: this.#knows(credentials) };
  }

  #judgeForm(fields: URLSearchParams): Proof {
    const grant = fields.get('grant_type');
    if (grant === 'refresh_token') {
      const user = this.#refreshTokens.get(fields.get('refresh_token') ?? '');
      return { proof: 'refresh_token', user, accepted: user !== undefined };
    }
    if (grant !== 'password') return { proof: 'unknown', user: undefined, accepted: false };
    const user = fields.get('username') ?? '';
    return { proof: 'password', user, accepted: this.#knows({ user, password: fields.get('password') ?? '' }) };
  }

  #knows(credentials: UserPassword | undefined): boolean {
    return credentials !== undefined && this.options.users?.[credentials.user] === credentials.password;
  }

  /** Fewer rights than asked for are no error here: the registry says so later. */
  #grant(user: string | undefined, scopes: readonly string[]): Access[] {
    const rights = this.options.rights ?? ((who) => (who === undefined ? ['pull'] : everyAction));
    return scopes.flatMap((text) => {
      const scope = parseScope(text);
      const actions = scope?.actions.filter((action) => rights(user, scope).includes(action)) ?? [];
      return scope === undefined || actions.length === 0 ? [] : [{ ...scope, actions }];
    });
  }

  #toAnswer(asked: Omit<TokenRequest, 'status'>, isForm: boolean): Record<string, unknown> {
    const token = this.issue(asked.user ?? '', asked.granted);
    return {
      [isForm ? 'access_token' : (this.options.field ?? 'token')]: token,
      ...(this.options.expiresIn === 'unsaid' ? {} : { expires_in: this.#lifetime() }),
      issued_at: new Date(this.#now()).toISOString(),
      ...(asked.wantsRefreshToken && asked.user !== undefined ? { refresh_token: this.issueRefreshToken(asked.user) } : {}),
    };
  }
}

async function readForm(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > formLimit) throw new Error(`Cannot read the form: it is larger than ${formLimit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
