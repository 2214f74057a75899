/** What a registry has to know of a manifest. */
export interface ManifestReferences {
  readonly mediaType: string | undefined;
  /** Config, layers and blobs that must be in the repository. */
  readonly blobs: readonly string[];
  /** Manifests of an index. */
  readonly manifests: readonly string[];
  readonly subject: string | undefined;
  /** As a list of referrers shows it. */
  readonly artifactType: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

interface Fields {
  readonly schemaVersion?: unknown;
  readonly mediaType?: string;
  readonly artifactType?: string;
  readonly config?: DescriptorFields;
  readonly layers?: readonly DescriptorFields[];
  readonly blobs?: readonly DescriptorFields[];
  readonly manifests?: readonly DescriptorFields[];
  readonly subject?: DescriptorFields;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface DescriptorFields {
  readonly mediaType?: string;
  readonly digest?: string;
  readonly size?: number;
  readonly urls?: readonly string[];
}

/** Undefined when the bytes are no manifest. */
export function parseManifestReferences(bytes: Uint8Array): ManifestReferences | undefined {
  const fields = parseFields(bytes);
  if (fields === undefined) return undefined;
  const { config, layers = [], blobs = [], manifests = [], subject } = fields;
  const here = [...(config === undefined ? [] : [config]), ...layers, ...blobs].filter(({ urls }) => urls === undefined || urls.length === 0);
  if (![...here, ...manifests].every(isDescriptor)) return undefined;
  return {
    mediaType: fields.mediaType,
    blobs: here.flatMap(({ digest }) => digest ?? []),
    manifests: manifests.flatMap(({ digest }) => digest ?? []),
    subject: subject?.digest,
    artifactType: fields.artifactType ?? config?.mediaType,
    annotations: fields.annotations,
  };
}

function parseFields(bytes: Uint8Array): Fields | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    const fields = typeof value === 'object' && value !== null ? (value as Fields) : undefined;
    return fields?.schemaVersion === 2 ? fields : undefined;
  } catch {
    return undefined;
  }
}

function isDescriptor({ mediaType, digest, size }: DescriptorFields): boolean {
  return typeof mediaType === 'string' && typeof digest === 'string' && Number.isSafeInteger(size);
}
