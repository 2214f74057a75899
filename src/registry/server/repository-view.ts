import type { Descriptor, Digest } from '../../core/index.js';
import type { ManifestFacts, ManifestShelf } from './manifest-shelf.js';
import { Refusal } from './refusal.js';
import type { Repositories, RepositoryIndex } from './repositories.js';

/** Everything that a repository shows, but for blobs that no manifest names yet. */
export interface RepositoryView {
  readonly manifests: ReadonlyMap<Digest, Descriptor>;
  /** Blobs that its manifests name: how large they say it is, and one of those that name it. */
  readonly blobs: ReadonlyMap<Digest, { readonly size: number; readonly user: Digest }>;
  /** Manifests that an index of the repository lists, with one such index. */
  readonly listed: ReadonlyMap<Digest, Digest>;
  /** By subject, which need not be there. */
  readonly referrers: ReadonlyMap<Digest, readonly Descriptor[]>;
}

export interface Views {
  /** Of a repository as it stands now. Manifests are read where they are not known yet. */
  of(repository: string): Promise<RepositoryView>;
}

const empty: RepositoryView = { manifests: new Map(), blobs: new Map(), listed: new Map(), referrers: new Map() };

export function createViews(index: RepositoryIndex, shelf: ManifestShelf): Views {
  let basis: Repositories | undefined;
  let views = new Map<string, Promise<RepositoryView>>();
  return {
    of: (repository) => {
      const now = index.current();
      if (now !== basis) views = new Map();
      basis = now;
      let view = views.get(repository);
      if (view === undefined) {
        const made = makeView(now, repository, shelf);
        views.set(repository, made);
        made.catch(() => views.delete(repository));
        view = made;
      }
      return view;
    },
  };
}

/** Down from the roots through indexes, and then, again and again, whatever is attached to what was found. */
async function makeView(repositories: Repositories, repository: string, shelf: ManifestShelf): Promise<RepositoryView> {
  const roots = repositories.find(repository);
  if (roots === undefined) return empty;
  const view = new GrowingView(shelf);
  for (const descriptor of roots.manifests.values()) await view.add(descriptor);
  for (let waiting = repositories.free; waiting.length > 0;) {
    const rest = await view.addAttached(waiting);
    if (rest.length === waiting.length) break;
    waiting = rest;
  }
  return view;
}

class GrowingView implements RepositoryView {
  readonly manifests = new Map<Digest, Descriptor>();
  readonly blobs = new Map<Digest, { size: number; user: Digest }>();
  readonly listed = new Map<Digest, Digest>();
  readonly referrers = new Map<Digest, Descriptor[]>();

  constructor(private readonly shelf: ManifestShelf) {}

  async add(root: Descriptor): Promise<void> {
    const waiting = [root];
    for (let descriptor = waiting.pop(); descriptor !== undefined; descriptor = waiting.pop()) {
      if (this.manifests.has(descriptor.digest)) continue;
      this.manifests.set(descriptor.digest, descriptor);
      const facts = await this.#findFacts(descriptor);
      if (facts === undefined) continue;
      this.#note(descriptor, facts);
      waiting.push(...facts.manifests);
    }
  }

  /** Gives those that are attached to nothing here. */
  async addAttached(descriptors: readonly Descriptor[]): Promise<Descriptor[]> {
    const rest: Descriptor[] = [];
    for (const descriptor of descriptors) {
      const subject = (await this.#findFacts(descriptor))?.subject;
      if (subject !== undefined && this.manifests.has(subject)) await this.add(descriptor);
      else rest.push(descriptor);
    }
    return rest;
  }

  /** A damaged one is refused to whoever asks for it; the rest of the repository is served all the same. */
  async #findFacts(descriptor: Descriptor): Promise<ManifestFacts | undefined> {
    try {
      return await this.shelf.findFacts(descriptor);
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  #note({ mediaType, digest, size }: Descriptor, { manifests, blobs, subject, artifactType, annotations }: ManifestFacts): void {
    for (const child of manifests) this.listed.set(child.digest, digest);
    for (const [blob, length] of blobs) this.blobs.set(blob, { size: length, user: digest });
    if (subject === undefined) return;
    const referrer = {
      mediaType,
      digest,
      size,
      ...(artifactType === undefined ? {} : { artifactType }),
      ...(annotations === undefined ? {} : { annotations }),
    };
    const known = this.referrers.get(subject);
    if (known === undefined) this.referrers.set(subject, [referrer]);
    else known.push(referrer);
  }
}
