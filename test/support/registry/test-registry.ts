import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Behaviour, createBehaviour } from './behaviour.js';
import { BlobStorage } from './blob-storage.js';
import { digestOfBytes, isSoundDigest } from './digests.js';
import { Exchange } from './exchange.js';
import { listen, type Listening } from './listen.js';
import { ManifestStorage, type StoredManifest } from './manifest-storage.js';
import { type RegistryAuth } from './registry-auth.js';
import { type RegistryRoom } from './registry-room.js';
import { answerRequest } from './registry-routes.js';
import { type LogEntry, matchingEntries } from './request-log.js';
import { sendBlob } from './send-blob.js';
import { UploadSessions } from './upload-sessions.js';
import { type Upload } from './upload-storage.js';

export interface TestRegistryOptions {
  readonly behaviour?: Partial<Behaviour>;
  readonly auth?: RegistryAuth;
  /** Where bytes are kept, and stay after `close`; a temporary folder, gone after it, without it. */
  readonly folder?: string;
  /** A free one without it. */
  readonly port?: number;
  /** PEM texts: https then. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface StoredDescriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface TestRegistry {
  /** `127.0.0.1:PORT` */
  readonly host: string;
  /** With scheme, without a slash at the end. */
  readonly url: string;
  readonly folder: string;
  /** Takes effect with the next request. */
  readonly behaviour: Behaviour;
  /** Every request in the order of arrival. */
  readonly log: readonly LogEntry[];
  /** The second origin that `blobRedirect: 'storage'` sends to, with a log of its own; it knows no authorization. */
  readonly storage: { readonly host: string; readonly log: readonly LogEntry[] };
  /** Requests whose path matches; a text matches where it occurs. */
  received(pattern: RegExp | string): LogEntry[];
  count(method: string, pattern?: RegExp | string): number;
  /** Puts things there without a request. An object becomes JSON. */
  putBlob(repository: string, bytes: Uint8Array | string, algorithm?: string): StoredDescriptor;
  putManifest(repository: string, reference: string, manifest: Uint8Array | string | object, mediaType?: string): StoredDescriptor;
  hasBlob(repository: string, digest: string): boolean;
  /** Of any repository. */
  readBlob(digest: string): Uint8Array;
  manifests(): StoredManifest[];
  findManifest(repository: string, reference: string): StoredManifest | undefined;
  /** What the registry itself stumbled over; the client saw a broken connection. Empty when the registry is right. */
  readonly mishaps: readonly unknown[];
  /** Begun, neither finished nor cancelled. */
  uploads(): Upload[];
  /** Breaks all connections, and listens again on the same port with what is in the folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A registry on loopback that keeps to distribution-spec 1.1, and strays from it only as `behaviour` says. Close it. */
export async function startTestRegistry(options: TestRegistryOptions = {}): Promise<TestRegistry> {
  const registry = new RunningRegistry(options);
  await registry.start();
  return registry;
}

class RunningRegistry implements TestRegistry {
  readonly behaviour: Behaviour;
  readonly log: LogEntry[] = [];
  readonly mishaps: unknown[] = [];
  readonly folder: string;
  storage: { readonly host: string; readonly log: LogEntry[] } = { host: '', log: [] };
  #listening: readonly Listening[] = [];
  #port: number;
  #room: RegistryRoom;
  readonly #underWay = new Set<Promise<void>>();
  readonly #refusals = new WeakMap<object, number>();

  constructor(private readonly options: TestRegistryOptions) {
    this.behaviour = createBehaviour(options.behaviour);
    this.folder = options.folder ?? mkdtempSync(join(tmpdir(), 'registry-'));
    this.#port = options.port ?? 0;
    this.#room = this.#createRoom();
  }

  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get url(): string {
    return `${this.options.tls === undefined ? 'http' : 'https'}://${this.host}`;
  }

  async start(): Promise<void> {
    this.#room = this.#createRoom();
    const answer = (request: IncomingMessage, response: ServerResponse) => this.#track(this.#serve(request, response), response);
    const front: Server = this.options.tls === undefined ? createServer(answer) : createTlsServer(this.options.tls, answer);
    const back = createServer((request, response) => this.#track(this.#serveStored(request, response), response));
    const listening = await Promise.all([listen(front, this.#port), listen(back)]);
    this.#listening = listening;
    this.#port = listening[0].port;
    this.storage = { host: `127.0.0.1:${listening[1].port}`, log: this.storage.log };
  }

  async restart(): Promise<void> {
    await this.#stop();
    await this.start();
  }

  async close(): Promise<void> {
    await this.#stop();
    if (this.options.folder === undefined) rmSync(this.folder, { recursive: true, force: true });
  }

  received(pattern: RegExp | string): LogEntry[] {
    return matchingEntries(this.log, pattern);
  }

  count(method: string, pattern: RegExp | string = ''): number {
    return this.received(pattern).filter((entry) => entry.method === method).length;
  }

  putBlob(repository: string, content: Uint8Array | string, algorithm = 'sha256'): StoredDescriptor {
    const bytes = Buffer.from(content);
    const digest = digestOfBytes(bytes, algorithm);
    this.#room.blobs.put(repository, digest, bytes);
    return { mediaType: 'application/octet-stream', digest, size: bytes.length };
  }

  putManifest(repository: string, reference: string, manifest: Uint8Array | string | object, mediaType?: string): StoredDescriptor {
    const isText = typeof manifest === 'string' || manifest instanceof Uint8Array;
    const bytes = Buffer.from(isText ? manifest : JSON.stringify(manifest));
    const said = isText || !('mediaType' in manifest) ? undefined : String(manifest.mediaType);
    const type = mediaType ?? said ?? 'application/vnd.oci.image.manifest.v1+json';
    const digest = isSoundDigest(reference) ? reference : digestOfBytes(bytes);
    this.#room.manifests.put(repository, digest, type, bytes);
    if (!isSoundDigest(reference)) this.#room.manifests.tag(repository, reference, digest);
    return { mediaType: type, digest, size: bytes.length };
  }

  hasBlob(repository: string, digest: string): boolean {
    return this.#room.blobs.find(repository, digest) !== undefined;
  }

  readBlob(digest: string): Uint8Array {
    return this.#room.blobs.read(digest);
  }

  manifests(): StoredManifest[] {
    return this.#room.blobs.repositories().flatMap((repository) => this.#room.manifests.list(repository));
  }

  findManifest(repository: string, reference: string): StoredManifest | undefined {
    return this.#room.manifests.find(repository, reference);
  }

  uploads(): Upload[] {
    return this.#room.blobs.repositories().flatMap((repository) => this.#room.uploads.list(repository));
  }

  #createRoom(): RegistryRoom {
    return {
      blobs: new BlobStorage(this.folder),
      manifests: new ManifestStorage(this.folder),
      uploads: new UploadSessions(this.folder),
      auth: this.options.auth ?? { kind: 'none' },
      storageUrl: (digest) => `http://${this.storage.host}/${digest}?signature=secret`,
    };
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#listening.map((one) => one.close()));
    await Promise.all(this.#underWay);
  }

  #track(serving: Promise<void>, response: ServerResponse): void {
    const giveUp = (error: unknown) => {
      if (response.socket?.destroyed === false) this.mishaps.push(error);
      response.destroy();
    };
    const settled = serving.catch(giveUp).finally(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = new Exchange(request, response, this.behaviour);
    this.log.push(exchange.entry);
    if (!this.#refuse(exchange)) await answerRequest(exchange, this.#room);
    // What nobody took is read all the same, so that the client gets to the answer.
    request.resume();
  }

  #refuse(exchange: Exchange): boolean {
    const { rateLimit, failStatus } = this.behaviour;
    const refused = rateLimit === undefined ? 0 : (this.#refusals.get(rateLimit) ?? 0);
    if (rateLimit !== undefined && refused < rateLimit.times) {
      this.#refusals.set(rateLimit, refused + 1);
      const header = rateLimit.retryAfter === '' ? {} : { 'retry-after': rateLimit.retryAfter };
      exchange.fail(429, 'TOOMANYREQUESTS', 'too many requests', header);
      return true;
    }
    const status = failStatus?.(exchange.entry);
    if (status !== undefined) exchange.fail(status, status === 403 ? 'DENIED' : 'UNKNOWN', `the test wants ${status}`);
    return status !== undefined;
  }

  async #serveStored(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = new Exchange(request, response, this.behaviour);
    this.storage.log.push(exchange.entry);
    const digest = exchange.entry.path.slice(1);
    const { blobs } = this.#room;
    const holder = isSoundDigest(digest) ? blobs.holdersOf(digest)[0] : undefined;
    const blob = holder === undefined ? undefined : blobs.find(holder, digest);
    if (blob === undefined) exchange.answer(404, { 'content-type': 'application/xml' }, '<Error><Code>NoSuchKey</Code></Error>');
    else await sendBlob(exchange, digest, blob, {});
    request.resume();
  }
}
