import { createError, type Descriptor, type Finding } from '../core/index.js';
import { verifyGraph } from '../oci/index.js';
import { openLocalStore, type OpenedStore } from '../store/index.js';
import type { OpsContext } from './context.js';
import type { VerifyResult } from './results.js';
import { openSource } from './source.js';
import { createDiffIdCheck } from './verify-diff-ids.js';

export interface VerifyOptions {
  /** Absent: everything that the local store names. */
  readonly location?: string;
}

/** Every byte against every digest, size and diffId. Wrong bytes are problems, not errors. */
export async function verify(options: VerifyOptions, context: OpsContext): Promise<VerifyResult> {
  if (options.location === undefined) return verifyStore(context);
  const source = await openSource(options.location, context);
  try {
    if (source.kind === 'files') {
      throw createError('format/unsupported', { message: `Cannot verify "${options.location}": a bare folder promises no digests`, hint: 'Pack it first, or compare it with `modelport diff`' });
    }
    return await verifyRoots(source.store, [{ descriptor: source.root }], context);
  } finally {
    await source.close();
  }
}

async function verifyStore(context: OpsContext): Promise<VerifyResult> {
  const store = await openLocalStore(context);
  try {
    return await verifyRoots(store, await store.list(), context);
  } finally {
    await store.close();
  }
}

async function verifyRoots(store: OpenedStore, roots: readonly { readonly name?: string; readonly descriptor: Descriptor }[], context: OpsContext): Promise<VerifyResult> {
  const problems: Finding[] = [];
  const checked = { files: 0, bytes: 0 };
  const seen = new Set<string>();
  for (const { name, descriptor } of roots) {
    if (seen.has(descriptor.digest)) continue;
    seen.add(descriptor.digest);
    const { limits, progress, concurrency, signal } = context;
    const result = await verifyGraph(descriptor, store, { limits, progress, concurrency, signal, check: createDiffIdCheck(store, limits) });
    checked.files += result.blobs;
    checked.bytes += result.bytes;
    problems.push(...result.problems.map((problem) => (name === undefined ? problem : { ...problem, message: `${name}: ${problem.message}` })));
  }
  return { ok: problems.every((problem) => problem.level !== 'error'), checked, problems, signatures: [] };
}
