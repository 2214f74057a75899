import { accessPart, collect, fromBytes, judgePath, openPart, readTar, scanTar, type TarEntry } from '../../bytes/index.js';
import {
  type ByteRange,
  type ByteStream,
  createError,
  type Descriptor,
  type FileEntry,
  type FileTree,
  type Limits,
  type OciSource,
  type PartContent,
} from '../../core/index.js';
import { membersType, memberType } from './spec.js';

const titleKey = 'org.opencontainers.image.title';

interface Member {
  readonly entry: FileEntry;
  readonly content: PartContent;
}

/**
 * A carton in a registry as a tree: a raw layer is a member under its title, the tar layer holds the small ones. The tar is held in memory up to
 * `limits.listedLayerBytes`, a longer one is read by ranges.
 */
export class ArtifactTree implements FileTree {
  readonly entries: readonly FileEntry[];
  readonly #contents: ReadonlyMap<string, PartContent>;

  private constructor(members: readonly Member[]) {
    this.entries = members.map(({ entry }) => entry).sort((a, b) => (a.path < b.path ? -1 : 1));
    this.#contents = new Map(members.map(({ entry, content }) => [entry.path, content]));
  }

  /** Throws `carton/unreadable` for layers that are no members, and for two members of one path. */
  static async open(layers: readonly Descriptor[], source: OciSource, limits: Limits): Promise<ArtifactTree> {
    const members: Member[] = [];
    for (const [index, layer] of layers.entries()) {
      const where = `layers[${index}]`;
      if (layer.mediaType === memberType) members.push(toRawMember(layer, source, where));
      else if (layer.mediaType === membersType) members.push(...(await listTar(layer, source, where, limits)));
      else throw refuse(source, where, `expected the media type ${memberType} or ${membersType}, found ${JSON.stringify(layer.mediaType)}`);
    }
    judgeMembers(members, source, limits);
    return new ArtifactTree(members);
  }

  async open(path: string, range?: ByteRange): Promise<ByteStream> {
    return openPart(this.contentOf(path), range);
  }

  /** Throws `bytes/not-found`. */
  contentOf(path: string): PartContent {
    const content = this.#contents.get(path);
    if (content !== undefined) return content;
    throw createError('bytes/not-found', { message: `Cannot open ${JSON.stringify(path)}: it is no file of the carton`, where: path });
  }
}

function toRawMember(descriptor: Descriptor, { blobs, ...source }: OciSource, where: string): Member {
  const path = descriptor.annotations?.[titleKey];
  if (path === undefined) throw refuse(source, where, `expected the annotation ${titleKey}, found none`);
  return { entry: { path, kind: 'file', size: descriptor.size, mode: 0o644, mtime: 0 }, content: { kind: 'blob', blobs, descriptor } };
}

async function listTar(descriptor: Descriptor, source: OciSource, where: string, limits: Limits): Promise<Member[]> {
  const { blobs } = source;
  const options = { limits, where };
  if (descriptor.size > limits.listedLayerBytes) {
    const entries = await scanTar(accessPart({ kind: 'blob', blobs, descriptor }, descriptor.size), options);
    return entries.flatMap((entry) =>
      toTarMember(entry, source, where, { kind: 'slice', blobs, descriptor, offset: entry.offset, size: entry.size }),
    );
  }
  const bytes = await collect(await blobs.open(descriptor), limits.listedLayerBytes, where);
  const entries: TarEntry[] = [];
  await readTar(fromBytes(bytes), options, (entry) => {
    entries.push(entry);
    return undefined;
  });
  return entries.flatMap((entry) => {
    const content = bytes.subarray(entry.offset, entry.offset + entry.size);
    return toTarMember(entry, source, where, inMemory(content));
  });
}

/** Ranges of what is in memory cost nothing, whatever stands before them. */
function inMemory(bytes: Uint8Array): PartContent {
  return { kind: 'stream', open: async () => fromBytes(bytes) };
}

function toTarMember({ name, kind, size, mode, mtime }: TarEntry, source: OciSource, where: string, content: PartContent): Member[] {
  if (kind === 'directory') return [];
  if (kind !== 'file') throw refuse(source, where, `${JSON.stringify(name)} is a ${kind}; expected files only`);
  return [{ entry: { path: name, kind, size, mode: mode & 0o777, mtime: Math.floor(mtime) }, content }];
}

function judgeMembers(members: readonly Member[], source: OciSource, limits: Limits): void {
  const seen = new Set<string>();
  for (const { entry } of members) {
    const reason = seen.has(entry.path) ? 'it stands twice' : judgePath(entry.path, limits);
    if (reason !== undefined) throw refuse(source, JSON.stringify(entry.path), `the path ${JSON.stringify(entry.path)} cannot be used: ${reason}`);
    seen.add(entry.path);
  }
}

function refuse({ location }: Pick<OciSource, 'location'>, where: string, reason: string): Error {
  return createError('carton/unreadable', {
    message: `Cannot read "${location}" as a carton: ${reason}`,
    hint: 'The package is broken or hostile: push the carton again',
    where,
  });
}
