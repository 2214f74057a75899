import { fromBytes, openContent, openPart } from '../../bytes/index.js';
import { createError, type Digest, type FileEntry, type FileTree, type Limits } from '../../core/index.js';
import { writeManifest } from './manifest.js';
import { bytesMember, type CartonPlan, type PlannedMember, sortMembers } from './member-plan.js';
import { linksName, manifestName } from './spec.js';
import { validate } from './validate.js';

/** Stands for hashes that nobody knows before the members are read; so the rule that compares them has nothing to say. */
const unknownDigest: Digest = `sha256:${'0'.repeat(64)}`;
const hashRule = 'carton/manifest-hash';

/**
 * Holds a carton that is still to be written against every rule. Throws `carton/cannot-write` with all errors, the first of them in its message; reads
 * metadata and beginnings only.
 */
export async function assertValid(plan: CartonPlan, location: string, limits: Limits): Promise<void> {
  const findings = await validate({ kind: 'files', location, tree: toTree(plan) }, { limits });
  const errors = findings.filter(({ level, code }) => level === 'error' && code !== hashRule);
  const [first] = errors;
  if (first === undefined) return;
  throw createError('carton/cannot-write', {
    message: `Cannot pack "${location}" as a carton: ${first.message}`,
    where: first.where,
    hint: first.hint ?? 'Mend it and pack again',
    findings: errors,
  });
}

function toTree(plan: CartonPlan): FileTree {
  const digests = new Map<string, Digest>([...plan.members.map(({ path }) => [path, unknownDigest] as const), ...plan.linked]);
  const documents = [bytesMember(manifestName, Buffer.from(writeManifest(digests)))];
  if (plan.links !== undefined) documents.push(bytesMember(linksName, plan.links));
  const members = new Map(sortMembers([...plan.members, ...documents]).map((member) => [member.path, member]));
  return {
    entries: [...members.values()].map(toEntry).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    open: async (path, range) => {
      const member = members.get(path);
      if (member?.kind !== 'file') return fromBytes(new Uint8Array(0));
      return openPart({ kind: 'stream', open: async () => openContent(member.content) }, range);
    },
  };
}

function toEntry(member: PlannedMember): FileEntry {
  const { path } = member;
  if (member.kind === 'link') return { path, kind: 'symlink', size: member.target.length, mode: 0o777, mtime: 0, linkTarget: member.target };
  return { path, kind: 'file', size: member.size, mode: member.mode, mtime: 0 };
}
