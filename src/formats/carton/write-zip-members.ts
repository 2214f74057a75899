import { digestOf } from '../../bytes/index.js';
import { assertWanted, createError, type Digest } from '../../core/index.js';
import { writeManifest } from './manifest.js';
import { bytesMember, type CartonPlan, type PlannedFile, type PlannedLink, sortMembers } from './member-plan.js';
import { linksName, manifestName, modelFolder } from './spec.js';
import type { CartonCopyOptions, MemberSink } from './write-options.js';

/** What one of the two forms of a carton has become. */
export interface WrittenMembers {
  readonly modelHash: string;
  readonly bytes: { readonly total: number; readonly sent: number; readonly skipped: number };
  readonly members: number;
}

/**
 * A plan → the members of a zip, in order, each read once. Throws `bytes/digest-mismatch` for a member that is not what a kept MANIFEST says;
 * what was added before is the sink's to drop.
 */
export async function writeZipMembers(plan: CartonPlan, sink: MemberSink, options: CartonCopyOptions): Promise<WrittenMembers> {
  const digests = new Map<string, Digest>(plan.linked);
  const totals = { members: 0, total: 0 };
  const addFile = async (file: PlannedFile) => {
    const { size, digest } = await add(file, sink, options);
    totals.members += 1;
    totals.total += size;
    return digest;
  };
  const links: PlannedLink[] = [];
  for (const member of sortMembers(plan.members)) {
    assertWanted(options.signal);
    if (member.kind === 'file') {
      digests.set(member.path, await addFile(member));
      continue;
    }
    await sink.add({ path: member.path, link: member.target });
    totals.members += 1;
    links.push(member);
  }
  for (const link of links) digests.set(link.path, digestOfTarget(link, digests));
  const manifest = plan.manifest ?? Buffer.from(writeManifest(digests));
  await addFile(bytesMember(manifestName, manifest));
  if (plan.links !== undefined) await addFile(bytesMember(linksName, plan.links));
  return {
    modelHash: digestOf(manifest).slice('sha256:'.length),
    bytes: { total: totals.total, sent: totals.total, skipped: 0 },
    members: totals.members,
  };
}

async function add(file: PlannedFile, sink: MemberSink, options: CartonCopyOptions): Promise<{ readonly size: number; readonly digest: Digest }> {
  const { path, content, mode, size } = file;
  const method = path.startsWith(modelFolder) ? (options.compression ?? 'none') : 'none';
  const progress = options.progress.start('pack', path, size);
  try {
    const added = await sink.add({ path, content, method, mode });
    assertDigest(file, added.digest);
    progress.advance(added.size);
    progress.done();
    return added;
  } catch (error) {
    progress.done('failed');
    throw error;
  }
}

function assertDigest({ path, digest: expected }: PlannedFile, found: Digest): void {
  if (expected === undefined || expected === found) return;
  throw createError('bytes/digest-mismatch', {
    message: `Cannot copy ${JSON.stringify(path)}: MANIFEST says ${expected}, found ${found}`,
    hint: 'The carton is damaged: fetch or pack it again; `modelport verify` names every file',
    where: path,
  });
}

/** The hash of a link is that of the file it leads to. (Carton, MANIFEST) */
export function digestOfTarget({ path, resolved }: PlannedLink, digests: ReadonlyMap<string, Digest>): Digest {
  const digest = digests.get(resolved);
  if (digest !== undefined) return digest;
  throw createError('carton/cannot-write', {
    message: `Cannot write the link ${JSON.stringify(path)}: it leads to ${JSON.stringify(resolved)}, which is not a file of the carton`,
    hint: 'Replace the link by a copy of the file',
    where: path,
  });
}
