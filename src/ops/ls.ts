import { createHash } from 'node:crypto';
import { mapConcurrent } from '../bytes/index.js';
import type { Digest, Part } from '../core/index.js';
import type { OpsContext } from './context.js';
import { openVerified } from './open-part.js';
import { distinct, openPackage } from './package.js';
import type { FileResult, LsResult } from './results.js';

export interface LsOptions {
  readonly location: string;
  /** Also the digests that are not known without reading. */
  readonly digests?: boolean;
}

/** The files of a package, those inside tar layers too. */
export async function ls(options: LsOptions, context: OpsContext): Promise<LsResult> {
  const { pkg } = await openPackage(options.location, context);
  const files = await mapConcurrent(pkg.parts, context.concurrency, async (part): Promise<FileResult> => {
    const digest = part.digest ?? (options.digests === true ? await digestPart(part) : null);
    return {
      path: part.path,
      role: part.role,
      size: part.size,
      digest,
      mode: part.mode === undefined ? null : part.mode.toString(8).padStart(4, '0'),
    };
  });
  const linked = (pkg.linked ?? []).map(({ path, role, digest }): FileResult => ({ path, role, size: null, linked: true, digest, mode: null }));
  return { files: [...files, ...linked], findings: distinct(pkg.findings.filter((finding) => finding.level === 'error')) };
}

/** The digest of a part by reading all of it. */
export async function digestPart(part: Part): Promise<Digest> {
  const hash = createHash('sha256');
  for await (const chunk of await openVerified(part)) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}
