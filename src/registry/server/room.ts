import type { Finding, Limits, RegistryStore } from '../../core/index.js';
import type { RegistryRequest, RequestSubject } from './http.js';
import type { ManifestShelf } from './manifest-shelf.js';
import type { Mirror } from './mirror.js';
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
