import { createError, parseReference, toStoreName } from '../core/index.js';
import { openLocalStore } from '../store/index.js';
import type { OpsContext } from './context.js';
import type { PruneResult, RmResult, TagResult } from './results.js';
import { openSource } from './source.js';

/** A second name for a package of the local store. */
export async function tag(options: { readonly source: string; readonly name: string }, context: OpsContext): Promise<TagResult> {
  const source = await openSource(options.source, context);
  try {
    if (source.kind === 'files' || !source.fromStore) {
      throw createError('ops/bad-option', { message: `Cannot tag "${options.source}": it is not in the local store`, hint: `Copy it there: \`modelport copy ${options.source} ${options.name}\`` });
    }
    const reference = parseReference(options.name);
    if (reference.digest !== undefined) throw createError('core/bad-reference', { message: `Cannot tag as "${options.name}": a digest cannot be chosen`, hint: 'Write NAME:TAG' });
    const name = toStoreName(reference);
    const before = await source.store.resolve(name);
    const store = await openLocalStore(context);
    try {
      await store.tag(name, source.root);
    } finally {
      await store.close();
    }
    return { name, digest: source.root.digest, replaced: before?.digest ?? null };
  } finally {
    await source.close();
  }
}

/** Takes names away; the bytes stay until `prune`. All names must exist, else none is removed. */
export async function rm(options: { readonly names: readonly string[] }, context: OpsContext): Promise<RmResult> {
  const store = await openLocalStore(context);
  try {
    const removed = [];
    for (const text of options.names) {
      const reference = parseReference(text);
      const matches = (await store.list()).filter((entry) => (reference.tag === undefined ? entry.descriptor.digest === reference.digest : entry.name === toStoreName(reference)));
      if (matches.length === 0) {
        throw createError('store/name-not-found', { message: `Cannot remove "${text}": it is not in the local store`, hint: '`modelport list` shows what is there' });
      }
      removed.push(...matches);
    }
    for (const entry of removed) await store.remove(entry);
    return { removed };
  } finally {
    await store.close();
  }
}

/** Frees the bytes that no name reaches. Safe while others read and write. */
export async function prune(options: { readonly dryRun?: boolean }, context: OpsContext): Promise<PruneResult> {
  const store = await openLocalStore(context);
  try {
    const dryRun = options.dryRun === true;
    const { removed, freedBytes, kept } = await store.prune({ dryRun });
    return { dryRun, removed, freedBytes, kept };
  } finally {
    await store.close();
  }
}
