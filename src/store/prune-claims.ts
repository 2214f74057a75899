import type { Digest, Limits } from '../core/index.js';
import { findBlobSize } from './blob-file.js';
import { listClaimants, removeClaimFile, toClaimsOf } from './claims.js';
import { type DigestItem, findItemState, listDigestItems } from './digest-items.js';
import type { LayoutStore } from './layout.js';
import { mark } from './mark.js';
import { toPartial } from './partials.js';
import { findRepository } from './repository-roots.js';

/** How long what was pushed waits for its manifest. */
const keptMs = 24 * 3_600_000;

/** A claim may come before its blob, and before the manifest that makes it needless. */
const settledMs = 3_600_000;

interface Claim extends DigestItem {
  readonly ageMs: number;
}

export interface PrunedClaims {
  /** Blobs that stay. */
  readonly claimed: ReadonlySet<Digest>;
  readonly count: number;
}

/** Removes claims that are over, on blobs that are gone, or on what the repository's own manifests name by now. */
export async function pruneClaims(store: LayoutStore, limits: Limits, { dryRun }: { readonly dryRun: boolean }): Promise<PrunedClaims> {
  const claimed = new Set<Digest>();
  let count = 0;
  for (const repository of listClaimants(store.path)) {
    const claims = listClaimsOf(store.path, repository);
    const named = claims.some(({ ageMs }) => ageMs >= settledMs) ? await markRepository(store, repository, limits) : new Set<Digest>();
    for (const claim of claims) {
      if (isWanted(store.path, claim, named)) claimed.add(claim.digest);
      else {
        count += 1;
        if (!dryRun) removeClaim(store.path, claim);
      }
    }
  }
  return { claimed, count };
}

function listClaimsOf(layout: string, repository: string): Claim[] {
  return listDigestItems(toClaimsOf(layout, repository)).flatMap((item) => {
    const state = findItemState(item);
    return state === undefined ? [] : [{ ...item, ageMs: Date.now() - state.mtimeMs }];
  });
}

function markRepository(store: LayoutStore, repository: string, limits: Limits): Promise<ReadonlySet<Digest>> {
  const roots = store.index.read().entries.filter((entry) => findRepository(entry) === repository);
  return mark(store, roots, limits);
}

function isWanted(layout: string, { digest, ageMs }: Claim, named: ReadonlySet<Digest>): boolean {
  if (ageMs < settledMs) return true;
  if (ageMs >= keptMs || named.has(digest)) return false;
  return findBlobSize(layout, digest) !== undefined || findItemState(toPartial(layout, digest)) !== undefined;
}

/** One that was renewed in this moment stays. */
function removeClaim(layout: string, claim: Claim): void {
  const state = findItemState(claim);
  if (state !== undefined && Date.now() - state.mtimeMs >= settledMs) removeClaimFile(layout, claim);
}
