import { sha256 } from '../ask-registry.js';
import { type Ledger, type OpenUpload, settle } from './ledger.js';
import { askSize, resumeUpload } from './pushing.js';
import { assertStatus, type Wire } from './wire.js';

/**
 * Asks for everything that a repository was ever given: what was acknowledged is there byte for byte or gone, and what was under way is one or the other
 * as a whole. From then on the ledger knows.
 */
export async function inspectRepository(wire: Wire, ledger: Ledger): Promise<void> {
  for (const { digest, bytes, isThere } of ledger.manifests.values()) {
    settle(isThere, await isFound(wire, `/v2/${ledger.repository}/manifests/${digest}`, bytes, isThere));
  }
  for (const { digest, bytes, isThere } of ledger.blobs.values()) {
    settle(isThere, await isFound(wire, `/v2/${ledger.repository}/blobs/${digest}`, bytes, isThere));
  }
  for (const [tag, digests] of ledger.tags) settle(digests, await findTag(wire, ledger, tag, digests));
  assertWhole(ledger);
  await assertListed(wire, ledger);
  await assertAttached(wire, ledger);
}

async function isFound(wire: Wire, target: string, bytes: Buffer, allowed: ReadonlySet<boolean>): Promise<boolean> {
  const answer = await wire.ask('GET', target);
  assertStatus(answer, ...[...allowed].map((isThere) => (isThere ? 200 : 404)));
  if (answer.status === 200 && !answer.body.equals(bytes)) throw new Error(`${answer.asked} gave other bytes than were pushed`);
  return answer.status === 200;
}

async function findTag(wire: Wire, { repository }: Ledger, tag: string, allowed: ReadonlySet<string | undefined>): Promise<string | undefined> {
  const answer = await wire.ask('GET', `/v2/${repository}/manifests/${tag}`);
  assertStatus(answer, 200, 404);
  const digest = answer.status === 200 ? sha256(answer.body) : undefined;
  if (allowed.has(digest)) return digest;
  throw new Error(`${repository}:${tag} is ${digest}, and was set to ${[...allowed].join(' or ')}`);
}

/** A tag has its manifest, and a manifest everything that it names. */
function assertWhole(ledger: Ledger): void {
  const there = new Set([...ledger.listManifests(), ...ledger.listBlobs()].map(({ digest }) => digest));
  for (const [tag, digest] of ledger.listTags()) if (!there.has(digest)) throw new Error(`${ledger.repository}:${tag} lost its manifest ${digest}`);
  for (const { digest, names } of ledger.listManifests()) {
    const lost = names.filter((name) => !there.has(name));
    if (lost.length > 0) throw new Error(`${ledger.repository}@${digest} lost ${lost.join(', ')}`);
  }
}

async function assertListed(wire: Wire, ledger: Ledger): Promise<void> {
  const answer = await wire.ask('GET', `/v2/${ledger.repository}/tags/list`);
  assertStatus(answer, 200, 404);
  const { tags = [] } = JSON.parse(answer.body.toString()) as { tags?: string[] };
  const expected = ledger.listTags().map(([tag]) => tag);
  if (tags.join() !== expected.sort().join()) throw new Error(`${ledger.repository} lists the tags ${tags.join()}, and has ${expected.join()}`);
}

async function assertAttached(wire: Wire, ledger: Ledger): Promise<void> {
  const attached = ledger.listManifests().filter(({ subject }) => subject !== undefined);
  for (const subject of new Set(attached.map((manifest) => manifest.subject))) {
    const answer = await wire.ask('GET', `/v2/${ledger.repository}/referrers/${subject}`);
    assertStatus(answer, 200);
    const { manifests } = JSON.parse(answer.body.toString()) as { manifests: { digest: string }[] };
    const found = manifests.map(({ digest }) => digest).sort();
    const expected = attached.filter((manifest) => manifest.subject === subject).map(({ digest }) => digest);
    if (found.join() !== expected.sort().join()) throw new Error(`${answer.asked} lists ${found.join()} and not ${expected.join()}`);
  }
}

/** Each is still there and has what was acknowledged; those that `isChosen` go on to their end. Gives how many did. */
export async function inspectUploads(wire: Wire, ledger: Ledger, isChosen: () => boolean): Promise<number> {
  let resumed = 0;
  for (const upload of ledger.uploads) {
    const size = await askSize(wire, upload);
    if (size === undefined) forget(ledger, upload);
    else {
      assertSize(upload, size);
      if (!upload.isEnding) Object.assign(upload, { acknowledged: size });
      if (!upload.isEnding && !isChosen()) continue;
      await resumeUpload(wire, ledger, upload, size);
      settle(ledger.blob(upload.blob), true);
      resumed += 1;
    }
  }
  return resumed;
}

function forget(ledger: Ledger, upload: OpenUpload): void {
  if (!upload.isEnding) throw new Error(`The upload ${upload.location} is lost: ${upload.acknowledged} bytes were acknowledged`);
  ledger.uploads.delete(upload);
}

/** One that was ending may have become a blob already, so that nothing is left of it but its place. */
function assertSize({ location, acknowledged, sent, isEnding }: OpenUpload, size: number): void {
  if ((size >= acknowledged && size <= sent) || (isEnding && size === 0)) return;
  throw new Error(`The upload ${location} has ${size} bytes: ${acknowledged} were acknowledged, ${sent} sent`);
}
