import type { UnpackSource } from '../bytes/index.js';
import { createError, type Finding, type ModelPackage, type Part } from '../core/index.js';
import type { OpsContext } from './context.js';
import { openAllLinked } from './linked-files.js';
import { openVerified } from './open-part.js';
import { openKept } from './proven-cache.js';

/**
 * What `unpackPackage` is given for a package whose files are known one by one; those that are linked are fetched first, and proven, before
 * anything is written. With `keepsFiles`, for packages at a URL that are used again and again, files go into the cache of this machine too. Throws
 * `ops/refused` for a package that is not whole.
 */
export async function listPartSources(
  pkg: ModelPackage,
  location: string,
  select: (path: string) => boolean,
  context: OpsContext,
  options: { readonly keepsFiles?: boolean } = {},
): Promise<readonly UnpackSource[]> {
  assertWhole(pkg, location, select);
  const fetched = await openAllLinked(
    (pkg.linked ?? []).filter(({ path }) => select(path)),
    context,
  );
  // They were hashed when they were opened, and nothing changes what the cache holds.
  const linked = [...fetched].map(([path, file]): UnpackSource => ({ kind: 'file', path, size: file.size, open: () => file.open() }));
  return [...pkg.parts.map((part) => (options.keepsFiles === true ? toKeptSource(part, context) : toUnpackSource(part))), ...linked];
}

/** What says that a file is not there, or a link that leads to none. */
const notThere = /missing|absent|bad-link$/;

/** What nothing proves is not unpacked, and neither is half of what is promised. */
function assertWhole({ findings }: ModelPackage, location: string, select: (path: string) => boolean): void {
  const isMissing = ({ code, where }: Finding) => notThere.test(code) && (where === undefined || select(where));
  const missing = findings.filter((finding) => finding.level === 'error' && (finding.code === 'carton/bad-manifest' || isMissing(finding)));
  const first = missing[0];
  if (first === undefined) return;
  throw createError('ops/refused', {
    message: `Cannot unpack "${location}": ${first.message}`,
    where: first.where,
    hint: first.hint ?? '`modelport validate` says everything that is wrong',
    findings: missing,
  });
}

function toKeptSource(part: Part, context: OpsContext): UnpackSource {
  const { path, size, mode, digest } = part;
  if (digest === undefined) return toUnpackSource(part);
  const attributes = mode === undefined ? {} : { mode };
  return { kind: 'file', path, size, ...attributes, open: async () => (await openKept({ ...part, digest }, context)).open() };
}

function toUnpackSource(part: Part): UnpackSource {
  const { content, path, size, mode, digest } = part;
  const attributes = mode === undefined ? {} : { mode };
  if (content.kind === 'blob' && (digest === undefined || digest === content.descriptor.digest))
    return { kind: 'blob', path, ...attributes, blobs: content.blobs, descriptor: content.descriptor };
  return { kind: 'file', path, size, ...attributes, open: () => openVerified(part) };
}
