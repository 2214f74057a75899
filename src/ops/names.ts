import { createError, parseReference, toStoreName } from '../core/index.js';
import { openLocalStore, prune as pruneLayout } from '../store/index.js';
import type { OpsContext } from './context.js';
import type { PruneResult, RmResult, TagResult } from './results.js';
import { openSource } from './source.js';

/** A second name for a package of the local store. */
export async function tag(options: { readonly source: string; readonly name: string }, context: OpsContext): Promise<TagResult> {
  const source = await openSource(options.source, context);
  if (source.kind === 'files' || !source.fromStore) {
    throw createError('ops/bad-option', {
      message: `Cannot tag "${options.source}": it is not in the local store`,
      hint: `Copy it there: \`modelport copy ${options.source} ${options.name}\``,
    });
  }
  const reference = parseReference(options.name);
  if (reference.digest !== undefined)
    throw createError('core/bad-reference', { message: `Cannot tag as "${options.name}": a digest cannot be chosen`, hint: 'Write NAME:TAG' });
  const name = toStoreName(reference);
  const store = await openLocalStore(context);
  const before = await store.resolve(name);
  await store.tag(name, source.root);
  return { name, digest: source.root.digest, replaced: before?.digest ?? null };
}

/** Takes names away; the bytes stay until `prune`. All names must exist, else none is removed. */
export async function rm(options: { readonly names: readonly string[] }, context: OpsContext): Promise<RmResult> {
  const store = await openLocalStore(context);
  const listed = await store.list();
  const removed = options.names.flatMap((text) => {
    const reference = parseReference(text);
    const matches = listed.filter((entry) =>
      reference.tag === undefined ? entry.descriptor.digest === reference.digest : entry.name === toStoreName(reference),
    );
    if (matches.length > 0) return matches;
    throw createError('store/name-not-found', {
      message: `Cannot remove "${text}": it is not in the local store`,
      hint: '`modelport list` shows what is there',
    });
  });
  for (const { name } of removed) if (name !== undefined) await store.remove(name);
  return { removed };
}

/** Frees the bytes that no name reaches. Safe while others read and write. */
export async function prune(options: { readonly dryRun?: boolean }, context: OpsContext): Promise<PruneResult> {
  const dryRun = options.dryRun === true;
  const { removed, freedBytes, kept } = await pruneLayout(await openLocalStore(context), { dryRun, limits: context.limits });
  return { dryRun, removed, freedBytes, kept };
}
