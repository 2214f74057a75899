/** How a registry differs from the specification, where its own documentation, sources or users say so. */
export interface Quirks {
  /**
   * How large blobs are sent. `chunked`: pieces of `chunkBytes`, after each of which an interrupted upload can go on. `monolithic`: in one
   * request, for registries that refuse pieces; a digest that is not known is then computed before.
   */
  readonly upload: 'chunked' | 'monolithic';
  readonly chunkBytes: number;
  /** Whether an upload that stopped is still there some minutes later. */
  readonly keepsUploads: boolean;
  /** What the registry takes at most in one blob. */
  readonly maxBlobBytes?: number;
  /** Where the API is, when it is not at the host of the name. */
  readonly apiHost?: string;
  /** Put before a repository of one part only. */
  readonly defaultNamespace?: string;
  /** Added to the hint when it refuses what others take. */
  readonly refusalHint?: string;
}

const MiB = 1024 * 1024;

export const ordinary: Quirks = { upload: 'chunked', chunkBytes: 16 * MiB, keepsUploads: true };

/** By the whole host, port included. Of several rows that match, all count. */
const table: readonly { readonly host: RegExp; readonly quirks: Partial<Quirks>; readonly because: string }[] = [
  { host: /^ghcr\.io$/, quirks: { upload: 'monolithic' }, because: 'it answers 416 to pieces above 4 MiB' },
  { host: /^(?:.+\.)?gcr\.io$|-docker\.pkg\.dev$/, quirks: { upload: 'monolithic' }, because: 'it has no uploads in pieces' },
  {
    host: /\.dkr\.ecr(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/,
    quirks: { refusalHint: 'The repository must exist before anything is pushed to it: `aws ecr create-repository`' },
    because: 'it makes no repository by itself, and answers 201 to the first piece',
  },
  {
    host: /^quay\.io$/,
    quirks: { maxBlobBytes: 20_000_000_000, refusalHint: 'The organisation may have to allow artifacts of this type' },
    because: 'it takes about 20 GB in one blob, and some types of artifacts only when told so',
  },
  { host: /\.jfrog\.io$/, quirks: { keepsUploads: false }, because: 'it cleans up failed uploads early' },
  {
    host: /^(?:(?:index|registry-1)\.)?docker\.io$/,
    quirks: {
      apiHost: 'registry-1.docker.io',
      defaultNamespace: 'library',
      refusalHint: 'Docker Hub limits pulls without a login: `modelport login docker.io`',
    },
    because: 'names and API have different hosts, and pulls are limited',
  },
];

export function findQuirks(host: string): Quirks {
  return Object.assign({ ...ordinary }, ...table.filter((row) => row.host.test(host)).map((row) => row.quirks)) as Quirks;
}
