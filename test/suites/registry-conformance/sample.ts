import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { rawTar } from '../../support/raw-tar.js';

export type Algorithm = 'sha256' | 'sha512';

export const mediaTypes = {
  bytes: 'application/octet-stream',
  config: 'application/vnd.oci.image.config.v1+json',
  emptyJson: 'application/vnd.oci.empty.v1+json',
  image: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  tar: 'application/vnd.oci.image.layer.v1.tar',
  tarGzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
  foreignTar: 'application/vnd.oci.image.layer.nondistributable.v1.tar',
  foreignTarGzip: 'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip',
  exhibit: 'application/vnd.example.exhibit.v1',
  otherExhibit: 'application/vnd.example.exhibit.v2',
} as const;

export interface SampleDescriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly os: string; readonly architecture: string };
  readonly urls?: readonly string[];
  readonly data?: string;
}

export interface SampleBlob {
  readonly digest: string;
  readonly bytes: Buffer;
}

export interface SampleManifest extends SampleBlob {
  readonly mediaType: string;
  readonly subject: string | undefined;
}

/** What of an image or an index is not as usual. */
export interface ManifestTraits {
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly subject?: SampleDescriptor;
  /** A field that no specification knows, in the manifest and in an image's config. */
  readonly customField?: boolean;
  /** Descriptors carry their content. */
  readonly embedded?: boolean;
}

export interface ImageTraits extends ManifestTraits {
  readonly architecture?: string;
  readonly config?: SampleDescriptor;
  readonly layers?: readonly SampleDescriptor[];
}

interface ManifestFields {
  readonly mediaType: string;
  readonly subject: SampleDescriptor | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

export function digestOf(bytes: Uint8Array, algorithm: Algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

/** The same bytes for the same seed, and others for every other. */
export function seededBytes(seed: string, size: number): Buffer {
  // A digest of no length is refused, so one byte too many is made.
  return createHash('shake256', { outputLength: size + 1 })
    .update(seed)
    .digest()
    .subarray(0, size);
}

/** Data of one kind, made piece by piece: what a manifest names comes before it. */
export class Sample {
  readonly blobs = new Map<string, SampleBlob>();
  /** In the order in which a registry takes them. */
  readonly manifests: SampleManifest[] = [];
  /** Tag → manifest. */
  readonly tags = new Map<string, SampleManifest>();
  /** Digest of the subject → what a registry lists for it. */
  readonly referrers = new Map<string, SampleDescriptor[]>();
  #pieces = 0;

  constructor(
    readonly name: string,
    readonly algorithm: Algorithm = 'sha256',
  ) {}

  /** Bytes that occur nowhere else. */
  freshBytes(size: number): Buffer {
    return seededBytes(`${this.name} ${this.#pieces++}`, size);
  }

  blob(mediaType: string, bytes: Buffer, embedded = false): SampleDescriptor {
    const digest = digestOf(bytes, this.algorithm);
    this.blobs.set(digest, { digest, bytes });
    return { mediaType, digest, size: bytes.length, ...(embedded ? { data: bytes.toString('base64') } : {}) };
  }

  layer(compression: 'gzip' | 'none' = 'gzip', embedded = false): SampleDescriptor {
    const tar = Buffer.from(rawTar({ name: './weights.bin', content: this.freshBytes(300) }));
    return compression === 'gzip' ? this.blob(mediaTypes.tarGzip, gzipSync(tar), embedded) : this.blob(mediaTypes.tar, tar, embedded);
  }

  config(architecture = 'amd64', traits: ManifestTraits = {}): SampleDescriptor {
    const diffIds = [digestOf(this.freshBytes(64)), digestOf(this.freshBytes(64))];
    const config = { author: this.name, os: 'linux', architecture, rootfs: { type: 'layers', diff_ids: diffIds }, ...this.#customField(traits) };
    return this.blob(mediaTypes.config, Buffer.from(JSON.stringify(config)), traits.embedded);
  }

  image(traits: ImageTraits = {}): SampleManifest {
    const { artifactType, annotations, subject, embedded } = traits;
    const layers = traits.layers ?? [this.layer('gzip', embedded), this.layer('gzip', embedded)];
    const config = traits.config ?? this.config(traits.architecture, traits);
    const fields = { schemaVersion: 2, mediaType: mediaTypes.image, artifactType, config, layers, subject, annotations };
    return this.#manifest({ ...fields, ...this.#customField(traits) }, artifactType ?? config.mediaType);
  }

  index(children: readonly SampleDescriptor[], traits: ManifestTraits = {}): SampleManifest {
    const { artifactType, annotations, subject } = traits;
    const fields = { schemaVersion: 2, mediaType: mediaTypes.index, artifactType, manifests: children, subject, annotations };
    return this.#manifest({ ...fields, ...this.#customField(traits) }, artifactType);
  }

  /** An index of two images for two architectures. */
  fullIndex(traits: ManifestTraits = {}, traitsOfImage: () => ImageTraits = () => ({})): SampleManifest {
    const children = ['amd64', 'arm64'].map((architecture) => {
      const image = this.image({ ...traitsOfImage(), architecture });
      return { ...toDescriptor(image), platform: { os: 'linux', architecture } };
    });
    return this.index(children, traits);
  }

  tag(name: string, manifest: SampleManifest): void {
    this.tags.set(name, manifest);
  }

  /** `artifactType`: as a list of referrers has it. */
  #manifest(fields: ManifestFields, artifactType: string | undefined): SampleManifest {
    const bytes = Buffer.from(JSON.stringify(fields));
    const { mediaType, subject, annotations } = fields;
    const manifest = { mediaType, digest: digestOf(bytes, this.algorithm), bytes, subject: subject?.digest };
    this.manifests.push(manifest);
    if (subject !== undefined) {
      const listed = { ...toDescriptor(manifest), ...(artifactType === undefined ? {} : { artifactType }), ...(annotations && { annotations }) };
      this.referrers.set(subject.digest, [...(this.referrers.get(subject.digest) ?? []), listed]);
    }
    return manifest;
  }

  #customField({ customField }: ManifestTraits): Record<string, string> {
    return customField === true ? { [`org.example.${this.#pieces++}`]: this.freshBytes(8).toString('hex') } : {};
  }
}

export function toDescriptor({ mediaType, digest, bytes }: SampleManifest): SampleDescriptor {
  return { mediaType, digest, size: bytes.length };
}
