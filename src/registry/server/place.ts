import { findNotedRepository, isTag, isToolkitError, type NamedDescriptor, parseReference } from '../../core/index.js';

/** Where a root of the store appears: in a repository with or without a tag, nowhere (`hidden`), or wherever its subject is (`free`). */
export type Place =
  | { readonly kind: 'tag'; readonly repository: string; readonly tag: string }
  | { readonly kind: 'untagged'; readonly repository: string }
  | { readonly kind: 'free' }
  | { readonly kind: 'hidden' };

export interface Naming {
  /** Names of these hosts are served too, without the host. */
  readonly hosts: readonly string[];
  /** The repository of roots that say a tag alone, as other tools write layouts; without it they are hidden. */
  readonly ownRepository?: string | undefined;
}

/** Names are many and seldom change. */
const mostRemembered = 200_000;

/** Root → place, with a memory for names. */
export function createPlacer(naming: Naming): (root: NamedDescriptor) => Place {
  const known = new Map<string, Place>();
  return (root) => {
    const { name } = root;
    const noted = findNotedRepository(root);
    if (noted !== undefined) return name === undefined ? { kind: 'untagged', repository: noted } : toTag(noted, name.slice(noted.length + 1));
    if (name === undefined) return naming.ownRepository === undefined ? { kind: 'free' } : { kind: 'untagged', repository: naming.ownRepository };
    let place = known.get(name);
    if (place === undefined) {
      if (known.size >= mostRemembered) known.clear();
      known.set(name, (place = placeNamed(name, naming)));
    }
    return place;
  };
}

function placeNamed(name: string, { hosts, ownRepository }: Naming): Place {
  if (!/[:/]/.test(name)) return toTag(ownRepository, name);
  try {
    const { host, repository, tag, digest } = parseReference(name);
    if (digest !== undefined || tag === undefined || (host !== undefined && !hosts.includes(host))) return { kind: 'hidden' };
    return { kind: 'tag', repository, tag };
  } catch (error) {
    if (isToolkitError(error)) return { kind: 'hidden' };
    throw error;
  }
}

function toTag(repository: string | undefined, tag: string): Place {
  return repository === undefined || !isTag(tag) ? { kind: 'hidden' } : { kind: 'tag', repository, tag };
}

export function isIn(place: Place, repository: string): boolean {
  return (place.kind === 'tag' || place.kind === 'untagged') && place.repository === repository;
}
