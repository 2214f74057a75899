import { digestOf, fromBytes } from '../../bytes/index.js';
import { createError, type Descriptor, type Digest, isDigest, type Limits, splitDigest } from '../../core/index.js';
import { mediaTypes, parseManifest, type ParsedRoot } from '../../oci/index.js';
import { createHash } from 'node:crypto';
import { assertIsNoPage } from './answer.js';
import type { Scope } from './auth/auth.js';
import type { ApiCall, Connection } from './connection.js';
import { endpoint } from './endpoint.js';
import type { HttpResponse } from '../../http/index.js';
import { fetchWhole, type WholeAnswer } from './whole-answer.js';

/** Everything that circulates; a registry answers with what it has. */
const accept = [mediaTypes.manifest, mediaTypes.index, mediaTypes.dockerManifest, mediaTypes.dockerIndex, '*/*;q=0.1'].join(', ');

export interface FetchedManifest {
  readonly descriptor: Descriptor;
  readonly bytes: Uint8Array;
  readonly parsed: ParsedRoot;
  /** Of a registry that marks the state of a tag, for writing it again only if nobody else did. Weak ones are good for nothing there. */
  readonly etag?: string;
}

export type PutAnswer =
  | { readonly kind: 'taken'; readonly parsed: ParsedRoot; /** The registry took note of its subject. */ readonly subjectNoted: boolean }
  /** The condition does not hold. */
  | { readonly kind: 'overtaken' };

/** Manifests of one repository. */
export class Manifests {
  readonly #connection: Connection;
  readonly #repository: string;
  readonly #query: string;
  readonly #limits: Limits;
  readonly #signal: AbortSignal | undefined;
  /** Of the last ones, so that what was just resolved or put is not fetched again. */
  readonly #recent = new Map<Digest, FetchedManifest>();

  /** `query` is added to what is read. */
  constructor(connection: Connection, repository: string, query: string, limits: Limits, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#repository = repository;
    this.#query = query;
    this.#limits = limits;
    this.#signal = signal;
  }

  /** By tag or digest, held against the digest that was asked for or announced. Undefined when there is none. */
  async find(reference: string): Promise<FetchedManifest | undefined> {
    const known = isDigest(reference) ? this.#recent.get(reference) : undefined;
    if (known !== undefined) return known;
    const name = `${this.#connection.address.host}/${this.#repository}${isDigest(reference) ? '@' : ':'}${reference}`;
    const call: ApiCall = {
      action: `read "${name}"`,
      method: 'GET',
      target: endpoint.manifest(this.#repository, reference) + this.#query,
      scopes: this.#scopes('pull'),
      accepts: [200, 404],
      headers: { accept },
      signal: this.#signal,
    };
    const answer = await fetchWhole(this.#connection, call, this.#limits.manifestBytes, `the manifest "${name}"`);
    return answer.status === 404 ? undefined : this.#keep(this.#judge(answer, reference, name));
  }

  #judge({ headers, bytes }: WholeAnswer, reference: string, name: string): FetchedManifest {
    assertIsNoPage(headers['content-type'], bytes, `read "${name}"`);
    const announced = headers['docker-content-digest'];
    const promised = isDigest(reference) ? reference : isDigest(announced) ? announced : undefined;
    const digest = promised === undefined ? digestOf(bytes) : digestAs(promised, bytes);
    if (promised !== undefined && digest !== promised) {
      throw createError('bytes/digest-mismatch', {
        message: `Cannot use the manifest "${name}": expected ${promised}, found ${digest}`,
        hint: 'The registry, or something between here and there, changed it',
        where: promised,
      });
    }
    const parsed = parseManifest(bytes, name, this.#limits);
    const mediaType = agreedType(parsed, mediaTypeOf(headers['content-type']), name);
    const artifactType = parsed.kind === 'manifest' ? parsed.manifest.artifactType : parsed.index.artifactType;
    const descriptor = { mediaType, digest, size: bytes.byteLength, ...(artifactType === undefined ? {} : { artifactType }) };
    const etag = headers['etag'];
    return { bytes, parsed, descriptor, ...(etag === undefined || etag.startsWith('W/') ? {} : { etag }) };
  }

  async has(digest: Digest): Promise<boolean> {
    return (await this.#head(digest)) !== undefined;
  }

  /** What a tag points to, without its bytes; undefined when it is not there, or not said. */
  async findDigest(tag: string): Promise<Digest | undefined> {
    const digest = (await this.#head(tag))?.['docker-content-digest'];
    return isDigest(digest) ? digest : undefined;
  }

  async #head(reference: string): Promise<HttpResponse['headers'] | undefined> {
    const target = endpoint.manifest(this.#repository, reference);
    const action = `look for "${this.#connection.address.host}/${this.#repository}"`;
    const call = { action, target, scopes: this.#scopes('pull'), accepts: [200, 404], headers: { accept }, signal: this.#signal };
    const response = await this.#connection.call({ ...call, method: 'HEAD' });
    response.drop();
    return response.status === 200 ? response.headers : undefined;
  }

  /** Under a tag or its digest; with `over` only if that mark is what stands there, or, for 'absent', nothing. */
  async put(reference: string, bytes: Uint8Array, mediaType: string, over?: string): Promise<PutAnswer> {
    const action = `push the manifest of "${this.#connection.address.host}/${this.#repository}" (${reference})`;
    const parsed = parseManifest(bytes, reference, this.#limits);
    const response = await this.#connection.call({
      action,
      method: 'PUT',
      target: endpoint.manifest(this.#repository, reference),
      scopes: this.#scopes('pull', 'push'),
      accepts: over === undefined ? [201] : [201, 412],
      headers: { 'content-type': mediaType, ...toCondition(over) },
      body: { size: bytes.byteLength, open: async () => fromBytes(bytes) },
      signal: this.#signal,
    });
    response.drop();
    if (response.status === 412) return { kind: 'overtaken' };
    this.#assertUnchanged(response, bytes, action);
    this.#keep({ bytes, parsed, descriptor: { mediaType, digest: digestOf(bytes), size: bytes.byteLength } });
    return { kind: 'taken', parsed, subjectNoted: response.headers['oci-subject'] !== undefined };
  }

  #assertUnchanged({ headers }: HttpResponse, bytes: Uint8Array, action: string): void {
    const echoed = headers['docker-content-digest'];
    if (!isDigest(echoed) || echoed === digestAs(echoed, bytes)) return;
    throw createError('registry/bad-answer', {
      message: `Cannot ${action}: the registry calls it ${echoed}, it is ${digestOf(bytes)}`,
      hint: 'The registry, or something between here and there, changed it',
      where: this.#connection.address.host,
    });
  }

  /** False when it was not there. */
  async remove(reference: string): Promise<boolean> {
    const action = `remove "${this.#connection.address.host}/${this.#repository}${isDigest(reference) ? '@' : ':'}${reference}"`;
    const target = endpoint.manifest(this.#repository, reference);
    const scopes = this.#scopes('pull', 'delete');
    const response = await this.#connection.call({ action, method: 'DELETE', target, scopes, accepts: [200, 202, 404], signal: this.#signal });
    response.drop();
    return response.status !== 404;
  }

  #scopes(...actions: Extract<Scope, { kind: 'repository' }>['actions'][number][]): Scope[] {
    return [{ kind: 'repository', name: this.#repository, actions }];
  }

  #keep(manifest: FetchedManifest): FetchedManifest {
    this.#recent.delete(manifest.descriptor.digest);
    this.#recent.set(manifest.descriptor.digest, manifest);
    for (const oldest of this.#recent.keys()) {
      if ([...this.#recent.values()].reduce((sum, { bytes }) => sum + bytes.byteLength, 0) <= 2 * this.#limits.manifestBytes) break;
      this.#recent.delete(oldest);
    }
    return manifest;
  }
}

/** (RFC 9110, 13.1) */
function toCondition(over: string | undefined): Readonly<Record<string, string>> {
  if (over === undefined) return {};
  return over === 'absent' ? { 'if-none-match': '*' } : { 'if-match': over };
}

function digestAs(like: Digest, bytes: Uint8Array): Digest {
  const { algorithm } = splitDigest(like);
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';')[0]?.trim().toLowerCase();
}

/** Header and document have to agree; a header that says nothing is believed nothing. (CVE-2021-41190) */
function agreedType(parsed: ParsedRoot, contentType: string | undefined, name: string): string {
  const inside = parsed.kind === 'manifest' ? parsed.manifest.mediaType : parsed.index.mediaType;
  const known = [mediaTypes.manifest, mediaTypes.index, mediaTypes.dockerManifest, mediaTypes.dockerIndex].find((type) => type === contentType);
  const fallback = parsed.kind === 'manifest' ? mediaTypes.manifest : mediaTypes.index;
  if (inside === undefined || known === undefined || inside === known) return inside ?? known ?? fallback;
  throw createError('oci/bad-manifest', {
    message: `Cannot use the manifest "${name}": it calls itself ${inside}, the registry calls it ${known}; readers would disagree about what it is`,
    where: name,
  });
}
