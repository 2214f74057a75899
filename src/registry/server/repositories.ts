import type { Descriptor, Digest, NamedDescriptor, RootList } from '../../core/index.js';
import { createPlacer, type Naming, type Place } from './place.js';

/** What the roots say of one repository. */
export interface RepositoryRoots {
  readonly tags: ReadonlyMap<string, Descriptor>;
  /** With those of the tags. */
  readonly manifests: ReadonlyMap<Digest, Descriptor>;
}

export interface Repositories {
  find(repository: string): RepositoryRoots | undefined;
  /** In ASCII order. */
  names(): readonly string[];
  /** Roots that belong to wherever their subject is. */
  readonly free: readonly Descriptor[];
}

export interface RepositoryIndex {
  readonly placeOf: (root: NamedDescriptor) => Place;
  /** As the store stands now: the same object while it is unchanged. */
  current(): Repositories;
}

/** The store's roots, sorted by repository; made anew when they have changed, by whomever. */
export function createRepositoryIndex(store: RootList, naming: Naming): RepositoryIndex {
  const placeOf = createPlacer(naming);
  let roots: readonly NamedDescriptor[] | undefined;
  let sorted: Repositories | undefined;
  return {
    placeOf,
    current: () => {
      const now = store.readRoots();
      if (sorted === undefined || now !== roots) sorted = sortRoots(now, placeOf);
      roots = now;
      return sorted;
    },
  };
}

function sortRoots(roots: readonly NamedDescriptor[], placeOf: (root: NamedDescriptor) => Place): Repositories {
  const all = new Map<string, { tags: Map<string, Descriptor>; manifests: Map<Digest, Descriptor> }>();
  const free: Descriptor[] = [];
  for (const root of roots) {
    const place = placeOf(root);
    if (place.kind === 'free') free.push(root.descriptor);
    if (place.kind === 'free' || place.kind === 'hidden') continue;
    let repository = all.get(place.repository);
    if (repository === undefined) all.set(place.repository, (repository = { tags: new Map(), manifests: new Map() }));
    repository.manifests.set(root.descriptor.digest, root.descriptor);
    if (place.kind === 'tag') repository.tags.set(place.tag, root.descriptor);
  }
  let names: readonly string[] | undefined;
  return { find: (repository) => all.get(repository), names: () => (names ??= [...all.keys()].sort()), free };
}
