import { collect } from '../../bytes/index.js';
import { type ByteStream, type Descriptor, type Digest, errorCodes, type GrowingBlob, isDigest, isToolkitError } from '../../core/index.js';
import { Refusal } from './refusal.js';
import type { CountMirrored, Mirror, MirroredManifest, ReadingRoom, ServedBlob } from './room.js';
import { withManifest } from './root-changes.js';
import { createSingleFlight } from './single-flight.js';
import type { Upstream } from './upstream.js';

/** So long a tag is taken to be where it was. */
const tagMs = 30_000;
const mostTags = 10_000;

export function createMirror(room: ReadingRoom, upstream: Upstream, count: CountMirrored): Mirror {
  return new UpstreamMirror(room, upstream, count);
}

class UpstreamMirror implements Mirror {
  readonly count: CountMirrored;
  readonly #room: ReadingRoom;
  readonly #upstream: Upstream;
  readonly #manifests = createSingleFlight<Descriptor | undefined>();
  readonly #blobs = createSingleFlight<Descriptor | undefined>();
  readonly #seen = new Map<string, { readonly descriptor: Descriptor; readonly until: number }>();

  constructor(room: ReadingRoom, upstream: Upstream, count: CountMirrored) {
    this.count = count;
    this.#room = room;
    this.#upstream = upstream;
  }

  async findManifest(repository: string, reference: string, namespace: string | null): Promise<MirroredManifest | undefined> {
    if (namespace !== null && namespace !== this.#upstream.host) return undefined;
    const headers = namespace === null ? {} : { 'OCI-Namespace': namespace };
    const local = await this.#findLocal(repository, reference);
    if (isDigest(reference) && local !== undefined) {
      this.count('hit');
      return { descriptor: local, headers };
    }
    try {
      const flight = `${repository} ${reference}`;
      return { descriptor: await this.#manifests.run(flight, () => this.#fetchManifest(repository, reference)), headers };
    } catch (error) {
      if (local === undefined) throw toRefusal(error, this.#upstream);
      const warning = `299 - "${this.#upstream.host} cannot be asked: this is what it had when it was asked last"`;
      return { descriptor: local, headers: { ...headers, Warning: warning } };
    }
  }

  /** Only what is really here: an index may list manifests that nobody has asked for yet. */
  async #findLocal(repository: string, reference: string): Promise<Descriptor | undefined> {
    const { index, views, store } = this.#room;
    const found = isDigest(reference) ? (await views.of(repository)).manifests.get(reference) : index.current().find(repository)?.tags.get(reference);
    return found !== undefined && (await store.has(found)) ? found : undefined;
  }

  async #fetchManifest(repository: string, reference: string): Promise<Descriptor | undefined> {
    const key = `${repository} ${reference}`;
    const seen = this.#seen.get(key);
    if (seen !== undefined && seen.until > Date.now() && (await this.#room.store.has(seen.descriptor))) return seen.descriptor;
    const found = await this.#upstream.resolve(repository, reference);
    if (found === undefined) return undefined;
    const descriptor = { mediaType: found.mediaType, digest: found.digest, size: found.size };
    await this.#keepManifest(repository, descriptor, isDigest(reference) ? [] : [reference]);
    if (isDigest(reference)) return descriptor;
    if (this.#seen.size >= mostTags) this.#seen.clear();
    this.#seen.set(key, { descriptor, until: Date.now() + tagMs });
    return descriptor;
  }

  async #keepManifest(repository: string, descriptor: Descriptor, tags: readonly string[]): Promise<void> {
    const { store, index, limits, views } = this.#room;
    const isHere = await store.has(descriptor);
    this.count(isHere ? 'hit' : 'miss');
    if (!isHere) {
      const stream = await this.#upstream.blobs(repository).open(descriptor);
      const bytes = await collect(stream, limits.manifestBytes, `the manifest ${descriptor.digest}`);
      await store.put({ kind: 'bytes', bytes }, { expected: descriptor });
    }
    // What an index of the repository lists needs no root of its own.
    if (tags.length === 0 && (await views.of(repository)).manifests.has(descriptor.digest)) return;
    await store.changeRoots((roots) => withManifest(roots, repository, tags, descriptor, index.placeOf));
  }

  async findBlob(repository: string, digest: Digest): Promise<ServedBlob | undefined> {
    try {
      const descriptor = await this.#blobs.run(`${repository} ${digest}`, () => this.#upstream.findBlob(repository, digest));
      if (descriptor === undefined) return undefined;
      return { size: descriptor.size, open: (start, end) => this.#open(repository, descriptor, start, end) };
    } catch (error) {
      throw toRefusal(error, this.#upstream);
    }
  }

  async #open(repository: string, descriptor: Descriptor, start: number, end: number): Promise<ByteStream> {
    const { store } = this.#room;
    this.count('miss');
    await store.claim(repository, descriptor.digest);
    const relayed = store.relay({ kind: 'blob', blobs: this.#upstream.blobs(repository), descriptor });
    const growing = await relayed.catch((error: unknown) => this.#fail(descriptor, error));
    return readGrowing(growing, start, end, (error) => this.#fail(descriptor, error));
  }

  #fail({ digest }: Descriptor, error: unknown): never {
    const reason = error instanceof Error ? error.message : String(error);
    this.#room.announce({ level: 'warning', code: 'registry/mirror', message: `Cannot fetch ${digest} from ${this.#upstream.host}: ${reason}` });
    throw error;
  }

  async listTags(repository: string): Promise<readonly string[] | undefined> {
    try {
      return await this.#upstream.listTags(repository);
    } catch (error) {
      if (isOutside(error)) return undefined;
      throw error;
    }
  }

  async fetchReferrers(repository: string, subject: Digest): Promise<void> {
    try {
      for (const referrer of await this.#upstream.listReferrers(repository, subject)) await this.findManifest(repository, referrer.digest, null);
    } catch (error) {
      if (!isOutside(error) && !(error instanceof Refusal)) throw error;
    }
  }
}

/** Three buffers in turn, as a chunk stays valid until the second next one is asked for. */
const bufferBytes = 256 * 1024;

async function* readGrowing(growing: GrowingBlob, start: number, end: number, onFailure: (error: unknown) => never): ByteStream {
  const buffers = [Buffer.allocUnsafe(bufferBytes), Buffer.allocUnsafe(bufferBytes), Buffer.allocUnsafe(bufferBytes)];
  try {
    for (let position = start, turn = 0; position < end; turn++) {
      const buffer = (buffers[turn % buffers.length] as Buffer).subarray(0, Math.min(bufferBytes, end - position));
      const count = await growing.read(buffer, position);
      if (count === 0) return;
      position += count;
      yield buffer.subarray(0, count);
    }
  } catch (error) {
    onFailure(error);
  } finally {
    await growing.close();
  }
}

/** A failure of the network or of the other registry, not one of ours. */
function isOutside(error: unknown): boolean {
  return isToolkitError(error) && error.code.startsWith('registry/') && errorCodes[error.code].exit === 3;
}

function toRefusal(error: unknown, { host }: Upstream): unknown {
  if (!isOutside(error)) return error;
  return new Refusal(502, 'UNKNOWN', `${host}, which this registry mirrors, cannot be asked now, and it is not here`, { cause: error });
}
