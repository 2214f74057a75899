import { digestOf } from '../../bytes/index.js';
import { createError, defaultLimits, type Digest, isDigest, type Limits } from '../../core/index.js';
import type { Manifest, ManifestLine } from './carton.js';

/**
 * The bytes of MANIFEST → its lines, lenient: what a line lacks is for the rules to say. A path may hold `=`, so a line is split at its last one.
 * Throws `carton/unreadable` when the bytes are not UTF-8, `bytes/limit` with more lines than `limits.archiveEntries`.
 */
export function parseManifest(bytes: Uint8Array, limits: Limits = defaultLimits): Manifest {
  const text = decode(bytes);
  const endsWithNewline = text.endsWith('\n');
  const lines = splitLines(text, limits).map(parseLine);
  const digests = new Map<string, Digest>();
  for (const { path, sha256 } of lines) {
    const digest = `sha256:${sha256?.toLowerCase()}`;
    if (isDigest(digest) && !digests.has(path)) digests.set(path, digest);
  }
  return { lines, digests, modelHash: digestOf(bytes).slice('sha256:'.length), endsWithNewline };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw createError('carton/unreadable', {
      message: 'Cannot read "MANIFEST": it is not UTF-8',
      hint: 'Pack the model again',
      where: 'MANIFEST',
      cause,
    });
  }
}

/** Nothing stands after the last line break. */
function splitLines(text: string, limits: Limits): string[] {
  const lines = text.split('\n', limits.archiveEntries + 2);
  if (lines.at(-1) === '') lines.pop();
  if (lines.length <= limits.archiveEntries) return lines;
  throw createError('bytes/limit', { message: `Cannot read "MANIFEST": it has more than ${limits.archiveEntries} lines`, where: 'MANIFEST' });
}

function parseLine(text: string, index: number): ManifestLine {
  const split = text.lastIndexOf('=');
  if (split < 0) return { line: index + 1, text, path: text };
  return { line: index + 1, text, path: text.slice(0, split), sha256: text.slice(split + 1) };
}

/**
 * The text of MANIFEST for these files, sorted by the UTF-8 bytes of their paths. Throws `carton/cannot-write` for a path that a line cannot hold
 * and for a digest that is not SHA-256.
 */
export function writeManifest(digests: ReadonlyMap<string, Digest>): string {
  const rows = [...digests].map(([path, digest]) => ({ key: Buffer.from(path), line: toLine(path, digest) }));
  return rows
    .toSorted((one, other) => Buffer.compare(one.key, other.key))
    .map(({ line }) => line)
    .join('');
}

function toLine(path: string, digest: Digest): string {
  const reason = /[\r\n]/.test(path)
    ? 'MANIFEST has no place for a line break in a path'
    : digest.startsWith('sha256:')
      ? undefined
      : 'MANIFEST takes SHA-256 only';
  if (reason === undefined) return `${path}=${digest.slice('sha256:'.length)}\n`;
  throw createError('carton/cannot-write', {
    message: `Cannot list ${JSON.stringify(path)} in MANIFEST: ${reason}`,
    hint: 'Rename the file',
    where: path,
  });
}
