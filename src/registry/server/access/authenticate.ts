import type { RegistryHandler, RegistryRequest, RegistryResponse } from '../http.js';
import { Refusal, type RefusalCode, toAnswer } from '../refusal.js';
import type { AccessSource } from './access-file.js';
import { Doorkeeper } from './doorkeeper.js';
import type { Identity } from './proven-offers.js';
import { findNeed, type Need } from './rights.js';

/** Who may ask what. */
export type Access =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'guarded';
      /** An htpasswd file; whoever stands there may do everything. */
      readonly passwords?: AccessSource | undefined;
      /** Tokens, which are taken as `Bearer` and as the password of any user. */
      readonly tokens?: AccessSource | undefined;
      /** Reading needs no login. */
      readonly anonymousPull: boolean;
    };

export interface AuthenticateOptions {
  /** Told when a file has become wrong while the registry runs. */
  readonly announce?: (problem: string) => void;
  /** Milliseconds, for how long proven credentials are remembered. */
  readonly clock?: () => number;
}

const challenge = { 'WWW-Authenticate': 'Basic realm="modelport"' };

/**
 * Asks for a login. `GET /v2/` always does, also where pulling is free: that is where clients find out that they can log in. `/healthz` and `/readyz`
 * never do. Throws `registry/bad-access-file` when a file is wrong from the start.
 */
export function authenticate(access: Access, next: RegistryHandler, options: AuthenticateOptions = {}): RegistryHandler {
  if (access.kind === 'open') return next;
  const { announce = () => {}, clock = () => performance.now() } = options;
  const doorkeeper = new Doorkeeper({ ...access, announce, clock });
  return async (request) => {
    const need = findNeed(request.method, request.target);
    if (need === 'nothing') return next(request);
    const verdict = await doorkeeper.judge(request.headers.authorization);
    switch (verdict.kind) {
      case 'known':
        return enter(request, verdict.identity, need, next);
      case 'nobody':
        return need === 'pull' && access.anonymousPull ? next(request) : refuse(401, 'UNAUTHORIZED', 'Log in to do this', challenge);
      case 'wrong':
        return refuse(401, 'UNAUTHORIZED', 'The user and password, or the token, are not known here', challenge);
      case 'busy':
        return refuse(429, 'TOOMANYREQUESTS', 'Too many logins at once: try again', { 'Retry-After': '1' });
    }
  };
}

async function enter(request: RegistryRequest, { name, rights }: Identity, need: Need, next: RegistryHandler): Promise<RegistryResponse> {
  const isAllowed = need === 'login' || need === 'nothing' || rights.has(need);
  const response = isAllowed ? await next(request) : refuse(403, 'DENIED', `This login does not allow to ${need}`, {});
  return { ...response, user: name };
}

function refuse(status: number, code: RefusalCode, message: string, headers: Readonly<Record<string, string>>): RegistryResponse {
  return toAnswer(new Refusal(status, code, message, { headers }), { endpoint: 'unknown' });
}
