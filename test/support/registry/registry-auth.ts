import { parseBasic } from './basic-credentials.js';
import { type Exchange } from './exchange.js';
import { type Access, covers, toScopeText } from './token-scope.js';
import { type TokenServer } from './token-server.js';

export type RegistryAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string }
  /** `realm` and `service` are what the challenge says, the server's own without them. */
  | { readonly kind: 'token'; readonly server: TokenServer; readonly realm?: string; readonly service?: string };

/** Judges one request by what it carries now. False when a 401 has gone out. */
export function authenticate(exchange: Exchange, auth: RegistryAuth, needed: readonly Access[]): boolean {
  if (auth.kind === 'none') return true;
  if (auth.kind === 'token') return authenticateByToken(exchange, auth, needed);
  const credentials = parseBasic(exchange.header('authorization'));
  if (credentials?.user === auth.user && credentials.password === auth.password) return true;
  exchange.fail(401, 'UNAUTHORIZED', 'authentication required', { 'www-authenticate': 'Basic realm="Test registry"' });
  return false;
}

/** Whether somebody who was let in may do this as well. */
export function isAllowed(exchange: Exchange, auth: RegistryAuth, needed: Access): boolean {
  if (auth.kind !== 'token') return true;
  const verdict = auth.server.check(bearerOf(exchange) ?? '');
  return verdict.kind === 'valid' && covers(verdict.access, needed);
}

function authenticateByToken(exchange: Exchange, auth: RegistryAuth & { kind: 'token' }, needed: readonly Access[]): boolean {
  const token = bearerOf(exchange);
  const verdict = token === undefined ? undefined : auth.server.check(token);
  if (verdict?.kind === 'valid' && needed.every((access) => covers(verdict.access, access))) return true;
  const error = verdict === undefined ? undefined : verdict.kind === 'valid' ? 'insufficient_scope' : 'invalid_token';
  exchange.fail(401, 'UNAUTHORIZED', 'authentication required', { 'www-authenticate': toChallenge(auth, needed, error) });
  return false;
}

function bearerOf(exchange: Exchange): string | undefined {
  return /^bearer +(\S+)$/i.exec(exchange.header('authorization') ?? '')?.[1];
}

function toChallenge({ server, realm, service }: RegistryAuth & { kind: 'token' }, needed: readonly Access[], error: string | undefined): string {
  const fields = {
    realm: realm ?? server.realm,
    service: service ?? server.service,
    ...(needed.length === 0 ? {} : { scope: needed.map(toScopeText).join(' ') }),
    ...(error === undefined ? {} : { error }),
  };
  return `Bearer ${Object.entries(fields)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}`;
}
