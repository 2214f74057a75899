import { type indexType, type manifestType, sha256 } from '../ask-registry.js';

/** What may be so: one value when it is known, more while nobody knows whether the last request was carried out. */
export type Possible<T> = Set<T>;

export interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}

export function toBlob(bytes: Buffer): Blob {
  return { digest: sha256(bytes), bytes };
}

/** Also an index, which names manifests. */
export interface Manifest {
  readonly digest: string;
  readonly bytes: Buffer;
  readonly mediaType: typeof manifestType | typeof indexType;
  /** Digests that have to be there before it. */
  readonly names: readonly string[];
  readonly subject?: string;
}

/** An upload whose place the registry has told. */
export interface OpenUpload {
  readonly location: string;
  readonly blob: Blob;
  /** Bytes that the registry has said it has, and bytes that were sent: what it has lies between. */
  acknowledged: number;
  sent: number;
  /** It was asked to finish or cancel it, so that it may be over. */
  isEnding: boolean;
}

/** What the registry has to show of one repository, by all that it has acknowledged. */
export class Ledger {
  readonly blobs = new Map<string, Blob & { readonly isThere: Possible<boolean> }>();
  readonly manifests = new Map<string, Manifest & { readonly isThere: Possible<boolean> }>();
  /** Undefined: there is no such tag. */
  readonly tags = new Map<string, Possible<string | undefined>>();
  readonly uploads = new Set<OpenUpload>();

  constructor(readonly repository: string) {}

  blob(blob: Blob): Possible<boolean> {
    const known = this.blobs.get(blob.digest) ?? { ...blob, isThere: new Set([false]) };
    this.blobs.set(blob.digest, known);
    return known.isThere;
  }

  manifest(manifest: Manifest): Possible<boolean> {
    const known = this.manifests.get(manifest.digest) ?? { ...manifest, isThere: new Set([false]) };
    this.manifests.set(manifest.digest, known);
    return known.isThere;
  }

  tag(tag: string): Possible<string | undefined> {
    const known = this.tags.get(tag) ?? new Set([undefined]);
    this.tags.set(tag, known);
    return known;
  }

  listBlobs(): Blob[] {
    return [...this.blobs.values()].filter(({ isThere }) => !isThere.has(false));
  }

  listManifests(): Manifest[] {
    return [...this.manifests.values()].filter(({ isThere }) => !isThere.has(false));
  }

  /** Tags that stand, as pairs of tag and digest. */
  listTags(): (readonly [string, string])[] {
    return [...this.tags].flatMap(([tag, digests]) => [...digests].flatMap((digest) => (digest === undefined ? [] : [[tag, digest] as const])));
  }

  /** Whether a manifest that may be there names it. */
  isNamed(digest: string): boolean {
    return [...this.manifests.values()].some(({ isThere, names }) => isThere.has(true) && names.includes(digest));
  }
}

/** One thing that a request makes so. */
export type Change = readonly [Possible<unknown>, unknown];

export function change<T>(possible: Possible<T>, value: T): Change {
  return [possible, value];
}

/** What a request is to change may be so from when it is sent, and is so once it has been acknowledged; it throws when it is not. */
export async function carryOut(changes: readonly Change[], request: () => Promise<void>): Promise<void> {
  for (const [possible, value] of changes) possible.add(value);
  await request();
  for (const [possible, value] of changes) settle(possible, value);
}

export function settle<T>(possible: Possible<T>, value: T): void {
  possible.clear();
  possible.add(value);
}
