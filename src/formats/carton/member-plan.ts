import { findTwins, judgePath } from '../../bytes/index.js';
import { createError, type Digest, type Limits } from '../../core/index.js';
import { linksName, manifestName, miscFolder, modelFolder, tensorFolder, tomlName } from './spec.js';
import type { MemberContent } from './write-options.js';

export interface PlannedFile {
  readonly kind: 'file';
  readonly path: string;
  readonly size: number;
  readonly mode: 0o644 | 0o755;
  readonly content: MemberContent;
  /** What MANIFEST says already: other bytes are refused. */
  readonly digest?: Digest | undefined;
}

/** `target` as the link says it, `resolved` the path of the file that it leads to in the end, which may be one that is only linked. */
export interface PlannedLink {
  readonly kind: 'link';
  readonly path: string;
  readonly target: string;
  readonly resolved: string;
}

export type PlannedMember = PlannedFile | PlannedLink;

/** A carton to be written: everything but MANIFEST is decided, nothing has been read but what had to be understood. */
export interface CartonPlan {
  /** Without MANIFEST and LINKS. */
  readonly members: readonly PlannedMember[];
  /** Files that MANIFEST lists and LINKS leads to. */
  readonly linked: ReadonlyMap<string, Digest>;
  /** Kept byte for byte; absent: made of what is written. */
  readonly manifest?: Uint8Array | undefined;
  readonly links?: Uint8Array | undefined;
  /** What an artifact says of itself beside the model hash. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** The metadata stands last, so that one read of the tail holds it. */
const order: readonly ((path: string) => boolean)[] = [
  (path) => path.startsWith(modelFolder),
  (path) => path.startsWith(tensorFolder),
  (path) => path.startsWith(miscFolder),
  (path) => path !== tomlName && path !== manifestName && path !== linksName,
  (path) => path === tomlName,
  (path) => path === manifestName,
  () => true,
];

/** `model/**`, tensor_data, misc, carton.toml, MANIFEST, LINKS; inside each by the UTF-8 bytes of the path. */
export function sortMembers<T extends { readonly path: string }>(members: readonly T[]): T[] {
  const keyed = members.map((member) => ({ member, rank: order.findIndex((matches) => matches(member.path)), bytes: Buffer.from(member.path) }));
  return keyed.toSorted((a, b) => a.rank - b.rank || Buffer.compare(a.bytes, b.bytes)).map(({ member }) => member);
}

/** What a carton that we make may hold together. Throws `bytes/unsafe-path`. */
export function assertPaths(members: readonly { readonly path: string }[], limits: Limits): void {
  for (const { path } of members) {
    const reason = judgePath(path, limits) ?? (/[\r\n]/.test(path) ? 'MANIFEST has no place for a line break' : undefined);
    if (reason !== undefined) throw createError('bytes/unsafe-path', { message: `Cannot pack ${JSON.stringify(path)}: ${reason}`, where: path });
  }
  const twin = findTwins(members.map(({ path }) => path))[0];
  if (twin === undefined) return;
  throw createError('bytes/unsafe-path', {
    message: `Cannot pack ${JSON.stringify(twin.first)} beside ${JSON.stringify(twin.second)}: ${twinReason[twin.kind]}`,
    where: twin.second,
    hint: 'Rename one of the two, or leave one out with [files] ignore',
  });
}

const twinReason = {
  duplicate: 'both would be that member of the carton',
  'file-and-folder': 'one is a file where the other needs a folder',
  case: 'the two names are one on a file system that ignores case',
  unicode: 'the two names are one on a file system that ignores the Unicode form',
} as const;

export function bytesMember(path: string, bytes: Uint8Array): PlannedFile {
  return { kind: 'file', path, size: bytes.byteLength, mode: 0o644, content: { kind: 'bytes', bytes } };
}

export function textMember(path: string, text: string): PlannedFile {
  return bytesMember(path, Buffer.from(text));
}

/** Permission bits as they travel: what a checkout on any machine would have. */
export function portableMode(mode: number | undefined): 0o644 | 0o755 {
  return ((mode ?? 0) & 0o111) === 0 ? 0o644 : 0o755;
}
