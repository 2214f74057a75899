import { createHash } from 'node:crypto';
import { collect, decompress, drain } from '../bytes/index.js';
import { type BlobSource, type ByteStream, type Finding, isJsonObject, type Limits, parseJson } from '../core/index.js';
import type { LeafNode, ManifestNode, VerifyOptions } from '../oci/index.js';

/**
 * Holds each layer against the digest of its uncompressed bytes in the config (`modelfs.diffIds`, or `rootfs.diff_ids` of an image).
 * Uncompressed layers cost nothing; a compressed one is decompressed on the way of the one read that verifies its digest.
 */
export function createDiffIdCheck(source: BlobSource, limits: Limits): NonNullable<VerifyOptions['check']> {
  const known = new Map<ManifestNode, Promise<readonly string[] | undefined>>();
  return async (leaf, parent, stream) => {
    const index =
      parent.parsed.kind === 'manifest' ? parent.parsed.manifest.layers.findIndex((layer) => layer.digest === leaf.descriptor.digest) : -1;
    if (index < 0) return drain(stream).then(() => []);
    if (!known.has(parent)) known.set(parent, readDiffIds(parent, source, limits));
    const expected = (await known.get(parent))?.[index];
    const compression = compressionOf(leaf.descriptor.mediaType);
    if (expected === undefined || compression === undefined) {
      await drain(stream);
      return expected === undefined || expected === leaf.descriptor.digest ? [] : [mismatch(leaf, expected, leaf.descriptor.digest)];
    }
    const found = await hashDecompressed(stream, compression, { limits, where: leaf.label });
    return found === expected ? [] : [mismatch(leaf, expected, found)];
  };
}

function compressionOf(mediaType: string): 'gzip' | 'zstd' | undefined {
  if (/[.+]gzip$/.test(mediaType)) return 'gzip';
  return /[.+]zstd$/.test(mediaType) ? 'zstd' : undefined;
}

/** Undefined when there is no readable config: its own digest is judged elsewhere, its content by `validate`. */
async function readDiffIds(parent: ManifestNode, source: BlobSource, limits: Limits): Promise<readonly string[] | undefined> {
  if (parent.parsed.kind !== 'manifest') return undefined;
  try {
    const bytes = await collect(await source.open(parent.parsed.manifest.config), limits.configBytes, 'the config');
    const json = parseJson(bytes, 'config blob', { bytes: limits.configBytes, depth: limits.jsonDepth });
    if (!isJsonObject(json)) return undefined;
    for (const [holder, names] of [
      ['modelfs', ['diffIds', 'diff_ids']],
      ['rootfs', ['diff_ids']],
    ] as const) {
      const section = json[holder];
      const list = isJsonObject(section) ? names.map((name) => section[name]).find(Array.isArray) : undefined;
      if (list !== undefined) return list.map(String);
    }
    return undefined;
  } catch {
    return undefined;
  }
}

async function hashDecompressed(stream: ByteStream, compression: 'gzip' | 'zstd', options: { limits: Limits; where: string }): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of decompress(stream, compression, options)) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}

function mismatch(leaf: LeafNode, expected: string, found: string): Finding {
  return {
    level: 'error',
    code: 'verify/diff-id',
    message: `${leaf.label}: the config promises ${expected} for its uncompressed bytes, found ${found}`,
    where: leaf.descriptor.digest,
    hint: 'The config and the layer do not belong together: build the package again',
  };
}
