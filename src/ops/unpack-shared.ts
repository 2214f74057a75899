import { rmSync } from 'node:fs';
import { cloneTree, type CloneTreeOptions, judgeTarget, readSharedTree, toIoError, unpackPackage, type UnpackResult } from '../bytes/index.js';
import type { Descriptor, Finding } from '../core/index.js';
import type { UnpackPlan } from '../formats/index.js';
import { type LayoutStore, openLocalStore, withTree } from '../store/index.js';
import type { OpsContext } from './context.js';

/**
 * A package of the local store as read-only files that share their bytes with it. The store keeps one tree of the files, made and proven
 * the first time; what lies at the target is a clone of it.
 */
export async function unpackShared(
  root: Descriptor,
  plan: UnpackPlan,
  target: string,
  options: CloneTreeOptions,
  context: OpsContext,
): Promise<UnpackResult> {
  judgeTarget(target, options.overwrite === true);
  const store = await openLocalStore(context);
  const lease = await store.lease();
  try {
    const make = async (tree: string) => {
      const known = readSharedTree(tree);
      const findings = known === undefined ? await makeTree(plan, tree, store, context) : [];
      const result = await cloneTree(tree, known ?? readSharedTree(tree) ?? [], target, options);
      return { ...result, findings: [...findings, ...result.findings] };
    };
    return await withTree(store, root.digest, make, context.signal);
  } finally {
    lease.release();
  }
}

/** In the place of what stands there: a tree that somebody has changed is no longer what was proven. */
async function makeTree({ sources, policy }: UnpackPlan, tree: string, store: LayoutStore, context: OpsContext): Promise<readonly Finding[]> {
  const { limits, counters, progress, concurrency, signal } = context;
  try {
    rmSync(tree, { recursive: true, force: true });
  } catch (error) {
    throw toIoError(error, 'remove', tree);
  }
  const given = { policy, limits, counters, progress, concurrency, sharing: store, ...(signal === undefined ? {} : { signal }) };
  return (await unpackPackage(sources, tree, given)).findings;
}
