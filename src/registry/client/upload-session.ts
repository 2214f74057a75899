import { createError, type Digest, isDigest, isToolkitError } from '../../core/index.js';
import { readRefusal, toRefusalError } from './answer.js';
import type { Scope } from './auth/auth.js';
import type { ApiCall, Connection } from './connection.js';
import { endpoint, withParameter } from './endpoint.js';
import type { HttpBody, HttpResponse } from '../../http/index.js';

/** Where the next piece of an upload goes, and how much of it the registry has. */
export interface UploadState {
  readonly location: string;
  readonly offset: number;
  /** What the registry asks a piece to be at least. (distribution-spec 1.1, OCI-Chunk-Min-Length) */
  readonly minChunkBytes?: number;
}

export type Begun = { readonly kind: 'mounted'; readonly digest: Digest } | { readonly kind: 'begun'; readonly state: UploadState };

const empty = { 'content-length': '0' } as const;

/** The requests of which an upload consists; none that carries bytes is tried again here. */
export class UploadSession {
  readonly #connection: Connection;
  readonly #repository: string;
  readonly #signal: AbortSignal | undefined;
  readonly #action: string;

  constructor(connection: Connection, repository: string, what: string, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#repository = repository;
    this.#signal = signal;
    this.#action = `push ${what} to "${connection.address.host}/${repository}"`;
  }

  /**
   * Begins an upload; with a digest the registry is asked to take the blob from where it has it, from the repository `from` if
   * one is known. (end-11: what it does not find it answers by a new upload)
   */
  async begin(digest: Digest | undefined, from: string | undefined): Promise<Begun> {
    const mounted = digest === undefined ? undefined : await this.#mount(digest, from);
    return mounted ?? { kind: 'begun', state: await this.start() };
  }

  /** A new upload, of whatever it will be. (end-4a) */
  async start(): Promise<UploadState> {
    const response = await this.#call({ method: 'POST', target: endpoint.uploads(this.#repository), accepts: [202], headers: empty });
    response.drop();
    return this.#toState(response, 0);
  }

  /** Undefined when the registry will not hear of it. */
  async #mount(digest: Digest, from: string | undefined): Promise<Begun | undefined> {
    const query = `?mount=${digest}${from === undefined ? '' : `&from=${encodeURIComponent(from)}`}`;
    const call = {
      method: 'POST',
      target: endpoint.uploads(this.#repository, query),
      accepts: [201, 202, 400, 403, 404, 405],
      headers: empty,
    } as const;
    try {
      const response = await this.#call({ ...call, from });
      response.drop();
      if (response.status === 201) return { kind: 'mounted', digest };
      return response.status === 202 ? { kind: 'begun', state: this.#toState(response, 0) } : undefined;
    } catch (error) {
      // Whoever may write here need not be allowed to read there.
      if (from !== undefined && isToolkitError(error, 'registry/login')) return undefined;
      throw error;
    }
  }

  /** How much the registry has of an upload; undefined when it knows nothing of it any more. (end-13) */
  async findState(location: string): Promise<UploadState | undefined> {
    const response = await this.#call({ method: 'GET', target: location, accepts: [200, 202, 204, 400, 404, 416] });
    response.drop();
    if (response.status >= 400) return undefined;
    const offset = parseOffset(response.headers['range']) ?? 0;
    return { location: response.headers['location'] === undefined ? location : this.#connection.locationOf(response, this.#action), offset };
  }

  /** Undefined when the registry does not take pieces, or not here; then where it stands has to be asked for. (end-5; ECR answers 201) */
  async sendPiece(state: UploadState, body: HttpBody): Promise<UploadState | { readonly kind: 'refused'; readonly status: number }> {
    const { offset } = state;
    const headers = {
      'content-type': 'application/octet-stream',
      ...(body.size === undefined ? {} : { 'content-range': `${offset}-${offset + body.size - 1}` }),
    };
    const response = await this.#call({ method: 'PATCH', target: state.location, accepts: [201, 202, 204, 404, 405, 413, 416, 501], headers, body });
    response.drop();
    if (response.status >= 400) return { kind: 'refused', status: response.status };
    const expected = offset + (body.size ?? 0);
    const confirmed = parseOffset(response.headers['range']);
    const isPlausible = confirmed !== undefined && confirmed >= offset && (body.size === undefined || confirmed <= expected);
    return {
      ...this.#toState(response, isPlausible ? confirmed : expected),
      ...(state.minChunkBytes === undefined ? {} : { minChunkBytes: state.minChunkBytes }),
    };
  }

  /**
   * Ends an upload, by its last bytes or by none. False when the registry does not know it, or not any more: an earlier try may have
   * ended it. (end-6)
   */
  async finish(location: string, digest: Digest, body?: HttpBody): Promise<boolean> {
    const response = await this.#call({
      method: 'PUT',
      target: withParameter(location, 'digest', digest),
      accepts: [201, 204, 400, 404],
      headers: { 'content-type': 'application/octet-stream', ...(body === undefined ? empty : {}) },
      ...(body === undefined ? { tries: true } : { body }),
    });
    if (response.status === 400) throw await this.#toFinishError(response, digest);
    response.drop();
    if (response.status === 404) return false;
    const echoed = response.headers['docker-content-digest'];
    if (!isDigest(echoed) || echoed === digest) return true;
    throw createError('registry/bad-answer', {
      message: `Cannot ${this.#action}: the registry calls it ${echoed}, expected ${digest}`,
      where: digest,
    });
  }

  async #toFinishError(response: HttpResponse, digest: Digest): Promise<Error> {
    const refusal = await readRefusal(response);
    if (!refusal.codes.includes('DIGEST_INVALID')) return toRefusalError(this.#action, refusal, this.#connection.address);
    return createError('bytes/digest-mismatch', {
      message: `Cannot ${this.#action}: the bytes that arrived do not hash to ${digest}`,
      hint: 'The bytes are damaged where they come from (`modelport verify` says so), or were damaged on the way',
      where: digest,
    });
  }

  #call({ from, ...call }: Omit<ApiCall, 'action' | 'scopes'> & { readonly from?: string | undefined }): Promise<HttpResponse> {
    const source: Scope[] = from === undefined ? [] : [{ kind: 'repository', name: from, actions: ['pull'] }];
    const scopes: Scope[] = [{ kind: 'repository', name: this.#repository, actions: ['pull', 'push'] }, ...source];
    return this.#connection.call({
      tries: call.method === 'POST' || call.method === 'GET',
      ...call,
      action: this.#action,
      scopes,
      signal: this.#signal,
    });
  }

  #toState(response: HttpResponse, offset: number): UploadState {
    const least = Number(response.headers['oci-chunk-min-length']);
    return {
      location: this.#connection.locationOf(response, this.#action),
      offset,
      ...(Number.isSafeInteger(least) && least > 0 ? { minChunkBytes: least } : {}),
    };
  }
}

/** `0-N`, both inclusive. Distribution says `0-0` for nothing as well, and a single byte is never confirmed alone. */
function parseOffset(range: string | undefined): number | undefined {
  const last = /^(?:bytes=)?0-(\d{1,15})$/.exec(range?.trim() ?? '')?.[1];
  if (last === undefined) return undefined;
  return last === '0' ? 0 : Number(last) + 1;
}
