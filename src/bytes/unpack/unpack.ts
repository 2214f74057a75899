import { resolve } from 'node:path';
import { createError, isToolkitError, type ToolkitError } from '../../core/index.js';
import { leavesWork } from '../fetch-blob.js';
import { toIoError } from '../os-error.js';
import { twice } from '../twice.js';
import { judgeTarget } from './judge-target.js';
import { toPartFolder, withPartFolder } from './part-folder.js';
import { Staging, type StagingOptions } from './staging.js';
import { resumedBytes, UnpackJob } from './unpack-job.js';
import { unpackLayers } from './unpack-layers.js';
import { unpackParts } from './unpack-parts.js';
import type { UnpackOptions, UnpackResult, UnpackSource } from './unpack-source.js';

/**
 * Puts the files of a package into the folder `target`, which is new, empty, or (with `overwrite`) any folder: all of them or,
 * after any failure, none. Modes are those of the package without set-id bits, less the umask, as tar does it.
 * Throws `bytes/unsafe-path` and `bytes/refused-entry` naming the entry, `bytes/exists`, `bytes/disk-full`, `core/cancelled`
 * and whatever the sources throw; with a `resumeKey` also `store/locked` while another run unpacks the same there. A crash leaves a hidden
 * folder that `removeLeftovers` finds.
 */
export async function unpackPackage(sources: readonly UnpackSource[], target: string, options: UnpackOptions): Promise<UnpackResult> {
  const { overwrite, counters, resumeKey, signal } = options;
  if (resumeKey === undefined) return fill(sources, target, options, { overwrite, counters }, true);
  if (options.policy === 'image') return twice((isLast) => fill(sources, target, options, { overwrite, counters }, isLast));
  const part = findPartFolder(resolve(target), overwrite === true, resumeKey);
  return withPartFolder(part, target, signal, (path) => {
    const staging = { overwrite, counters, tree: { path, blobs: listResumed(sources, options) } };
    return twice((isLast) => fill(sources, target, options, staging, isLast));
  });
}

function findPartFolder(target: string, overwrite: boolean, key: string): string {
  const isInside = judgeTarget(target, overwrite, toPartFolder(target, true, key));
  return toPartFolder(target, isInside, key);
}

function listResumed(sources: readonly UnpackSource[], { select = () => true }: UnpackOptions): ReadonlyMap<string, number> {
  const resumed = sources.flatMap((source) =>
    source.kind === 'blob' && source.descriptor.size >= resumedBytes && select(source.path) ? [[source.path, source.descriptor.size] as const] : [],
  );
  return new Map(resumed);
}

async function fill(
  sources: readonly UnpackSource[],
  target: string,
  options: UnpackOptions,
  stagingOptions: StagingOptions,
  isLast: boolean,
): Promise<UnpackResult> {
  const staging = new Staging(target, stagingOptions);
  try {
    const job = new UnpackJob(staging, target, staging.foldsNames(), options);
    await (options.policy === 'package' ? unpackParts(sources, job) : unpackLayers(sources, job));
    job.makeLinks();
    job.assertWanted();
    await staging.publish();
    return { files: job.files, bytes: job.bytes, findings: job.findings };
  } catch (error) {
    const failure = toIoError(error, 'unpack to', target);
    const goesOn = leavesWork(failure);
    const kept = await staging.discard(goesOn || (!isLast && isToolkitError(failure, 'bytes/digest-mismatch')));
    throw kept === undefined || !goesOn ? failure : resumable(failure, kept);
  }
}

function resumable({ code, message, hint, where, findings, cause }: ToolkitError, kept: string): ToolkitError {
  const goesOn = `What is there by now lies in "${kept}"; the same command goes on from it`;
  return createError(code, { message, hint: hint === undefined ? goesOn : `${hint}. ${goesOn}`, where, findings, cause });
}
