import { collect, digestOf, fromBytes, mapConcurrent, openContent, verified } from '../../bytes/index.js';
import {
  type BlobContent,
  type ByteCounters,
  type ByteRange,
  type ByteStream,
  type ContentStore,
  createError,
  type Descriptor,
  type Digest,
  type DigestCache,
  isDigest,
  isJsonObject,
  isToolkitError,
  type Limits,
  type NamedDescriptor,
  parseDigest,
  type PutOptions,
  type ReferrerSource,
  type StoredBlob,
} from '../../core/index.js';
import { emptyJson, findSubject, isIndexType, isManifestType, mediaTypes, parseManifest } from '../../oci/index.js';
import { type BlobPlace, fetchBlobRange, readBlobRange } from './blob-fetch.js';
import { findBlobSize, hasBlob } from './blob-head.js';
import type { BlobPlaces } from './blob-places.js';
import { pushBlob } from './blob-push.js';
import { BlobWindows } from './blob-windows.js';
import type { Connection } from './connection.js';
import { endpoint } from './endpoint.js';
import { isTagName } from './grammar.js';
import { Manifests } from './manifests.js';
import { readPages } from './pages.js';
import { isFallbackTag, Referrers, toReferrer } from './referrers.js';
import { untag } from './untag.js';
import type { UploadJournal } from './upload-journal.js';

export interface RepositoryOptions {
  readonly limits: Limits;
  readonly counters: ByteCounters;
  readonly journal: UploadJournal;
  readonly places: BlobPlaces;
  /** Remembers digests of local files, so that what did not change is not read. */
  readonly digests?: DigestCache | undefined;
  /** Of a mirror: the host of the registry that it stands in for. (`ns`, as containerd sends it) */
  readonly namespace?: string;
  /** Requests at a time for lists. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** A repository of a registry as a store. Names are its tags. Nothing has to be closed but the client that made it. */
export class RemoteRepository implements ContentStore, ReferrerSource {
  readonly host: string;
  readonly repository: string;
  readonly #connection: Connection;
  readonly #options: RepositoryOptions;
  readonly #manifests: Manifests;
  readonly #referrers: Referrers;
  readonly #windows: BlobWindows;

  constructor(connection: Connection, repository: string, options: RepositoryOptions) {
    const { limits, signal } = options;
    this.host = connection.address.host;
    this.repository = repository;
    this.#connection = connection;
    this.#options = options;
    this.#manifests = new Manifests(connection, repository, toQuery(options.namespace), limits, signal);
    this.#referrers = new Referrers(connection, repository, this.#manifests, limits, signal);
    this.#windows = new BlobWindows((descriptor, start, end) => readBlobRange(this.#place(), descriptor, start, end));
  }

  #place(): BlobPlace {
    const { signal, namespace } = this.#options;
    return { connection: this.#connection, repository: this.repository, signal, query: toQuery(namespace) };
  }

  async resolve(tag: string): Promise<Descriptor | undefined> {
    return (await this.#manifests.find(tag))?.descriptor;
  }

  /** A manifest by its digest; blobs are not looked for. */
  async findBlob(digest: Digest): Promise<Descriptor | undefined> {
    return (await this.#manifests.find(digest))?.descriptor;
  }

  /** What is no manifest, by its digest alone. */
  async findLayer(digest: Digest): Promise<Descriptor | undefined> {
    const size = await findBlobSize(this.#connection, this.repository, digest, this.#options.signal);
    return size === undefined ? undefined : { mediaType: mediaTypes.octetStream, digest, size };
  }

  async has(descriptor: Descriptor): Promise<boolean> {
    if (isManifest(descriptor.mediaType)) return this.#manifests.has(descriptor.digest);
    return hasBlob(this.#connection, this.repository, descriptor, this.#options.signal);
  }

  async open(descriptor: Descriptor, range?: ByteRange): Promise<ByteStream> {
    parseDigest(descriptor.digest);
    if (isManifest(descriptor.mediaType)) return this.#openManifest(descriptor, range);
    const whole = { start: range?.start ?? 0, end: Math.min(range?.end ?? descriptor.size, descriptor.size) };
    if (range !== undefined && whole.end - whole.start < descriptor.size && BlobWindows.serves(range, descriptor))
      return fromBytes(await this.#windows.read(descriptor, range));
    const stream = fetchBlobRange(this.#place(), descriptor, whole.start, whole.end);
    return range === undefined ? verified(stream, descriptor, `the blob ${descriptor.digest} of ${this.host}`, this.#options.counters) : stream;
  }

  /** Some registries keep manifests that nothing names among the blobs. */
  async #openManifest(descriptor: Descriptor, range: ByteRange | undefined): Promise<ByteStream> {
    const { manifestBytes } = this.#options.limits;
    const bytes =
      (await this.#manifests.find(descriptor.digest))?.bytes ??
      (await collect(await this.open({ ...descriptor, mediaType: mediaTypes.octetStream }), manifestBytes, descriptor.digest));
    if (range !== undefined) return fromBytes(bytes.subarray(range.start, range.end));
    return verified(fromBytes(bytes), descriptor, `the manifest ${descriptor.digest}`);
  }

  async put(content: BlobContent, options: PutOptions = {}): Promise<StoredBlob> {
    if (options.mediaType !== undefined && isManifest(options.mediaType)) return this.#putManifest(content, options.mediaType, options);
    const { counters, journal, digests, places } = this.#options;
    const signal = options.signal ?? this.#options.signal;
    const target = {
      connection: this.#connection,
      repository: this.repository,
      counters,
      journal,
      digests,
      places,
      signal,
      mountFrom: this.#findMount(content),
    };
    return pushBlob(target, content, options);
  }

  /** A blob that comes from the same registry need not travel. */
  #findMount(content: BlobContent): string | undefined {
    const source = content.kind === 'blob' ? content.blobs : undefined;
    const isNear = source instanceof RemoteRepository && source.host === this.host && source.repository !== this.repository;
    return isNear ? source.repository : undefined;
  }

  async #putManifest(content: BlobContent, mediaType: string, { expected, progress }: PutOptions): Promise<StoredBlob> {
    const { limits } = this.#options;
    const stream = openContent(content);
    const bytes = await collect(
      expected === undefined ? stream : verified(stream, expected, `the manifest ${expected.digest}`),
      limits.manifestBytes,
      'the manifest',
    );
    const digest = expected?.digest ?? digestOf(bytes);
    const size = bytes.byteLength;
    const isHeld = await this.#manifests.has(digest);
    // One with a subject is sent all the same: an earlier run may have been stopped before its entry in the fallback tag was written.
    if (!isHeld || findSubject(parseManifest(bytes, digest, limits)) !== undefined) await this.#publish(digest, bytes, mediaType);
    progress?.advance(size);
    return { digest, size, fresh: !isHeld };
  }

  /** A registry that takes no note of a subject gets it noted by hand. */
  async #publish(digest: Digest, bytes: Uint8Array, mediaType: string): Promise<void> {
    const answer = await this.#manifests.put(digest, bytes, mediaType);
    if (answer.kind === 'overtaken' || answer.subjectNoted) return;
    const subject = findSubject(answer.parsed);
    if (subject !== undefined) await this.#referrers.note(subject.digest, toReferrer(answer.parsed, { mediaType, digest, size: bytes.byteLength }));
  }

  async tag(tag: string, descriptor: Descriptor): Promise<void> {
    if ((await this.#manifests.findDigest(tag)) === descriptor.digest) return;
    const bytes = await collect(await this.open(descriptor), this.#options.limits.manifestBytes, descriptor.digest);
    await this.#manifests.put(tag, bytes, descriptor.mediaType);
  }

  /** What a tag points to, asked for without its bytes. */
  async findDigest(tag: string): Promise<Digest | undefined> {
    return this.#manifests.findDigest(tag);
  }

  async *listTags(): AsyncGenerator<string, void, undefined> {
    const { limits, signal } = this.#options;
    const call = {
      action: `list the tags of "${this.host}/${this.repository}"`,
      method: 'GET',
      target: endpoint.tags(this.repository, '?n=1000'),
      scopes: [{ kind: 'repository', name: this.repository, actions: ['pull'] }],
      accepts: [200],
      signal,
    } as const;
    for await (const page of readPages(this.#connection, call, limits)) {
      const tags = isJsonObject(page) ? page['tags'] : undefined;
      for (const tag of Array.isArray(tags) ? tags : []) if (isTagName(tag)) yield tag;
    }
  }

  /** Each tag with its manifest. A tag that goes away meanwhile is left out, as are those that stand in for the referrers API. */
  async list(): Promise<readonly NamedDescriptor[]> {
    const { concurrency, limits } = this.#options;
    const tags: string[] = [];
    for await (const tag of this.listTags()) {
      if (isFallbackTag(tag)) continue;
      if (tags.push(tag) > limits.graphNodes) throw tooManyTags(`${this.host}/${this.repository}`, limits.graphNodes);
    }
    const found = await mapConcurrent(tags, concurrency, async (name) => ({ name, descriptor: await this.#resolveListed(name) }));
    return found.flatMap(({ name, descriptor }) => (descriptor === undefined ? [] : [{ name, descriptor }]));
  }

  /** A manifest that cannot be read is one all the same: others are to be listed, and this one may have to be removed. */
  async #resolveListed(tag: string): Promise<Descriptor | undefined> {
    try {
      return await this.resolve(tag);
    } catch (error) {
      const digest = isToolkitError(error) && error.exitCode === 1 ? await this.findDigest(tag) : undefined;
      if (digest === undefined) throw error;
      return { mediaType: mediaTypes.octetStream, digest, size: 0 };
    }
  }

  listReferrers(subject: Digest, artifactType?: string): Promise<readonly Descriptor[]> {
    return this.#referrers.list(subject, artifactType);
  }

  /** A tag alone, or a manifest with all its tags. False when it was not there. */
  async remove(reference: string): Promise<boolean> {
    if (!isDigest(reference)) return untag(this.#manifests, reference, () => this.put({ kind: 'bytes', bytes: emptyJson }));
    const found = await this.#manifests.find(reference);
    const removed = await this.#manifests.remove(reference);
    const subject = found === undefined ? undefined : findSubject(found.parsed);
    if (removed && found !== undefined && subject !== undefined) await this.#referrers.forget(subject.digest, found.descriptor.digest);
    return removed;
  }
}

function toQuery(namespace: string | undefined): string {
  return namespace === undefined ? '' : `?ns=${encodeURIComponent(namespace)}`;
}

function isManifest(mediaType: string): boolean {
  return isManifestType(mediaType) || isIndexType(mediaType);
}

function tooManyTags(name: string, limit: number): Error {
  return createError('bytes/limit', { message: `Cannot list "${name}": it has more than ${limit} tags`, where: name });
}
