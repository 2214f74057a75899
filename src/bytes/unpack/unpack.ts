import { toIoError } from '../os-error.js';
import { Staging } from './staging.js';
import { UnpackJob } from './unpack-job.js';
import { unpackLayers } from './unpack-layers.js';
import { unpackParts } from './unpack-parts.js';
import type { UnpackOptions, UnpackResult, UnpackSource } from './unpack-source.js';

/**
 * Puts the files of a package into the folder `target`, which is new, empty, or (with `overwrite`) any folder: all of them or,
 * after any failure, none. Modes are those of the package without set-id bits, less the umask, as tar does it.
 * Throws `bytes/unsafe-path` and `bytes/refused-entry` naming the entry, `bytes/exists`, `bytes/disk-full`, `core/cancelled`
 * and whatever the sources throw. A crash leaves a hidden folder that `removeLeftovers` finds.
 */
export async function unpackPackage(sources: readonly UnpackSource[], target: string, options: UnpackOptions): Promise<UnpackResult> {
  const staging = new Staging(target, options.overwrite === true, options.counters);
  try {
    const job = new UnpackJob(staging, target, staging.foldsNames(), options);
    await (options.policy === 'package' ? unpackParts(sources, job) : unpackLayers(sources, job));
    job.makeLinks();
    job.assertWanted();
    await staging.publish();
    return { files: job.files, bytes: job.bytes, findings: job.findings };
  } catch (error) {
    await staging.discard();
    throw toIoError(error, 'unpack to', target);
  }
}
