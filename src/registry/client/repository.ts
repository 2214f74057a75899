import { collect, digestOf, fromBytes, mapConcurrent, openContent, verified } from '../../bytes/index.js';
import {
  type BlobContent,
  type ByteCounters,
  type ByteRange,
  type ByteStream,
  type ContentStore,
  type Descriptor,
  type Digest,
  type DigestCache,
  isJsonObject,
  type KnownDigest,
  type Limits,
  type NamedDescriptor,
  parseReference,
  type PutOptions,
  type ReferrerSource,
  type StoredBlob,
} from '../../core/index.js';
import { findSubject, isIndexType, isManifestType, parseManifest } from '../../oci/index.js';
import { type BlobPlace, fetchBlobRange, readBlobRange } from './blob-fetch.js';
import { BlobWindows } from './blob-windows.js';
import type { Connection } from './connection.js';
import { endpoint } from './endpoint.js';
import { Manifests } from './manifests.js';
import { readPages } from './pages.js';
import { Referrers } from './referrers.js';
import { uploadBlob } from './upload.js';
import { noJournal, type UploadJournal } from './upload-journal.js';

export interface RepositoryOptions {
  readonly limits: Limits;
  readonly counters: ByteCounters;
  readonly journal: UploadJournal;
  /** Remembers digests of local files, so that what did not change is not read. */
  readonly digests?: DigestCache | undefined;
  /** Of a mirror: the host of the registry that it stands in for. (`ns`, as containerd sends it) */
  readonly namespace?: string;
  /** Requests at a time for lists. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** Content whose digest is known, and its bytes where they are in memory. */
interface KnownContent extends KnownDigest {
  readonly held?: BlobContent;
}

/** Small enough to be held: read, hashed and asked for before it is sent. */
const heldBytes = 1024 * 1024;

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

  async has(descriptor: Descriptor): Promise<boolean> {
    return isManifest(descriptor.mediaType) ? this.#manifests.has(descriptor.digest) : this.#hasBlob(descriptor);
  }

  async #hasBlob({ digest }: Pick<Descriptor, 'digest'>): Promise<boolean> {
    const response = await this.#connection.call({
      action: `look for the blob ${digest} in "${this.host}/${this.repository}"`,
      method: 'HEAD',
      target: endpoint.blob(this.repository, digest),
      scopes: [{ kind: 'repository', name: this.repository, actions: ['pull'] }],
      accepts: [200, 404],
      signal: this.#options.signal,
    });
    response.drop();
    return response.status === 200;
  }

  async open(descriptor: Descriptor, range?: ByteRange): Promise<ByteStream> {
    if (isManifest(descriptor.mediaType)) return this.#openManifest(descriptor, range);
    const whole = { start: range?.start ?? 0, end: Math.min(range?.end ?? descriptor.size, descriptor.size) };
    if (range !== undefined && whole.end - whole.start < descriptor.size && BlobWindows.serves(range, descriptor))
      return fromBytes(await this.#windows.read(descriptor, range));
    const stream = fetchBlobRange(this.#place(), descriptor, whole.start, whole.end);
    return range === undefined ? verified(stream, descriptor, `the blob ${descriptor.digest} of ${this.host}`, this.#options.counters) : stream;
  }

  async #openManifest(descriptor: Descriptor, range: ByteRange = { start: 0 }): Promise<ByteStream> {
    const found = await this.#manifests.find(descriptor.digest);
    const bytes =
      found?.bytes ??
      (await collect(
        await this.open({ ...descriptor, mediaType: 'application/octet-stream' }),
        this.#options.limits.manifestBytes,
        descriptor.digest,
      ));
    return verified(
      fromBytes(bytes.subarray(range.start, range.end)),
      range.end === undefined ? descriptor : { ...descriptor, size: bytes.byteLength },
      `the manifest ${descriptor.digest}`,
    );
  }

  async put(content: BlobContent, options: PutOptions = {}): Promise<StoredBlob> {
    if (options.mediaType !== undefined && isManifest(options.mediaType)) return this.#putManifest(content, options.mediaType, options);
    const { digests, counters } = this.#options;
    const identity = digests?.identify(content);
    const remembered: KnownContent | undefined = options.expected ?? (identity === undefined ? undefined : digests?.find(identity));
    const known = remembered ?? (await this.#hold(content));
    if (known !== undefined && (await this.#hasBlob(known))) {
      counters.skipped += known.size;
      return { ...pick(known), fresh: false };
    }
    const blob = await this.#upload(known?.held ?? content, known, identity, options);
    if (identity !== undefined) await digests?.remember(identity, content, blob);
    return blob;
  }

  /** What is small is read once into memory: it may be there already, and asking is cheaper than sending. */
  async #hold(content: BlobContent): Promise<KnownContent | undefined> {
    if (content.kind !== 'bytes' && !(content.kind === 'file' && content.size <= heldBytes)) return undefined;
    const { counters } = this.#options;
    const bytes = content.kind === 'bytes' ? content.bytes : await collect(openContent(content, { counters }), heldBytes, content.path);
    counters.hashed += bytes.byteLength;
    return { digest: digestOf(bytes), size: bytes.byteLength, held: { kind: 'bytes', bytes } };
  }

  async #upload(content: BlobContent, known: KnownDigest | undefined, identity: string | undefined, options: PutOptions): Promise<StoredBlob> {
    const { journal, counters } = this.#options;
    const key = known?.digest ?? identity;
    const entries = key === undefined ? noJournal : journal;
    const { progress } = options;
    const signal = options.signal ?? this.#options.signal;
    const uploaded = await entries.withEntry(`${this.host}\n${this.repository}\n${key ?? ''}`, (entry) =>
      uploadBlob({
        connection: this.#connection,
        repository: this.repository,
        content,
        digest: known?.digest,
        mountFrom: this.#findMount(content),
        journal: entry,
        counters,
        ...(progress === undefined ? {} : { progress }),
        signal,
      }),
    );
    const { mounted, ...blob } = uploaded;
    const diffId = blob.diffId ?? known?.diffId ?? (content.kind === 'tar' && content.compression === 'none' ? blob.digest : undefined);
    if (mounted) counters.skipped += blob.size;
    return { ...blob, ...(diffId === undefined ? {} : { diffId }), fresh: !mounted };
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
    if (await this.#manifests.has(digest)) return { digest, size, fresh: false };
    await this.#publish(digest, bytes, mediaType);
    progress?.advance(size);
    return { digest, size, fresh: true };
  }

  /** A registry that takes no note of a subject gets it noted by hand. */
  async #publish(reference: string, bytes: Uint8Array, mediaType: string): Promise<void> {
    const { subjectNoted } = await this.#manifests.put(reference, bytes, mediaType);
    const parsed = parseManifest(bytes, reference, this.#options.limits);
    const subject = findSubject(parsed);
    if (subject === undefined || subjectNoted) return;
    const { artifactType, annotations } = parsed.kind === 'manifest' ? parsed.manifest : parsed.index;
    const type = artifactType ?? (parsed.kind === 'manifest' ? parsed.manifest.config.mediaType : undefined);
    await this.#referrers.note(subject.digest, {
      mediaType,
      digest: digestOf(bytes),
      size: bytes.byteLength,
      ...(type === undefined ? {} : { artifactType: type }),
      ...(annotations === undefined ? {} : { annotations }),
    });
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
    const call = {
      action: `list the tags of "${this.host}/${this.repository}"`,
      method: 'GET',
      target: endpoint.tags(this.repository, '?n=1000'),
      scopes: [{ kind: 'repository', name: this.repository, actions: ['pull'] }],
      accepts: [200],
      signal: this.#options.signal,
    } as const;
    for await (const page of readPages(this.#connection, call, this.#options.limits)) {
      const tags = isJsonObject(page) ? (page['tags'] ?? []) : undefined;
      for (const tag of Array.isArray(tags) ? tags : []) if (isTag(tag)) yield tag;
    }
  }

  /** Each tag with its manifest. A tag that goes away meanwhile is left out, as are those that stand in for the referrers API. */
  async list(): Promise<readonly NamedDescriptor[]> {
    const tags: string[] = [];
    for await (const tag of this.listTags()) if (!/^sha(256|512)-[0-9a-f]{64}$/.test(tag)) tags.push(tag);
    const found = await mapConcurrent(tags, this.#options.concurrency, async (name) => ({ name, descriptor: await this.resolve(name) }));
    return found.flatMap(({ name, descriptor }) => (descriptor === undefined ? [] : [{ name, descriptor }]));
  }

  listReferrers(subject: Digest, artifactType?: string): Promise<readonly Descriptor[]> {
    return this.#referrers.list(subject, artifactType);
  }

  /** A tag, or a manifest with all its tags. False when it was not there. */
  async remove(reference: string): Promise<boolean> {
    const found = await this.#manifests.find(reference);
    const removed = await this.#manifests.remove(reference);
    const subject = found === undefined ? undefined : findSubject(found.parsed);
    if (removed && subject !== undefined && reference.includes(':'))
      await this.#referrers.forget(subject.digest, (found as { descriptor: Descriptor }).descriptor.digest);
    return removed;
  }
}

function toQuery(namespace: string | undefined): string {
  return namespace === undefined ? '' : `?ns=${encodeURIComponent(namespace)}`;
}

function isManifest(mediaType: string): boolean {
  return isManifestType(mediaType) || isIndexType(mediaType);
}

function pick({ digest, size, diffId }: KnownDigest): KnownDigest {
  return { digest, size, ...(diffId === undefined ? {} : { diffId }) };
}

function isTag(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  try {
    return parseReference(`repository:${value}`).tag === value;
  } catch {
    return false;
  }
}
