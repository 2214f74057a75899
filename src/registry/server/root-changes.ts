import { type Descriptor, type Digest, type NamedDescriptor, repositoryAnnotation } from '../../core/index.js';
import { isIn, type Place } from './place.js';

type Roots = readonly NamedDescriptor[];
type PlaceOf = (root: NamedDescriptor) => Place;

/** The changes that requests make to the roots of a store: pure, so that they can be made while nobody else writes. */

/** A manifest comes into a repository, with these tags or with none. What the tags pointed to before stays, by its digest. */
export function withManifest(roots: Roots, repository: string, tags: readonly string[], descriptor: Descriptor, placeOf: PlaceOf): Roots {
  const own = roots.filter((root) => isIn(placeOf(root), repository));
  const isSame = ({ descriptor: { digest, mediaType } }: NamedDescriptor) => digest === descriptor.digest && mediaType === descriptor.mediaType;
  const tagged = new Map(own.flatMap((root) => toTagged(root, placeOf)));
  if (tags.length === 0 ? own.some(isSame) : tags.every((tag) => isSame(tagged.get(tag) ?? toUntagged(repository, other)))) return roots;
  const replaced = new Set(own.filter((root) => isReplaced(root, tags, descriptor, placeOf)));
  const added = tags.map((tag) => toRoot(tagged.get(tag)?.name ?? `${repository}:${tag}`, repository, tag, descriptor, placeOf));
  // Of two roots with one name only the last would count.
  const names = new Set(added.map(({ name }) => name));
  const kept = roots.filter((root) => !replaced.has(root) && (root.name === undefined || !names.has(root.name)));
  const changed = [...kept, ...(tags.length === 0 ? [toUntagged(repository, descriptor)] : added)];
  return withLost(changed, [...replaced], repository, placeOf);
}

/** With a note where the name alone would be read in another way. */
function toRoot(name: string, repository: string, tag: string, descriptor: Descriptor, placeOf: PlaceOf): NamedDescriptor {
  const plain = { name, descriptor };
  if (isTagOf(placeOf(plain), repository, tag)) return plain;
  return { name, descriptor: { ...descriptor, annotations: { [repositoryAnnotation]: repository } } };
}

/** Stands for a tag that does not exist yet. */
const other: Descriptor = { mediaType: '', digest: `sha256:${'0'.repeat(64)}`, size: 0 };

function toTagged(root: NamedDescriptor, placeOf: PlaceOf): [string, NamedDescriptor][] {
  const place = placeOf(root);
  return place.kind === 'tag' ? [[place.tag, root]] : [];
}

/** Also an untagged root of the same manifest, which a tag makes needless. */
function isReplaced(root: NamedDescriptor, tags: readonly string[], { digest }: Descriptor, placeOf: PlaceOf): boolean {
  const place = placeOf(root);
  return place.kind === 'tag' ? tags.includes(place.tag) : root.descriptor.digest === digest;
}

/** Of several roots with one tag the last counts. */
export function findTagged(roots: Roots, repository: string, tag: string, placeOf: PlaceOf): Descriptor | undefined {
  return roots.findLast((root) => isTagOf(placeOf(root), repository, tag))?.descriptor;
}

/** The tag goes; its manifest stays, by its digest. The same roots when there was no such tag. */
export function withoutTag(roots: Roots, repository: string, tag: string, placeOf: PlaceOf): Roots {
  const gone = roots.filter((root) => isTagOf(placeOf(root), repository, tag));
  if (gone.length === 0) return roots;
  const kept = roots.filter((root) => !gone.includes(root));
  return withLost(kept, gone, repository, placeOf);
}

function isTagOf(place: Place, repository: string, tag: string): boolean {
  return place.kind === 'tag' && place.repository === repository && place.tag === tag;
}

/** A manifest goes, with every tag that points to it. The same roots when there was no such root; `free` ones go from everywhere. */
export function withoutManifest(roots: Roots, repository: string, digest: Digest, placeOf: PlaceOf): Roots {
  const isGone = (root: NamedDescriptor) => root.descriptor.digest === digest && (isIn(placeOf(root), repository) || placeOf(root).kind === 'free');
  return roots.some(isGone) ? roots.filter((root) => !isGone(root)) : roots;
}

/** Whatever lost its last root in the repository gets one without a tag. */
function withLost(roots: Roots, lost: readonly NamedDescriptor[], repository: string, placeOf: PlaceOf): Roots {
  const held = new Set(roots.filter((root) => isIn(placeOf(root), repository)).map(({ descriptor }) => descriptor.digest));
  const rest = new Map(lost.filter(({ descriptor }) => !held.has(descriptor.digest)).map(({ descriptor }) => [descriptor.digest, descriptor]));
  return rest.size === 0 ? roots : [...roots, ...[...rest.values()].map((descriptor) => toUntagged(repository, descriptor))];
}

function toUntagged(repository: string, { mediaType, digest, size, artifactType }: Descriptor): NamedDescriptor {
  const annotations = { [repositoryAnnotation]: repository };
  return { descriptor: { mediaType, digest, size, annotations, ...(artifactType === undefined ? {} : { artifactType }) } };
}
