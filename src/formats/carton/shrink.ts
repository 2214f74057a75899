import { createError, type Digest, type FileEntry, type LinkedPart, type StreamContent } from '../../core/index.js';
import { toAnnotations, writeMembers } from './artifact.js';
import type { CartonDocuments, CartonMembers, Links } from './carton.js';
import { describeCartonToml } from './carton-toml.js';
import { type CopyPlan, planCopy } from './copy-plan.js';
import { parseLinks, writeLinks } from './links.js';
import type { PlannedFile } from './member-plan.js';
import { roleOf } from './roles.js';
import { tensorIndexName, tomlName } from './spec.js';
import type { CartonCopyOptions, CartonSink, CartonWritten } from './write-options.js';

export interface ShrunkCarton extends CartonWritten {
  /** Members that are only linked now, in the order of MANIFEST. */
  readonly left: readonly string[];
  /** What they took in the source. */
  readonly savedBytes: number;
  /** Given, and not in MANIFEST: not written to LINKS. */
  readonly unused: readonly Digest[];
}

/** Without these no reader opens a carton, whatever LINKS says. */
const alwaysKept: readonly string[] = [tomlName, tensorIndexName];

/**
 * Leaves out every member that `links`, or the LINKS of the carton, has a URL for; MANIFEST stays byte for byte, so does the model hash. The URLs are
 * not asked. Throws as `writeCartonZip`, and `carton/cannot-write` for a LINKS that cannot be read.
 */
export async function shrinkCarton(
  members: CartonMembers,
  documents: CartonDocuments,
  links: Links,
  sink: CartonSink,
  options: CartonCopyOptions,
): Promise<ShrunkCarton> {
  const plan = await planCopy(members, options.limits, links);
  const hashes = new Set(plan.listed.digests.values());
  const used = new Map([...links].filter(([digest]) => hashes.has(digest)));
  const merged = mergeLinks(readLinks(documents), used);
  const isLinked = (path: string) => {
    const digest = plan.listed.digests.get(path);
    return !alwaysKept.includes(path) && digest !== undefined && (merged.get(digest)?.length ?? 0) > 0;
  };
  const kept = plan.members.filter(({ path }) => !isLinked(path));
  const present = new Set(plan.members.map(({ path }) => path));
  const left = [...plan.listed.digests.keys()].filter((path) => present.has(path) && isLinked(path));
  const written = await writeMembers(withAnnotations({ ...plan, members: kept, links: toBytes(merged) }, documents), sink, options);
  return {
    ...written,
    lost: [],
    findings: [],
    left,
    savedBytes: sumPacked(members.tree.entries, left),
    unused: [...links.keys()].filter((digest) => !hashes.has(digest)),
  };
}

/** Opens the bytes of a linked file; what comes is held to its digest. */
export type OpenLinked = (part: LinkedPart) => Promise<StreamContent & { readonly size: number }>;

/**
 * A carton that needs no URL: what was linked is a member again, LINKS is gone, MANIFEST stays byte for byte. Every member is held to its hash
 * (`bytes/digest-mismatch`). Throws `carton/cannot-write` for a file that is neither there nor linked, and what `openLinked` throws.
 */
export async function inflateCarton(
  members: CartonMembers,
  documents: CartonDocuments,
  openLinked: OpenLinked,
  sink: CartonSink,
  options: CartonCopyOptions,
): Promise<CartonWritten & { readonly fetched: readonly string[] }> {
  const { links: _links, ...plan } = await planCopy(members, options.limits);
  const links = readLinks(documents);
  const parts = [...plan.linked].map(([path, digest]) => toLinkedPart(path, digest, links));
  const fetched: PlannedFile[] = [];
  for (const part of parts) {
    const content = await openLinked(part);
    fetched.push({ kind: 'file', path: part.path, size: content.size, mode: 0o644, content, digest: part.digest });
  }
  const whole = { ...plan, members: [...plan.members, ...fetched], linked: new Map<string, Digest>() };
  const written = await writeMembers(withAnnotations(whole, documents), sink, options);
  return { ...written, lost: [], findings: [], fetched: fetched.map(({ path }) => path) };
}

function readLinks({ links, members }: CartonDocuments): Links {
  if (links.kind === 'absent') return new Map();
  const parsed = links.kind === 'read' ? parseLinks(links.value) : { links: new Map(), problems: [links.finding] };
  const problem = parsed.problems[0];
  if (problem === undefined) return parsed.links;
  throw createError('carton/cannot-write', {
    message: `Cannot rewrite "${members.location}": ${problem.message}`,
    where: problem.where,
    hint: 'See `modelport validate` for everything that is wrong',
    findings: parsed.problems,
  });
}

/** URLs that were there come first. */
function mergeLinks(existing: Links, added: Links): Links {
  const merged = new Map(existing);
  for (const [digest, urls] of added) merged.set(digest, [...new Set([...(existing.get(digest) ?? []), ...urls])]);
  return merged;
}

function toBytes(links: Links): Uint8Array | undefined {
  return links.size === 0 ? undefined : Buffer.from(writeLinks(links));
}

function toLinkedPart(path: string, digest: Digest, links: Links): LinkedPart {
  const urls = links.get(digest) ?? [];
  if (urls.length > 0) return { role: roleOf(path).role, path, digest, urls };
  throw createError('carton/cannot-write', {
    message: `Cannot make the carton whole: MANIFEST lists ${JSON.stringify(path)}, which is neither a member nor in LINKS`,
    hint: 'Fetch the carton again, or give a URL for it with `modelport carton shrink --link`',
    where: path,
  });
}

function sumPacked(entries: readonly FileEntry[], paths: readonly string[]): number {
  const wanted = new Set(paths);
  return entries.reduce((sum, { path, packed, size }) => (wanted.has(path) ? sum + (packed?.size ?? size) : sum), 0);
}

function withAnnotations<T extends Omit<CopyPlan, 'links'>>(plan: T, { toml }: CartonDocuments): T {
  return toml.kind === 'read' ? { ...plan, annotations: toAnnotations(describeCartonToml(toml.value)) } : plan;
}
