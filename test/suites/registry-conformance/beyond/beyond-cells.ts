import { listAddresses } from './addresses.js';
import { listAttached } from './attached.js';
import { type BeyondCell } from './beyond-cell.js';
import { listBlobReads } from './blob-reads.js';
import { listConditions } from './conditions.js';
import { listLists } from './lists.js';
import { listManifestPuts } from './manifest-puts.js';
import { listUploads } from './uploads.js';

export function listBeyondCells(): BeyondCell[] {
  return [...listBlobReads(), ...listConditions(), ...listLists(), ...listAttached(), ...listManifestPuts(), ...listUploads(), ...listAddresses()];
}
