import type { ByteRange, ByteStream, Descriptor, Digest, NamedDescriptor } from '../../core/index.js';
import { isToolkitError } from '../../core/index.js';
import type { RemoteRepository } from './repository.js';

/** What can be read of a repository. */
export type ReadableRepository = Pick<
  RemoteRepository,
  'findBlob' | 'has' | 'list' | 'listReferrers' | 'open' | 'resolve' | 'remove' | 'host' | 'repository'
>;

/**
 * A repository that is read from its mirrors first, in their order, and from itself where those do not answer, do not have it, or gave wrong bytes
 * before. What a tag means is asked of a mirror too; everything else is held against its digest.
 */
export class MirroredRepository implements ReadableRepository {
  readonly host: string;
  readonly repository: string;
  readonly #origin: RemoteRepository;
  readonly #mirrors: readonly RemoteRepository[];
  /** Which of them a blob comes from; behind the last stands the registry itself. */
  readonly #places = new Map<Digest, number>();
  /** Blobs that were given whole and not verified: whoever asks for one again was not content with what came. */
  readonly #given = new Set<Digest>();
  readonly #fallen = new Set<RemoteRepository>();
  readonly #told = new Set<RemoteRepository>();
  readonly #warn: (host: string, text: string) => void;

  constructor(origin: RemoteRepository, mirrors: readonly RemoteRepository[], warn: (host: string, text: string) => void) {
    this.host = origin.host;
    this.repository = origin.repository;
    this.#origin = origin;
    this.#mirrors = mirrors;
    this.#warn = warn;
  }

  resolve(tag: string): Promise<Descriptor | undefined> {
    return this.#first(0, (repository) => repository.resolve(tag));
  }

  findBlob(digest: Digest): Promise<Descriptor | undefined> {
    return this.#first(0, (repository) => repository.findBlob(digest));
  }

  has(descriptor: Descriptor): Promise<boolean> {
    return this.#origin.has(descriptor);
  }

  async open(descriptor: Descriptor, range?: ByteRange): Promise<ByteStream> {
    const { digest, size } = descriptor;
    if (range !== undefined && range.start === 0 && (range.end ?? size) >= size) {
      if (this.#given.has(digest)) this.#passOver(digest);
      this.#given.add(digest);
    }
    const open = async (repository: RemoteRepository) => begun(await repository.open(descriptor, range));
    const stream = (await this.#first(this.#places.get(digest) ?? 0, open)) ?? (await this.#origin.open(descriptor, range));
    return this.#watched(stream, digest);
  }

  async *#watched(stream: ByteStream, digest: Digest): ByteStream {
    try {
      yield* stream;
    } catch (error) {
      this.#passOver(digest);
      throw error;
    }
  }

  #passOver(digest: Digest): void {
    this.#places.set(digest, (this.#places.get(digest) ?? 0) + 1);
  }

  list(): Promise<readonly NamedDescriptor[]> {
    return this.#origin.list();
  }

  listReferrers(subject: Digest, artifactType?: string): Promise<readonly Descriptor[]> {
    return this.#origin.listReferrers(subject, artifactType);
  }

  remove(reference: string): Promise<boolean> {
    return this.#origin.remove(reference);
  }

  /** The first that has an answer; the origin's failure is the one that counts. */
  async #first<T>(skipped: number, ask: (repository: RemoteRepository) => Promise<T | undefined>): Promise<T | undefined> {
    for (const mirror of this.#mirrors.slice(skipped)) {
      if (this.#fallen.has(mirror)) continue;
      try {
        const answer = await ask(mirror);
        if (answer !== undefined) return answer;
      } catch (error) {
        if (!isToolkitError(error) || ['core/cancelled', 'core/bug'].includes(error.code)) throw error;
        if (error.code === 'registry/unreachable') this.#fallen.add(mirror);
        this.#tell(mirror, error.message);
      }
    }
    return ask(this.#origin);
  }

  /** Once: what is said of one blob holds for the next ones. */
  #tell(mirror: RemoteRepository, reason: string): void {
    if (this.#told.has(mirror)) return;
    this.#told.add(mirror);
    this.#warn(mirror.host, `the mirror does not help, ${this.host} is asked instead: ${reason}`);
  }
}

/** A stream whose first bytes are there, so that a server that does not have the blob is found out while another can still be asked. */
async function begun(stream: ByteStream): Promise<ByteStream> {
  const iterator = stream[Symbol.asyncIterator]();
  const first = await iterator.next();
  return rest(first, iterator);
}

async function* rest(first: IteratorResult<Uint8Array>, iterator: AsyncIterator<Uint8Array>): ByteStream {
  try {
    for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
