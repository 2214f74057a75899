import { createError, type Finding, type NamedDescriptor } from '../core/index.js';
import { verifyGraph } from '../oci/index.js';
import { openLocalStore } from '../store/index.js';
import { isCarton } from './carton/is-carton.js';
import type { OpsContext } from './context.js';
import type { VerifyResult } from './results.js';
import { openSource, type Shelf } from './source.js';
import { verifyArtifact, verifyFiles } from './verify-files.js';
import { createDiffIdCheck } from './verify-diff-ids.js';

export interface VerifyOptions {
  /** Absent: everything that the local store names. */
  readonly location?: string;
  /** Also what is only linked: fetched and hashed. */
  readonly links?: boolean;
}

/** Every byte against every digest, size and diffId. Wrong bytes are problems, not errors. */
export async function verify(options: VerifyOptions, context: OpsContext): Promise<VerifyResult> {
  if (options.location === undefined) return verifyStore(context);
  const source = await openSource(options.location, context);
  if (source.kind === 'files') return verifyFiles(source, options.links === true, context);
  if (source.kind === 'folder') {
    throw createError('format/unsupported', {
      message: `Cannot verify "${options.location}": a bare folder promises no digests`,
      hint: 'Pack it first, or compare it with `modelport diff`',
    });
  }
  const result = await verifyRoots(source.shelf, [{ descriptor: source.root }], context);
  // What cannot be read as it was promised says nothing about its members.
  return result.ok && (await isCarton(source)) ? addResults(result, await verifyArtifact(source, options.links === true, context)) : result;
}

function addResults(blobs: VerifyResult, members: VerifyResult): VerifyResult {
  const checked = { files: blobs.checked.files + members.checked.files, bytes: blobs.checked.bytes + members.checked.bytes };
  return { ok: members.ok, checked, problems: [...blobs.problems, ...members.problems], signatures: [] };
}

async function verifyStore(context: OpsContext): Promise<VerifyResult> {
  const store = await openLocalStore(context);
  return verifyRoots(store, await store.list(), context);
}

async function verifyRoots(shelf: Shelf, roots: readonly NamedDescriptor[], context: OpsContext): Promise<VerifyResult> {
  const problems: Finding[] = [];
  const checked = { files: 0, bytes: 0 };
  const seen = new Set<string>();
  for (const { name, descriptor } of roots) {
    if (seen.has(descriptor.digest)) continue;
    seen.add(descriptor.digest);
    const { limits, progress, concurrency, signal } = context;
    const result = await verifyGraph(descriptor, shelf, { limits, progress, concurrency, signal, check: createDiffIdCheck(shelf, limits) });
    checked.files += result.blobs;
    checked.bytes += result.bytes;
    problems.push(...result.problems.map((problem) => (name === undefined ? problem : { ...problem, message: `${name}: ${problem.message}` })));
  }
  return { ok: problems.every((problem) => problem.level !== 'error'), checked, problems, signatures: [] };
}
