import { collect, digestOf, fromBytes } from '../../bytes/index.js';
import { createError, type Descriptor, type Digest, isDigest, type Limits, splitDigest } from '../../core/index.js';
import { type Manifest, mediaTypes, parseManifest, type ParsedRoot } from '../../oci/index.js';
import { createHash } from 'node:crypto';
import type { Connection } from './connection.js';
import { endpoint } from './endpoint.js';
import type { HttpResponse } from './http/http.js';
import type { Scope } from './auth/auth.js';

/** Everything that circulates; a registry answers with what it has. */
const accept = [mediaTypes.manifest, mediaTypes.index, mediaTypes.dockerManifest, mediaTypes.dockerIndex, '*/*;q=0.1'].join(', ');

export interface FetchedManifest {
  readonly descriptor: Descriptor;
  readonly bytes: Uint8Array;
  readonly parsed: ParsedRoot;
}

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
    const response = await this.#connection.call({
      action: `read "${name}"`,
      method: 'GET',
      target: endpoint.manifest(this.#repository, reference) + this.#query,
      scopes: this.#scopes('pull'),
      accepts: [200, 404],
      headers: { accept },
      signal: this.#signal,
    });
    try {
      return response.status === 404 ? undefined : this.#keep(await this.#judge(response, reference, name));
    } finally {
      response.drop();
    }
  }

  async #judge(response: HttpResponse, reference: string, name: string): Promise<FetchedManifest> {
    const bytes = await collect(response.body, this.#limits.manifestBytes, `the manifest "${name}"`);
    const announced = response.headers['docker-content-digest'];
    const promised = isDigest(reference) ? reference : isDigest(announced) ? announced : undefined;
    const digest = promised === undefined ? digestOf(bytes) : digestAs(promised, bytes);
    if (promised !== undefined && digest !== promised) {
      throw createError('bytes/digest-mismatch', {
        message: `Cannot use the manifest "${name}": expected ${promised}, found ${digest}`,
        hint: 'The registry, or something between here and there, changed it',
        where: promised,
      });
    }
    const contentType = mediaTypeOf(response.headers['content-type']);
    assertIsNoPage(contentType, bytes, name);
    const parsed = parseManifest(bytes, name, this.#limits);
    const mediaType = agreedType(parsed, contentType, name);
    const artifactType = parsed.kind === 'manifest' ? parsed.manifest.artifactType : parsed.index.artifactType;
    return { bytes, parsed, descriptor: { mediaType, digest, size: bytes.byteLength, ...(artifactType === undefined ? {} : { artifactType }) } };
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

  /** Under a tag or its digest. True when the registry took note of its subject. */
  async put(reference: string, bytes: Uint8Array, mediaType: string): Promise<{ subjectNoted: boolean }> {
    const action = `push the manifest of "${this.#connection.address.host}/${this.#repository}" (${reference})`;
    const response = await this.#connection.call({
      action,
      method: 'PUT',
      target: endpoint.manifest(this.#repository, reference),
      scopes: this.#scopes('pull', 'push'),
      accepts: [201],
      headers: { 'content-type': mediaType },
      body: { size: bytes.byteLength, open: async () => fromBytes(bytes) },
      signal: this.#signal,
    });
    response.drop();
    const echoed = response.headers['docker-content-digest'];
    if (isDigest(echoed) && echoed !== digestAs(echoed, bytes)) {
      throw createError('registry/bad-answer', {
        message: `Cannot ${action}: the registry calls it ${echoed}, it is ${digestOf(bytes)}`,
        hint: 'The registry, or something between here and there, changed it',
        where: this.#connection.address.host,
      });
    }
    this.#keep({
      bytes,
      parsed: parseManifest(bytes, reference, this.#limits),
      descriptor: { mediaType, digest: digestOf(bytes), size: bytes.byteLength },
    });
    return { subjectNoted: response.headers['oci-subject'] !== undefined };
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

export type { Manifest };

function digestAs(like: Digest, bytes: Uint8Array): Digest {
  const { algorithm } = splitDigest(like);
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';')[0]?.trim().toLowerCase();
}

/** A login page with status 200 is no manifest. */
function assertIsNoPage(contentType: string | undefined, bytes: Uint8Array, name: string): void {
  if (contentType?.endsWith('html') !== true && bytes[0] !== 0x3c) return;
  throw createError('registry/bad-answer', {
    message: `Cannot read "${name}": expected a manifest, found a web page`,
    hint: 'The address is not that of a registry, or something between here and there asks for a login',
  });
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
