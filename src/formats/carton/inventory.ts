import { judgePath } from '../../bytes/index.js';
import type { Digest, FileEntry, Finding } from '../../core/index.js';
import type { CartonDocuments, Links } from './carton.js';
import { resolveMember } from './link-entries.js';
import { parseLinks } from './links.js';
import { listManifestProblems } from './manifest-problems.js';
import { manifestName, unlisted } from './spec.js';

/** A member whose bytes are here. `entry` is where they lie: of a link what it leads to. */
export interface PresentMember {
  readonly path: string;
  readonly entry: FileEntry;
  /** From MANIFEST. */
  readonly digest?: Digest;
}

/** A file that MANIFEST lists and LINKS serves. */
export interface AbsentMember {
  readonly path: string;
  readonly digest: Digest;
  readonly urls: readonly string[];
}

/** What MANIFEST promises held against what is there; nothing is hashed. */
export interface Inventory {
  /** In the order of the tree. */
  readonly present: readonly PresentMember[];
  /** In the order of MANIFEST. */
  readonly linked: readonly AbsentMember[];
  readonly links: Links;
  readonly findings: readonly Finding[];
}

export function takeInventory(documents: CartonDocuments): Inventory {
  const { members, manifest, links: document } = documents;
  const digests = manifest.kind === 'read' ? manifest.value.digests : new Map<string, Digest>();
  const { links, problems } = document.kind === 'read' ? parseLinks(document.value) : { links: new Map() as Links, problems: [] };
  const findings: Finding[] = [...judgeManifest(documents), ...(document.kind === 'broken' ? [document.finding] : problems)];
  const present: PresentMember[] = [];
  const linked: AbsentMember[] = [];
  const own = new Set(members.tree.entries.map(({ path }) => path));
  const absent = (path: string, digest: Digest | undefined, explain: () => Finding) => {
    const urls = digest === undefined ? undefined : links.get(digest);
    if (digest !== undefined && urls !== undefined) linked.push({ path, digest, urls });
    else findings.push(explain());
  };
  for (const { path } of members.tree.entries) {
    const digest = unlisted.includes(path) ? undefined : digests.get(path);
    const found = resolveMember(members, path);
    if (found.kind === 'broken') findings.push(badLink(path, found.reason));
    else if (found.kind === 'absent')
      absent(path, digest, () => badLink(path, `it is a link to ${JSON.stringify(found.path)}, which is not in the carton`));
    else present.push({ path, entry: found.entry, ...(digest === undefined ? {} : { digest }) });
    if (digest === undefined && manifest.kind === 'read' && !unlisted.includes(path)) findings.push(notListed(path));
  }
  for (const [path, digest] of digests) {
    if (!own.has(path) && judgePath(path, documents.limits) === undefined && !unlisted.includes(path)) absent(path, digest, () => missing(path));
  }
  return { present, linked, links, findings: shorten(findings) };
}

/** A list of a million lines may be wrong in each: nobody reads that, and it takes memory. */
const mostOfAKind = 10_000;

function shorten(findings: readonly Finding[]): readonly Finding[] {
  const counts = new Map<string, number>();
  const kept = findings.filter(({ code }) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    return count <= mostOfAKind;
  });
  const left = [...counts].filter(([, count]) => count > mostOfAKind);
  const last = (code: string) => kept.findLast((finding) => finding.code === code);
  return [
    ...kept,
    ...left.map(([code, count]): Finding => ({
      level: last(code)?.level ?? 'error',
      code,
      message: `${count - mostOfAKind} more of the kind ${code}`,
    })),
  ];
}

function judgeManifest({ manifest, limits }: CartonDocuments): readonly Finding[] {
  if (manifest.kind === 'read') return listManifestProblems(manifest.value, limits);
  if (manifest.kind === 'broken') return [manifest.finding];
  return [
    {
      level: 'error',
      code: 'carton/bad-manifest',
      message: `Cannot read ${JSON.stringify(manifestName)}: it is not in the carton, so nothing of it can be verified`,
      where: manifestName,
      hint: 'Pack the model again',
    },
  ];
}

function badLink(path: string, reason: string): Finding {
  return {
    level: 'error',
    code: 'carton/bad-link',
    message: `Cannot use ${JSON.stringify(path)}: ${reason}`,
    where: path,
    hint: 'Replace the link by the file it stands for',
  };
}

/** Also where its line is malformed. */
function notListed(path: string): Finding {
  return {
    level: 'warning',
    code: 'carton/unlisted-member',
    message: `${JSON.stringify(path)} is not covered by ${manifestName}: nothing says what it should be`,
    where: path,
    hint: 'Pack the model again, or remove the file',
  };
}

function missing(path: string): Finding {
  return {
    level: 'error',
    code: 'carton/missing-member',
    message: `${JSON.stringify(path)} is listed in ${manifestName} and is neither in the carton nor in LINKS`,
    where: path,
    hint: 'Pack the model again',
  };
}
