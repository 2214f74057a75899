import { openPart } from '../../bytes/index.js';
import { createError, type Digest, type FileEntry, type Limits, type PartContent } from '../../core/index.js';
import type { CartonMembers, Links, Manifest } from './carton.js';
import { gatherDocuments } from './documents.js';
import { takeInventory } from './inventory.js';
import { resolveMember } from './link-entries.js';
import { listTwins } from './list-twins.js';
import { parseManifest } from './manifest.js';
import { type CartonPlan, type PlannedLink, type PlannedMember, portableMode } from './member-plan.js';
import { contentOf, readEntry } from './open-members.js';
import { linksName, manifestName, unlisted } from './spec.js';
import type { MemberContent } from './write-options.js';

export interface CopyPlan extends CartonPlan {
  readonly manifest: Uint8Array;
  readonly listed: Manifest;
}

/**
 * The members of a carton as they are, MANIFEST byte for byte; each member is held to what MANIFEST says of it. Throws `carton/cannot-write`
 * without MANIFEST, for lines of it that mean nothing, for members that are neither there nor linked nor in `added`, and for a link that leads nowhere.
 */
export async function planCopy(members: CartonMembers, limits: Limits, added: Links = new Map()): Promise<CopyPlan> {
  const manifest = await readMetadata(members, manifestName, limits);
  if (manifest === undefined) {
    throw createError('carton/cannot-write', {
      message: `Cannot copy "${members.location}" as a carton: it has no MANIFEST`,
      hint: 'Pack it: `modelport pack --format carton`',
      where: manifestName,
    });
  }
  const listed = parseManifest(manifest, limits);
  await assertCopyable(members, limits, (path) => {
    const digest = listed.digests.get(path);
    return digest !== undefined && added.has(digest);
  });
  const links = await readMetadata(members, linksName, limits);
  const present = new Set(members.tree.entries.map(({ path }) => path));
  return {
    members: members.tree.entries
      .filter(({ kind, path }) => kind !== 'directory' && !unlisted.includes(path))
      .map((entry) => toMember(members, entry, entry.path, listed.digests.get(entry.path))),
    linked: new Map([...listed.digests].filter(([path]) => !present.has(path))),
    manifest,
    listed,
    links,
    annotations: {},
  };
}

/** What no copy of it could be used for either. A wrong hash is found while the bytes go by. */
const fatal: readonly string[] = ['carton/bad-manifest', 'carton/missing-member', 'carton/bad-link', 'carton/same-path'];

async function assertCopyable(members: CartonMembers, limits: Limits, isAdded: (path: string) => boolean): Promise<void> {
  const { present, linked, findings } = takeInventory(await gatherDocuments(members, { limits }));
  const problems = [...findings, ...listTwins([...present, ...linked])].filter(
    ({ code, where = '' }) => fatal.includes(code) && !(code === 'carton/missing-member' && isAdded(where)),
  );
  const first = problems[0];
  if (first === undefined) return;
  throw createError('carton/cannot-write', {
    message: `Cannot copy "${members.location}" as a carton: ${first.message}`,
    where: first.where,
    hint: 'See `modelport validate` for everything that is wrong',
    findings: problems,
  });
}

async function readMetadata(members: CartonMembers, path: string, limits: Limits): Promise<Uint8Array | undefined> {
  const found = resolveMember(members, path);
  return found.kind === 'file' ? readEntry(members, found.entry, limits.memberListBytes) : undefined;
}

/** An entry as a member under `path`. */
export function toMember(members: CartonMembers, entry: FileEntry, path: string, digest: Digest | undefined): PlannedMember {
  if (entry.kind === 'symlink') return toLink(members, entry, path);
  const { size, mode } = entry;
  return { kind: 'file', path, size, mode: portableMode(mode), content: toMemberContent(contentOf(members, entry), size), digest };
}

function toLink(members: CartonMembers, entry: FileEntry, path: string): PlannedLink {
  const found = resolveMember(members, entry.path);
  if (found.kind !== 'broken') return { kind: 'link', path, target: entry.linkTarget ?? '', resolved: found.path };
  throw createError('carton/cannot-write', {
    message: `Cannot write the link ${JSON.stringify(entry.path)}: ${found.reason}`,
    hint: 'Replace the link by a copy of the file',
    where: entry.path,
  });
}

export function toMemberContent(content: PartContent, size: number): MemberContent {
  if (content.kind === 'file' || content.kind === 'blob') return content;
  return { kind: 'stream', size, open: () => openPart(content) };
}
