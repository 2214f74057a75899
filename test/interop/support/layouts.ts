/** OCI image layouts as data: read them, change them, make ones that no decent writer would. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from './folders.js';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Manifest {
  readonly schemaVersion: 2;
  readonly mediaType: string;
  readonly artifactType?: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Index {
  readonly schemaVersion: 2;
  readonly manifests: readonly Descriptor[];
}

const nameKey = 'org.opencontainers.image.ref.name';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

export class Layout {
  constructor(readonly folder: string) {}

  static create(folder: string): Layout {
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
    writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    writeFileSync(join(folder, 'index.json'), json({ schemaVersion: 2, manifests: [] }));
    return new Layout(folder);
  }

  index(): Index {
    return JSON.parse(readFileSync(join(this.folder, 'index.json'), 'utf8')) as Index;
  }

  entry(tag: string): Descriptor {
    const found = this.index().manifests.find(({ annotations }) => annotations?.[nameKey] === tag);
    if (found === undefined) throw new Error(`Cannot find "${tag}" in ${this.folder}`);
    return found;
  }

  manifest(tag: string): Manifest {
    return JSON.parse(readFileSync(this.blobFile(this.entry(tag).digest), 'utf8')) as Manifest;
  }

  config(tag: string): unknown {
    return JSON.parse(readFileSync(this.blobFile(this.manifest(tag).config.digest), 'utf8'));
  }

  blobFile(digest: string): string {
    return join(this.folder, 'blobs', digest.replace(':', '/'));
  }

  putBlob(mediaType: string, bytes: Uint8Array): Descriptor {
    const digest = `sha256:${sha256(bytes)}`;
    writeFileSync(this.blobFile(digest), bytes);
    return { mediaType, digest, size: bytes.length };
  }

  putJson(mediaType: string, value: unknown): Descriptor {
    return this.putBlob(mediaType, json(value));
  }

  /** Writes a manifest, and names it. */
  putManifest(tag: string, manifest: Omit<Manifest, 'schemaVersion' | 'mediaType'>): Descriptor {
    const written = this.putJson(manifestType, { schemaVersion: 2, mediaType: manifestType, ...manifest });
    this.name(tag, written);
    return written;
  }

  /** The name must not be in use. */
  name(tag: string, { mediaType, digest, size }: Descriptor): void {
    const entry: Descriptor = { mediaType, digest, size, annotations: { [nameKey]: tag } };
    writeFileSync(join(this.folder, 'index.json'), json({ schemaVersion: 2, manifests: [...this.index().manifests, entry] }));
  }

  /** Flips the lowest bit of one byte in the middle. */
  corrupt(digest: string): void {
    const file = this.blobFile(digest);
    const bytes = readFileSync(file);
    const at = bytes.length >> 1;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(file, bytes);
  }
}

export interface LayerRecipe {
  /** After `application/vnd.cncf.model.`, such as `weight.v1.raw`. */
  readonly type: string;
  readonly filepath: string;
  readonly bytes: Uint8Array;
  /** Of what compressed bytes come to; the layer's own digest without it. */
  readonly diffId?: string;
  /** Replaces what is true in the descriptor. */
  readonly lies?: Partial<Descriptor>;
}

/** A ModelPack that claims what the recipes say. */
export function putModelPack(layout: Layout, tag: string, recipes: readonly LayerRecipe[]): Descriptor {
  const layers = recipes.map(({ type, filepath, bytes, lies }) => ({
    ...layout.putBlob(`application/vnd.cncf.model.${type}`, bytes),
    annotations: { 'org.cncf.model.filepath': filepath, 'org.opencontainers.image.title': filepath },
    ...lies,
  }));
  const diffIds = recipes.map(({ diffId }, at) => diffId ?? (layers[at] as Descriptor).digest);
  const config = layout.putJson('application/vnd.cncf.model.config.v1+json', {
    descriptor: { name: 'made-by-hand' },
    config: { format: 'safetensors' },
    modelfs: { type: 'layers', diffIds },
  });
  return layout.putManifest(tag, { artifactType: 'application/vnd.cncf.model.manifest.v1+json', config, layers });
}
