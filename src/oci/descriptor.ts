import { createError, type Descriptor, isDigest, isJsonObject } from '../core/index.js';

/** The two bytes `{}` as a blob, for manifests that have no configuration. (manifest.md, Guidance for an Empty Descriptor) */
export const emptyDescriptor: Descriptor = {
  mediaType: 'application/vnd.oci.empty.v1+json',
  digest: 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  size: 2,
};

/** The content that `emptyDescriptor` describes. */
export const emptyJson: Uint8Array = new TextEncoder().encode('{}');

/**
 * JSON value → descriptor. Throws `oci/bad-manifest` naming `field` when it is not one: digests follow the grammar, sizes are whole
 * numbers from 0 to 2^53-1, annotations map text to text. Members that the toolkit has no use for (`urls`, `data`) are left out.
 */
export function parseDescriptor(value: unknown, field: string, where: string): Descriptor {
  if (!isJsonObject(value)) throw badManifest(where, field, 'a descriptor object', value);
  const { mediaType, digest, size } = value;
  if (typeof mediaType !== 'string' || mediaType === '') throw badManifest(where, `${field}.mediaType`, 'a media type', mediaType);
  if (!isDigest(digest)) throw badManifest(where, `${field}.digest`, 'sha256: with 64 or sha512: with 128 lower-case hex digits', digest);
  if (!isSize(size)) throw badManifest(where, `${field}.size`, 'a whole number of bytes from 0 to 2^53-1', size);
  const artifactType = parseText(value['artifactType'], `${field}.artifactType`, where);
  const annotations = parseAnnotations(value['annotations'], `${field}.annotations`, where);
  const platform = value['platform'];
  return {
    mediaType,
    digest,
    size,
    ...(artifactType === undefined ? {} : { artifactType }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(isJsonObject(platform) ? { platform } : {}),
  };
}

/** The text→text map, or undefined where there is none. The parsed object is handed on as it is: copying would lose a key `__proto__`. */
export function parseAnnotations(value: unknown, field: string, where: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw badManifest(where, field, 'an object', value);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') throw badManifest(where, `${field}[${JSON.stringify(key.slice(0, 80))}]`, 'a text', text);
  }
  return value as Readonly<Record<string, string>>;
}

export function parseText(value: unknown, field: string, where: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  throw badManifest(where, field, 'a text', value);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function badManifest(where: string, field: string, expected: string, found: unknown): Error {
  return createError('oci/bad-manifest', {
    message: `Cannot use the manifest "${where}": ${field}: expected ${expected}, found ${show(found)}`,
    where: `${where}: ${field}`,
  });
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (isJsonObject(value)) return 'an object';
  return typeof value === 'number' ? String(value) : JSON.stringify(typeof value === 'string' ? value.slice(0, 160) : value);
}
