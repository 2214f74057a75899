import type { HostileLayout } from './hostile-layout.js';

export interface HostileLayer {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** Digest of the bytes before compression; that of `bytes` when absent. */
  readonly diffId?: string;
  /** Over the descriptor that would be right. */
  readonly descriptor?: Readonly<Record<string, unknown>>;
}

type Fields = Record<string, unknown>;

export interface EditableManifest extends Fields {
  readonly config: Fields;
  readonly layers: (Fields & { readonly annotations?: Fields })[];
}

export interface EditableConfig extends Fields {
  readonly descriptor: Fields;
  readonly config: Fields;
  readonly modelfs: Fields;
}

export interface HostilePackage {
  /** `draft` packages are stacked image layers. */
  readonly vintage: 'cncf' | 'draft';
  readonly layers: readonly HostileLayer[];
  readonly editConfig?: (config: EditableConfig) => void;
  readonly configBytes?: Uint8Array | string;
  readonly editManifest?: (manifest: EditableManifest) => void;
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json';

/** Puts it into the layout as `v1` and gives the manifest's digest. */
export function writePackage(layout: HostileLayout, { vintage, layers, editConfig, configBytes, editManifest }: HostilePackage): string {
  const isDraft = vintage === 'draft';
  const stored = layers.map((layer) => ({ ...layer, ...layout.put(layer.bytes) }));
  const diffIds = stored.map(({ diffId, digest }) => diffId ?? digest);
  const config: EditableConfig = {
    descriptor: { name: 'hostile' },
    config: {},
    modelfs: { type: 'layers', diffIds },
    ...(isDraft ? { architecture: 'amd64', os: 'linux', rootfs: { type: 'layers', diff_ids: diffIds } } : {}),
  };
  editConfig?.(config);
  const manifest: EditableManifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: isDraft ? 'application/vnd.cnai.model.manifest.v1+json' : 'application/vnd.cncf.model.manifest.v1+json',
    config: {
      mediaType: isDraft ? 'application/vnd.oci.image.config.v1+json' : 'application/vnd.cncf.model.config.v1+json',
      ...layout.put(configBytes ?? JSON.stringify(config)),
    },
    layers: stored.map(({ mediaType, annotations, digest, size, descriptor }) => ({
      mediaType,
      digest,
      size,
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...descriptor,
    })),
  };
  editManifest?.(manifest);
  return writeManifest(layout, JSON.stringify(manifest));
}

/** Any bytes as the manifest `v1`. */
export function writeManifest(layout: HostileLayout, bytes: Uint8Array | string): string {
  const root = layout.put(bytes);
  layout.index(root);
  return root.digest;
}

/** One file as a raw layer; its path stands in annotations. */
export function rawLayer(path: string, bytes: Uint8Array | string = path, annotations: Readonly<Record<string, unknown>> = {}): HostileLayer {
  return {
    mediaType: 'application/vnd.cncf.model.weight.config.v1.raw',
    bytes: Buffer.from(bytes),
    annotations: { 'org.cncf.model.filepath': path, 'org.opencontainers.image.title': path, ...annotations },
  };
}

/** An archive as a layer of either vintage. */
export function tarLayer(
  vintage: HostilePackage['vintage'],
  bytes: Uint8Array,
  more: Partial<HostileLayer> & { readonly compression?: 'gzip' | 'zstd' } = {},
): HostileLayer {
  const { compression, ...over } = more;
  const ending = compression === undefined ? 'tar' : `tar+${compression}`;
  const mediaType = vintage === 'draft' ? `application/vnd.oci.image.layer.v1.${ending}` : `application/vnd.cncf.model.code.v1.${ending}`;
  const path = vintage === 'draft' ? 'org.cnai.model.filepath' : 'org.cncf.model.filepath';
  const descriptor = vintage === 'draft' ? { artifactType: `application/vnd.cnai.model.layer.v1.${ending}` } : {};
  return { mediaType, bytes, annotations: { [path]: 'stuff' }, descriptor, ...over };
}
