import { createHash } from 'node:crypto';
import { digestOf, fromBytes, mapConcurrent, openContent } from '../../bytes/index.js';
import {
  type BlobSink,
  type ByteStream,
  createError,
  type Descriptor,
  type Digest,
  isDigest,
  type StoredBlob,
  type TarMember,
} from '../../core/index.js';
import { annotationKeys, emptyDescriptor, emptyJson, mediaTypes, serialize, toJsonBytes } from '../../oci/index.js';
import { writeManifest } from './manifest.js';
import { bytesMember, type CartonPlan, type PlannedFile, sortMembers } from './member-plan.js';
import { artifactType, linksName, manifestName, memberType, membersType, modelHashKey, sharedMemberBytes } from './spec.js';
import type { CartonCopyOptions } from './write-options.js';
import { digestOfTarget, type WrittenMembers } from './write-zip-members.js';

const { title: titleKey } = annotationKeys;

/**
 * A plan → an OCI artifact: one raw layer a member, small ones together in one tar, links as copies of what they lead to. The manifest is put
 * last. Throws `oci/too-large` when it fits no registry, `bytes/digest-mismatch`, and what the sink throws.
 */
export async function writeArtifactMembers(
  plan: CartonPlan,
  blobs: BlobSink,
  options: CartonCopyOptions,
): Promise<WrittenMembers & { readonly root: Descriptor }> {
  const writer = new ArtifactWriter(plan, blobs, options);
  return writer.write();
}

class ArtifactWriter {
  readonly #files: readonly PlannedFile[];
  readonly #manifestSize: number;
  readonly #digests: Map<string, Digest>;
  readonly #stored: StoredBlob[] = [];

  constructor(
    readonly plan: CartonPlan,
    readonly blobs: BlobSink,
    readonly options: CartonCopyOptions,
  ) {
    this.#digests = new Map(plan.linked);
    this.#files = listFiles(plan);
    this.#manifestSize = plan.manifest?.byteLength ?? sizeOfManifest(plan);
  }

  async write(): Promise<WrittenMembers & { readonly root: Descriptor }> {
    const threshold = this.#chooseThreshold();
    const isLarge = ({ size }: { readonly size: number }) => size >= threshold;
    const large = await this.#putLarge(this.#files.filter(isLarge));
    const small = this.#files.filter((file) => !isLarge(file));
    const isManifestLarge = isLarge({ size: this.#manifestSize });
    const tar = small.length === 0 && isManifestLarge ? [] : [await this.#putTar(small, !isManifestLarge)];
    const manifestLayer = isManifestLarge ? await this.#putLarge([bytesMember(manifestName, this.#manifest())]) : [];
    return this.#finish([...sortByTitle([...large, ...manifestLayer]), ...tar]);
  }

  async #finish(layers: readonly Descriptor[]): Promise<WrittenMembers & { readonly root: Descriptor }> {
    const modelHash = digestOf(this.#manifest()).slice('sha256:'.length);
    this.#stored.push(await this.blobs.put({ kind: 'bytes', bytes: emptyJson }));
    const { bytes, descriptor } = serialize(toManifest(layers, { ...this.plan.annotations, [modelHashKey]: modelHash }), mediaTypes.manifest);
    this.#stored.push(await this.blobs.put({ kind: 'bytes', bytes }, { mediaType: mediaTypes.manifest }));
    return { root: { ...descriptor, artifactType }, modelHash, bytes: totalsOf(this.#stored), members: this.#files.length + 1 };
  }

  async #putLarge(files: readonly PlannedFile[]): Promise<Descriptor[]> {
    const { concurrency, progress, signal } = this.options;
    return mapConcurrent(files, concurrency, async ({ path, size, content, digest }) => {
      const item = progress.start('pack', path, size);
      try {
        const stored = await this.blobs.put(content, { progress: item, signal, ...(digest === undefined ? {} : { expected: { digest, size } }) });
        item.done(stored.fresh ? 'done' : 'skipped');
        this.#stored.push(stored);
        this.#digests.set(path, stored.digest);
        return toLayer(path, stored);
      } catch (error) {
        item.done('failed');
        throw error;
      }
    });
  }

  /** MANIFEST stands behind the members that it lists, so that each of them is read once. */
  async #putTar(files: readonly PlannedFile[], withManifest: boolean): Promise<Descriptor> {
    const members = files.map((file): TarMember => toTarMember(file.path, file.mode, file.size, () => this.#tapped(file)));
    if (withManifest) {
      const at = files.at(-1)?.path === linksName ? -1 : members.length;
      members.splice(
        at,
        0,
        toTarMember(manifestName, 0o644, this.#manifestSize, () => fromBytes(this.#manifest())),
      );
    }
    const { progress, signal } = this.options;
    const item = progress.start(
      'pack',
      'small members',
      members.reduce((sum, { content }) => sum + (content.kind === 'directory' ? 0 : content.size), 0),
    );
    const stored = await this.blobs.put({ kind: 'tar', members, compression: 'none' }, { progress: item, signal });
    item.done(stored.fresh ? 'done' : 'skipped');
    this.#stored.push(stored);
    return { mediaType: membersType, digest: stored.digest, size: stored.size };
  }

  async *#tapped({ path, content, digest: expected }: PlannedFile): ByteStream {
    const hash = createHash('sha256');
    const { counters } = this.options;
    for await (const chunk of openContent(content, { counters })) {
      hash.update(chunk);
      if (counters !== undefined) counters.hashed += chunk.byteLength;
      yield chunk;
    }
    const digest = `sha256:${hash.digest('hex')}`;
    if (!isDigest(digest) || (expected !== undefined && expected !== digest)) throw mismatch(path, expected, digest);
    this.#digests.set(path, digest);
  }

  #manifest(): Uint8Array {
    const { manifest, members } = this.plan;
    if (manifest !== undefined) return manifest;
    for (const link of members) if (link.kind === 'link') this.#digests.set(link.path, digestOfTarget(link, this.#digests));
    return Buffer.from(writeManifest(new Map([...this.#digests].filter(([path]) => path !== linksName && path !== manifestName))));
  }

  /** Raised until no registry refuses the manifest: the same members give the same layers. */
  #chooseThreshold(): number {
    const { manifestLayers, writtenManifestBytes } = this.options.limits;
    const sizes = [...this.#files, { path: manifestName, size: this.#manifestSize }];
    for (let threshold = sharedMemberBytes; ; threshold *= 2) {
      const large = sizes.filter(({ size }) => size >= threshold);
      const manifest = toManifest([...large.map(({ path }) => toLayer(path, unknownBlob)), unknownTar], {
        ...this.plan.annotations,
        [modelHashKey]: '0'.repeat(64),
      });
      const size = toJsonBytes(manifest).byteLength;
      if (large.length < manifestLayers && size <= writtenManifestBytes) return threshold;
      if (large.length === 0) throw tooLarge(size, writtenManifestBytes);
    }
  }
}

/** A link is a copy of what it leads to; one that leads to a linked file is linked itself. */
function listFiles({ members, links }: CartonPlan): PlannedFile[] {
  const byPath = new Map(members.map((member) => [member.path, member]));
  const files = members.flatMap((member) => {
    if (member.kind === 'file') return [member];
    const target = byPath.get(member.resolved);
    return target?.kind === 'file' ? [{ ...target, path: member.path }] : [];
  });
  return sortMembers(links === undefined ? files : [...files, bytesMember(linksName, links)]);
}

/** `path=hash` and a line end each. (MANIFEST) */
function sizeOfManifest({ members, linked }: CartonPlan): number {
  const paths = new Set([...members.map(({ path }) => path), ...linked.keys()]);
  return [...paths].reduce((sum, path) => sum + Buffer.byteLength(path) + '='.length + 64 + '\n'.length, 0);
}

function toTarMember(name: string, mode: number, size: number, open: () => ByteStream): TarMember {
  return { name, mode, mtime: 0, content: { kind: 'stream', size, open: async () => open() } };
}

function toLayer(path: string, { digest, size }: Pick<Descriptor, 'digest' | 'size'>): Descriptor {
  return { mediaType: memberType, digest, size, annotations: { [titleKey]: path } };
}

function sortByTitle(layers: readonly Descriptor[]): Descriptor[] {
  const titleOf = ({ annotations }: Descriptor) => Buffer.from(annotations?.[titleKey] ?? '');
  return layers.toSorted((a, b) => Buffer.compare(titleOf(a), titleOf(b)));
}

function toManifest(layers: readonly Descriptor[], annotations: Readonly<Record<string, string>>): object {
  return { schemaVersion: 2, mediaType: mediaTypes.manifest, artifactType, config: emptyDescriptor, layers, annotations };
}

const unknownBlob = { digest: `sha256:${'0'.repeat(64)}`, size: 999_999_999_999 } as const;
const unknownTar: Descriptor = { mediaType: membersType, ...unknownBlob };

function totalsOf(blobs: readonly StoredBlob[]): WrittenMembers['bytes'] {
  const sum = (counted: readonly StoredBlob[]) => counted.reduce((total, blob) => total + blob.size, 0);
  const total = sum(blobs);
  const sent = sum(blobs.filter((blob) => blob.fresh));
  return { total, sent, skipped: total - sent };
}

function mismatch(path: string, expected: Digest | undefined, found: string): Error {
  return createError('bytes/digest-mismatch', {
    message: `Cannot copy ${JSON.stringify(path)}: MANIFEST says ${String(expected)}, found ${found}`,
    hint: 'The carton is damaged: fetch or pack it again; `modelport verify` names every file',
    where: path,
  });
}

function tooLarge(size: number, limit: number): Error {
  return createError('oci/too-large', {
    message: `Cannot write the carton as an artifact: its manifest would be about ${size} bytes long and registries are sure to take ${limit}`,
  });
}
