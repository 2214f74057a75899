import { createError, type Digest, isDigest } from '../../core/index.js';
import { type Links, readDocuments, shrinkCarton } from '../../formats/index.js';
import type { OpsContext } from '../context.js';
import { listHubFiles } from './hub-files.js';
import type { CartonShrinkResult, CopyResult } from '../results.js';
import { openSource } from '../source.js';
import { hashUrl } from './hash-url.js';
import { openCartonDestination } from './carton-target.js';
import { copyCarton } from './copy-carton.js';
import { assertCarton, isCarton } from './is-carton.js';

export interface ShrinkOptions {
  readonly source: string;
  /** A file, or a name. */
  readonly destination: string;
  /** `URL`, which is fetched and hashed, or `SHA256=URL`. */
  readonly links?: readonly string[];
  /** `ORG/REPO[@REVISION]`: every file that the hub keeps by its SHA-256. */
  readonly hub?: readonly string[];
}

/** A carton without what URLs serve. The model hash stays; so does the order in which URLs were given. */
export async function shrinkCartonFile(options: ShrinkOptions, context: OpsContext): Promise<CartonShrinkResult> {
  const source = await openSource(options.source, context);
  assertCarton(options.source, await isCarton(source), 'shrink');
  if (source.kind === 'folder') throw createError('core/bug', { message: 'Cannot happen: a bare folder is a carton' });
  const links = await gatherLinks(options, context);
  const { limits, progress, concurrency, signal } = context;
  const documents = await readDocuments(source, { limits });
  const target = await openCartonDestination(options.destination, context);
  try {
    const written = await shrinkCarton(documents.members, documents, links, target.sink, { limits, progress, concurrency, signal });
    const digest = await target.finish(written.root);
    const { modelHash, bytes, left, savedBytes, unused } = written;
    return {
      digest,
      modelHash,
      name: target.name,
      path: target.path,
      bytes,
      lost: [],
      copied: [],
      left,
      savedBytes,
      unused,
      findings: written.findings,
    };
  } finally {
    await target.close();
  }
}

/** The carton with everything that was linked inside. */
export async function inflateCartonFile(
  options: { readonly source: string; readonly destination: string },
  context: OpsContext,
): Promise<CopyResult> {
  const source = await openSource(options.source, context);
  assertCarton(options.source, await isCarton(source), 'inflate');
  if (source.kind === 'folder') throw createError('core/bug', { message: 'Cannot happen: a bare folder is a carton' });
  return copyCarton(source, () => openCartonDestination(options.destination, context), true, context);
}

async function gatherLinks({ links = [], hub = [] }: ShrinkOptions, context: OpsContext): Promise<Links> {
  if (links.length + hub.length === 0)
    throw createError('ops/bad-option', {
      message: 'Cannot shrink: it is not said what URLs serve',
      hint: 'Add --link URL, --link SHA256=URL, or --hf ORG/REPO@REVISION',
    });
  const gathered = new Map<Digest, readonly string[]>();
  const add = (digest: Digest, url: string) => gathered.set(digest, [...new Set([...(gathered.get(digest) ?? []), url])]);
  for (const word of links) {
    const [digest, url] = await readLink(word, context);
    add(digest, url);
  }
  for (const repository of hub) for (const { digest, url } of await listHubFiles(repository, context)) add(digest, url);
  return gathered;
}

async function readLink(word: string, context: OpsContext): Promise<readonly [Digest, string]> {
  const stated = /^(?:sha256:)?([0-9a-fA-F]{64})=(.+)$/.exec(word);
  if (stated === null) return [await hashUrl(word, context), word];
  const digest = `sha256:${(stated[1] as string).toLowerCase()}`;
  if (!isDigest(digest)) throw createError('core/bug', { message: `Cannot happen: ${digest} is no digest` });
  return [digest, stated[2] as string];
}
