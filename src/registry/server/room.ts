import type { ByteStream, Descriptor, Digest, Finding, Limits, RegistryStore } from '../../core/index.js';
import type { RegistryRequest, RequestSubject } from './http.js';
import type { ManifestShelf } from './manifest-shelf.js';
import type { RepositoryIndex } from './repositories.js';
import type { Views } from './repository-view.js';
import type { UploadDesk } from './upload-desk.js';

/** What a registry allows; all of it can be set. */
export interface RegistryRules {
  /** Begun and not finished, of all clients together. */
  readonly mostUploads: number;
  /** Set by one PUT of a manifest; at least 10 are asked for. (distribution-spec main, Pushing Manifests) */
  readonly mostTagsAtOnce: number;
  /** Entries of one page of tags, repositories or referrers. */
  readonly pageEntries: number;
  /** What clients are asked to send at least in one piece; a piece costs two requests, however small it is. */
  readonly pieceBytes: number;
}

export const defaultRules: RegistryRules = { mostUploads: 1000, mostTagsAtOnce: 100, pageEntries: 1000, pieceBytes: 64 * 1024 };

/** What reading needs. */
export interface ReadingRoom {
  readonly store: RegistryStore;
  readonly limits: Limits;
  readonly rules: RegistryRules;
  readonly index: RepositoryIndex;
  readonly shelf: ManifestShelf;
  readonly views: Views;
  readonly announce: (finding: Finding) => void;
}

/** What the endpoints share. */
export interface RegistryRoom extends ReadingRoom {
  readonly isReadOnly: boolean;
  readonly desk: UploadDesk;
  readonly mirror: Mirror | undefined;
}

/** One request, looked through. */
export interface Ask {
  readonly request: RegistryRequest;
  readonly query: URLSearchParams;
  readonly subject: RequestSubject;
}

/** Bytes that can be read from anywhere in them. */
export interface ServedBlob {
  readonly size: number;
  open(start: number, end: number): Promise<ByteStream>;
}

/** Fetches from another registry what is asked for and not here: once, however many ask, verified, and kept. */
export interface Mirror {
  readonly count: CountMirrored;
  /** A tag is looked up at the other registry, and what is here serves when that cannot be reached. Undefined where this one has to look by itself. */
  findManifest(repository: string, reference: string, namespace: string | null): Promise<MirroredManifest | undefined>;
  /** A blob that is not here, to be read while it comes. */
  findBlob(repository: string, digest: Digest): Promise<ServedBlob | undefined>;
  /** Undefined when it cannot be asked, or has no such repository. */
  listTags(repository: string): Promise<readonly string[] | undefined>;
  /** Brings what is attached there; what cannot be had is left out. */
  fetchReferrers(repository: string, subject: Digest): Promise<void>;
}

export interface MirroredManifest {
  readonly descriptor: Descriptor | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** `hit`: what was asked for was here; `miss`: it had to be fetched. */
export type CountMirrored = (outcome: 'hit' | 'miss') => void;
