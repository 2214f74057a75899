import { digestOf, fromBytes } from '../../src/bytes/index.js';
import {
  type ByteRange,
  createError,
  type Digest,
  type FileEntry,
  type FilesSource,
  type FileTree,
  type OciSource,
  type TarMember,
} from '../../src/core/index.js';
import { writeManifest } from '../../src/formats/carton/manifest.js';
import { artifactType, membersType, memberType, sharedMemberBytes } from '../../src/formats/carton/spec.js';
import { serialize } from '../../src/oci/index.js';
import { createMemoryStore } from '../../src/store/index.js';

/** A file, or a link to another. */
export type CartonFile = string | Uint8Array | { readonly link: string };

/** The smallest carton.toml that is complete. */
export const minimalToml = 'spec_version = 1\n\n[runner]\nrunner_name = "noop"\nrequired_framework_version = "=1.0.0"\nrunner_compat_version = 1\n';

/** Files in memory as a tree; with `zip` their entries say how they are packed, as those of a zip do. */
export function treeOf(files: Readonly<Record<string, CartonFile>>, zip?: 'zip'): FileTree {
  const entries = Object.keys(files)
    .sort()
    .map((path) => toEntry(path, files[path] as CartonFile, zip));
  return {
    entries,
    open: async (path, range) => {
      const file = files[path];
      if (file === undefined || isLink(file)) throw createError('bytes/not-found', { message: `Cannot open "${path}": it is no file`, where: path });
      return fromBytes(cut(Buffer.from(file), range));
    },
  };
}

function toEntry(path: string, file: CartonFile, zip: 'zip' | undefined): FileEntry {
  const size = isLink(file) ? file.link.length : Buffer.from(file).byteLength;
  return {
    path,
    kind: isLink(file) ? 'symlink' : 'file',
    size,
    mode: 0o644,
    mtime: 0,
    ...(isLink(file) ? { linkTarget: file.link } : {}),
    ...(zip === undefined ? {} : { packed: { method: 'none', size } }),
  };
}

function isLink(file: CartonFile): file is { readonly link: string } {
  return typeof file === 'object' && 'link' in file;
}

function cut(bytes: Uint8Array, range: ByteRange = { start: 0 }): Uint8Array {
  return bytes.subarray(range.start, range.end);
}

/** The same files with the MANIFEST that they need; `promised` are files that it lists though they are not there. */
export function withManifest(
  files: Readonly<Record<string, CartonFile>>,
  promised: Readonly<Record<string, string | Uint8Array>> = {},
): Readonly<Record<string, CartonFile>> & { readonly MANIFEST: string } {
  const all = { ...files, ...promised };
  const digests = new Map<string, Digest>();
  for (const path of Object.keys(all)) if (path !== 'LINKS' && path !== 'MANIFEST') digests.set(path, digestOf(contentAt(all, path)));
  return { ...files, MANIFEST: writeManifest(digests) };
}

/** Follows links that name their target from the top. */
function contentAt(files: Readonly<Record<string, CartonFile>>, path: string): Uint8Array {
  const file = files[path] ?? '';
  if (!isLink(file)) return Buffer.from(file);
  return contentAt(files, `${path.slice(0, path.lastIndexOf('/') + 1)}${file.link}`);
}

/** A carton in memory: carton.toml (the smallest unless given) and MANIFEST are there. */
export function cartonOf(files: Readonly<Record<string, CartonFile>> = {}, zip?: 'zip'): FilesSource {
  const all = 'carton.toml' in files ? files : { 'carton.toml': minimalToml, ...files };
  return sourceOf('MANIFEST' in all ? all : withManifest(all), zip);
}

export function sourceOf(files: Readonly<Record<string, CartonFile>>, zip?: 'zip'): FilesSource {
  return { kind: 'files', location: './model.carton', tree: treeOf(files, zip) };
}

/** The same as an artifact: files of `sharedMemberBytes` and more are layers, the rest is in one tar. `change` alters the manifest before it is stored. */
export async function artifactOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  change: (manifest: { artifactType: string; layers: unknown[] }) => void = () => {},
): Promise<OciSource> {
  const store = createMemoryStore();
  const layers: unknown[] = [];
  const small: TarMember[] = [];
  for (const [path, file] of Object.entries(files)) {
    const bytes = Buffer.from(file);
    const open = async () => fromBytes(bytes);
    if (bytes.byteLength < sharedMemberBytes)
      small.push({ name: path, mode: 0o644, mtime: 0, content: { kind: 'stream', size: bytes.byteLength, open } });
    else {
      const { digest, size } = await store.put({ kind: 'bytes', bytes });
      layers.push({ mediaType: memberType, digest, size, annotations: { 'org.opencontainers.image.title': path } });
    }
  }
  const { digest, size } = await store.put({ kind: 'tar', members: small, compression: 'none' });
  layers.push({ mediaType: membersType, digest, size });
  const config = await store.put({ kind: 'bytes', bytes: Buffer.from('{}') });
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType,
    config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: config.digest, size: config.size },
    layers,
  };
  change(manifest);
  const { bytes, descriptor } = serialize(manifest, manifest.mediaType);
  return { kind: 'oci', location: 'example.com/carton:1', root: descriptor, bytes, blobs: store };
}
