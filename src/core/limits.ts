const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

/**
 * Every limit on what is read from outside, named once. All are settable by passing another table.
 * Sizes are bytes; the reasons stand beside the ones that are not obvious.
 */
export interface Limits {
  readonly manifestBytes: number;
  /** What we write; registries are asked to take 4,000,000 bytes. (distribution-spec 1.1, Pushing Manifests) */
  readonly writtenManifestBytes: number;
  readonly configBytes: number;
  /** TOML, YAML or JSON that a person wrote. */
  readonly personFileBytes: number;
  readonly jsonDepth: number;
  /** Values, tables and lists of one TOML document: each takes many times the memory of its text. */
  readonly tomlValues: number;
  readonly manifestLayers: number;
  /** index.json of a layout or store: a few hundred bytes a package. */
  readonly layoutIndexBytes: number;
  readonly indexDepth: number;
  readonly graphNodes: number;
  readonly archiveEntries: number;
  readonly pathBytes: number;
  readonly pathComponents: number;
  readonly componentBytes: number;
  /** One file or layer after decompression. */
  readonly unpackedBytes: number;
  /** Decompressed : compressed, judged only after `ratioFloorBytes` have come out. */
  readonly compressionRatio: number;
  readonly ratioFloorBytes: number;
  /** zstd window; 8 MiB must be supported, 128 MiB is the library's own default limit. */
  readonly zstdWindowBytes: number;
  /** Frames of one zstd stream, skippable ones too: each costs a decoder, however small it is. */
  readonly zstdFrames: number;
  /** Skippable frames of one zstd stream together; they hold indexes, not content. */
  readonly zstdSkippedBytes: number;
  /** A compressed layer up to this size is decompressed to list its files; a larger one is shown as one file. */
  readonly listedLayerBytes: number;
  /** pax and GNU long-name records of one tar entry. */
  readonly tarMetadataBytes: number;
  readonly safetensorsHeaderBytes: number;
  readonly ggufHeaderBytes: number;
  readonly ggufKeys: number;
  readonly ggufStringBytes: number;
  readonly tensors: number;
  readonly shards: number;
  readonly onnxMetadataBytes: number;
  readonly npyHeaderBytes: number;
  /** The central directory of a zip, held in memory as it is listed. */
  readonly zipDirectoryBytes: number;
  /** One tensor that is held in memory: a test tensor, an input, an output. */
  readonly tensorBytes: number;
  /** A tensor file in TOML or JSON, as Carton keeps texts. */
  readonly tensorTextBytes: number;
  /** MANIFEST and LINKS of a carton: about 100 bytes a file. */
  readonly memberListBytes: number;
  /** One file that a link leads to, after decoding. */
  readonly linkedBytes: number;
  /** All linked files that are kept on this machine together. */
  readonly linkCacheBytes: number;
  /** A file at a URL whose server gives no parts of it, copied to be read. */
  readonly remoteCopyBytes: number;
}

export const defaultLimits: Limits = {
  manifestBytes: 4 * MiB,
  writtenManifestBytes: 4_000_000,
  configBytes: 4 * MiB,
  personFileBytes: 1 * MiB,
  jsonDepth: 64,
  tomlValues: 2_000_000,
  manifestLayers: 10_000,
  layoutIndexBytes: 64 * MiB,
  indexDepth: 8,
  graphNodes: 100_000,
  archiveEntries: 1_000_000,
  pathBytes: 4096,
  pathComponents: 128,
  componentBytes: 255,
  unpackedBytes: 16_384 * GiB,
  compressionRatio: 1100,
  ratioFloorBytes: 64 * MiB,
  zstdWindowBytes: 128 * MiB,
  zstdFrames: 1_000_000,
  zstdSkippedBytes: 64 * MiB,
  listedLayerBytes: 64 * MiB,
  tarMetadataBytes: 1 * MiB,
  safetensorsHeaderBytes: 100_000_000,
  ggufHeaderBytes: 512 * MiB,
  ggufKeys: 100_000,
  ggufStringBytes: 10_000_000,
  tensors: 1_000_000,
  shards: 10_000,
  onnxMetadataBytes: 64 * MiB,
  npyHeaderBytes: 1 * MiB,
  zipDirectoryBytes: 512 * MiB,
  tensorBytes: 2 * GiB,
  tensorTextBytes: 64 * MiB,
  memberListBytes: 128 * MiB,
  linkedBytes: 256 * GiB,
  linkCacheBytes: 64 * GiB,
  remoteCopyBytes: 1 * GiB,
};
