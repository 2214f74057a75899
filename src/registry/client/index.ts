/**
 * registry/client: a repository of a registry as a store: logins, uploads that go on where they stopped, downloads by range, referrers.
 * Knows digests and the protocol, never what a package means, and touches the disk only for logins and for what it has to remember.
 */
export type { Credentials, CredentialStore } from './auth/auth.js';
export { openCredentialStore } from './auth/credentials.js';
export { openBlobPlaces } from './blob-places.js';
export * from './client.js';
export type { TlsOptions } from '../../http/index.js';
export { openUploadJournal } from './upload-journal.js';
