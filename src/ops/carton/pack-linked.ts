import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createZip } from '../../bytes/index.js';
import { createError, type Description, type Digest, isDigest } from '../../core/index.js';
import { type CartonSink, type CartonWritten, type Links, readDocuments, shrinkCarton } from '../../formats/index.js';
import type { OpsContext } from '../context.js';
import { openPackageFile } from '../package-file.js';

/** `links = { "SHA256" = ["https://…"] }` under `[format.carton]`; empty without it. Throws `ops/bad-option`. */
export function readLinks({ format, origin }: Description): Links {
  const written = format['carton']?.['links'] ?? {};
  if (typeof written !== 'object' || Array.isArray(written)) throw badLinks('expected a table', origin);
  return new Map(Object.entries(written).map(([hash, urls]) => toLink(hash, urls, origin)));
}

function toLink(hash: string, urls: unknown, origin: string | undefined): readonly [Digest, readonly string[]] {
  const digest = `sha256:${hash.toLowerCase()}`;
  const list: readonly unknown[] = Array.isArray(urls) ? urls : [urls];
  if (!isDigest(digest)) throw badLinks(`"${hash.slice(0, 80)}" is no SHA-256 of 64 hex digits`, origin);
  if (!list.every((url) => typeof url === 'string')) throw badLinks(`expected a list of URLs for ${hash}`, origin);
  return [digest, list];
}

function badLinks(reason: string, origin: string | undefined): Error {
  return createError('ops/bad-option', {
    message: `Cannot use links under [format.carton]: ${reason}`,
    hint: 'links = { "SHA256 of a file" = ["https://example.com/file"] }',
    where: origin,
  });
}

/**
 * Writes a carton without what is linked. Which files those are is known by their hashes only when all is written: so it is written whole to a
 * temporary file first.
 */
export async function packLinked(
  links: Links,
  sink: CartonSink,
  write: (sink: CartonSink) => Promise<CartonWritten>,
  context: OpsContext,
): Promise<CartonWritten> {
  const { env, limits, progress, concurrency, counters, signal } = context;
  const folder = mkdtempSync(join(env['TMPDIR'] || tmpdir(), 'modelport-pack-'));
  context.keep({ close: async () => rmSync(folder, { recursive: true, force: true }) });
  const path = join(folder, 'whole.carton');
  const zip = await createZip(path, { counters, signal });
  try {
    const { lost, findings } = await write({ kind: 'zip', add: (member) => zip.add(member) });
    await zip.commit();
    const whole = await openPackageFile(path, path, context);
    if (whole === undefined) throw createError('core/bug', { message: 'Cannot happen: a carton that was just written is no zip' });
    const documents = await readDocuments(whole, { limits });
    const shrunk = await shrinkCarton(documents.members, documents, links, sink, { limits, progress, concurrency, signal });
    return { ...shrunk, lost, findings: [...findings, ...shrunk.findings] };
  } finally {
    await zip.close();
  }
}
