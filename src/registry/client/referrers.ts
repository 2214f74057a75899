import { createError, type Descriptor, type Digest, isJsonObject, isToolkitError, type Limits } from '../../core/index.js';
import { mediaTypes, parseManifest, type ParsedRoot, toJsonBytes } from '../../oci/index.js';
import type { ApiCall, Connection } from './connection.js';
import { endpoint } from './endpoint.js';
import type { Manifests } from './manifests.js';
import { readPages } from './pages.js';
import { toDelay, wait } from '../../http/index.js';

/** Several writers of one fallback tag: whoever finds its entry gone writes again. */
const mostWrites = 20;

/** What points to packages of one repository. (distribution-spec 1.1, Listing Referrers, and Backwards Compatibility) */
export class Referrers {
  readonly #connection: Connection;
  readonly #repository: string;
  readonly #manifests: Manifests;
  readonly #limits: Limits;
  readonly #signal: AbortSignal | undefined;

  constructor(connection: Connection, repository: string, manifests: Manifests, limits: Limits, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#repository = repository;
    this.#manifests = manifests;
    this.#limits = limits;
    this.#signal = signal;
  }

  /** Of the API where there is one, else of the tag that stands in for it. */
  async list(subject: Digest, artifactType?: string): Promise<readonly Descriptor[]> {
    const found = (await this.#listByApi(subject, artifactType)) ?? (await this.#readTag(subject));
    return artifactType === undefined ? found : found.filter((each) => each.artifactType === artifactType);
  }

  async #listByApi(subject: Digest, artifactType: string | undefined): Promise<Descriptor[] | undefined> {
    const { host } = this.#connection.address;
    const call: ApiCall = {
      action: `list what is attached to ${subject} in "${host}/${this.#repository}"`,
      method: 'GET',
      target: endpoint.referrers(this.#repository, subject, artifactType === undefined ? '' : `?artifactType=${encodeURIComponent(artifactType)}`),
      scopes: [{ kind: 'repository', name: this.#repository, actions: ['pull'] }],
      accepts: [200, 404],
      headers: { accept: mediaTypes.index },
      signal: this.#signal,
    };
    let found: Descriptor[] | undefined;
    try {
      for await (const page of readPages(this.#connection, call, this.#limits)) {
        if (!isJsonObject(page) || !Array.isArray(page['manifests'])) return undefined;
        found = [...(found ?? []), ...listManifests(parseManifest(toJsonBytes(page), `${host} referrers`, this.#limits))];
        if (found.length > this.#limits.manifestLayers) throw tooMany(subject, this.#limits.manifestLayers);
      }
    } catch (error) {
      // Some registries answer what they do not know by a page for browsers.
      if (found === undefined && isToolkitError(error, 'registry/bad-answer')) return undefined;
      throw error;
    }
    return found;
  }

  async #readTag(subject: Digest): Promise<readonly Descriptor[]> {
    const found = await this.#manifests.find(toFallbackTag(subject));
    return found === undefined ? [] : listManifests(found.parsed);
  }

  /** For a registry that took no note of a subject: the entry is there when this is done, whoever else writes. */
  async note(subject: Digest, referrer: Descriptor): Promise<void> {
    await this.#change(
      subject,
      (entries) => [...entries.filter((each) => each.digest !== referrer.digest), referrer],
      (entries) => entries.some((each) => each.digest === referrer.digest),
    );
  }

  async forget(subject: Digest, referrer: Digest): Promise<void> {
    if (!(await this.#readTag(subject)).some((each) => each.digest === referrer)) return;
    await this.#change(
      subject,
      (entries) => entries.filter((each) => each.digest !== referrer),
      (entries) => entries.every((each) => each.digest !== referrer),
    );
  }

  /**
   * A registry that knows conditions refuses a write that would undo another one's; for all others the tag is looked at again after the
   * write.
   */
  async #change(
    subject: Digest,
    change: (entries: readonly Descriptor[]) => readonly Descriptor[],
    isDone: (entries: readonly Descriptor[]) => boolean,
  ): Promise<void> {
    const tag = toFallbackTag(subject);
    for (let write = 1; write <= mostWrites; write++) {
      const before = await this.#manifests.find(tag);
      const manifests = change(before === undefined ? [] : listManifests(before.parsed));
      const bytes = toJsonBytes({ schemaVersion: 2, mediaType: mediaTypes.index, manifests });
      const answer = await this.#manifests.put(tag, bytes, mediaTypes.index, before === undefined ? 'absent' : before.etag);
      if (answer.kind === 'taken' && isDone(await this.#readTag(subject))) return;
      await wait(toDelay(2, this.#connection.retry), this.#signal);
    }
    throw createError('registry/refused', {
      message: `Cannot attach to ${subject}: others keep writing the tag ${tag} of "${this.#connection.address.host}/${this.#repository}"`,
      hint: 'Run the same command again',
    });
  }
}

function listManifests(parsed: ParsedRoot): readonly Descriptor[] {
  return parsed.kind === 'index' ? parsed.index.manifests : [];
}

/** `sha256-<hex>`, both parts cut to the length that the specification gives them. */
export function toFallbackTag(subject: Digest): string {
  const [algorithm = '', encoded = ''] = subject.split(':');
  return `${algorithm.slice(0, 32)}-${encoded.slice(0, 64)}`;
}

export function isFallbackTag(tag: string): boolean {
  return /^sha(256|512)-[0-9a-f]{64}$/.test(tag);
}

/** What a list of referrers says of a manifest. (distribution-spec 1.1, Listing Referrers) */
export function toReferrer(parsed: ParsedRoot, descriptor: Descriptor): Descriptor {
  const { artifactType, annotations } = parsed.kind === 'manifest' ? parsed.manifest : parsed.index;
  const type = artifactType ?? (parsed.kind === 'manifest' ? parsed.manifest.config.mediaType : undefined);
  return { ...descriptor, ...(type === undefined ? {} : { artifactType: type }), ...(annotations === undefined ? {} : { annotations }) };
}

function tooMany(subject: Digest, limit: number): Error {
  return createError('bytes/limit', { message: `Cannot list what is attached to ${subject}: it is more than ${limit} manifests`, where: subject });
}
