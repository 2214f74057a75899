import { createError, type Descriptor, type NamedDescriptor } from '../core/index.js';
import { copyGraph } from '../oci/index.js';
import type { OpsContext } from './context.js';
import type { CopyResult } from './results.js';
import { openShelf, openSource, type Shelf } from './source.js';
import { openDestination, type Target } from './target.js';

export interface CopyOptions {
  readonly source: string;
  readonly destination: string;
  /** Every name that the source holds, under the same names. */
  readonly all?: boolean;
}

/** Moves packages as they are, byte for byte, between the local store, layouts and archives. */
export async function copy(options: CopyOptions, context: OpsContext): Promise<CopyResult> {
  if (options.all === true) return copyAll(options, context);
  const source = await openSource(options.source, context);
  if (source.kind === 'files')
    throw createError('format/unsupported', {
      message: `Cannot copy "${options.source}": it is a bare folder`,
      hint: 'Pack it: `modelport pack DIR -t NAME`, or -o FILE',
    });
  return copyRoots(source.shelf, [{ ...(source.name === undefined ? {} : { name: source.name }), descriptor: source.root }], options, context);
}

async function copyAll(options: CopyOptions, context: OpsContext): Promise<CopyResult> {
  const shelf = await openShelf(options.source, context);
  if (shelf === undefined) {
    throw createError('ops/bad-option', {
      message: `Cannot copy all of "${options.source}": it is one package`,
      hint: '--all takes an OCI layout or an archive as source',
    });
  }
  const roots = await shelf.list();
  if (roots.length === 0) throw createError('store/name-not-found', { message: `Cannot copy "${options.source}": it holds no package` });
  return copyRoots(shelf, roots, options, context);
}

async function copyRoots(shelf: Shelf, roots: readonly NamedDescriptor[], options: CopyOptions, context: OpsContext): Promise<CopyResult> {
  const target = await openDestination(options.destination, context);
  try {
    const bytes = { total: 0, sent: 0, skipped: 0 };
    for (const root of roots) {
      const moved = await copyGraph(root.descriptor, shelf, target.blobs, context);
      for (const key of ['total', 'sent', 'skipped'] as const) bytes[key] += moved[key];
      await target.publish(root.descriptor, nameAtTarget(root, roots.length, target));
    }
    await target.finish();
    const copied = roots.map((root) => ({ name: nameAtTarget(root, roots.length, target) ?? target.name, digest: root.descriptor.digest }));
    return {
      digest: (roots[0] as { descriptor: Descriptor }).descriptor.digest,
      name: copied[0]?.name ?? null,
      path: target.path,
      bytes,
      lost: [],
      copied,
    };
  } finally {
    await target.close();
  }
}

/** One package takes the name that was written for it; several keep their own. */
function nameAtTarget(root: NamedDescriptor, count: number, target: Target): string | undefined {
  return count === 1 && target.name !== null ? undefined : root.name;
}
