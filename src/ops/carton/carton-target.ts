import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createZip } from '../../bytes/index.js';
import { createError, type Descriptor, type Digest, parseLocation } from '../../core/index.js';
import type { CartonSink } from '../../formats/index.js';
import { isLayout } from '../../store/index.js';
import type { OpsContext } from '../context.js';
import { isZipFile } from '../package-file.js';
import { toAbsolute } from '../paths.js';
import { openDestination, openTarget, type Target } from '../target.js';

/** Where a carton is written: one file, or an artifact in a store, layout, archive or registry. Nothing is visible before `finish`; always `close`. */
export interface CartonTarget {
  readonly sink: CartonSink;
  readonly name: string | null;
  readonly path: string | null;
  readonly repository: string | null;
  /** Of an artifact `root` gets its name. Gives its digest; null for a file. */
  finish(root: Descriptor | undefined): Promise<Digest | null>;
  close(): Promise<void>;
}

/** A file unless it is a name, a layout or an archive that is asked for. */
export async function openCartonTarget(
  where: { readonly name?: string | undefined; readonly output?: string | undefined },
  context: OpsContext,
): Promise<CartonTarget> {
  const path = where.output === undefined ? undefined : findFilePath(where.output, context);
  if (where.output !== undefined && path === undefined) assertNoPlainFolder(where.output, context);
  return path === undefined ? toCartonTarget(await openTarget(where, context)) : openFile(path, context);
}

/** A carton is one file: a folder that is no layout was not meant. */
function assertNoPlainFolder(text: string, context: OpsContext): void {
  const location = parseLocation(text);
  if (location.kind !== 'path' && location.kind !== 'path-or-name') return;
  const path = toAbsolute(location.path, context);
  if (!existsSync(path) || !statSync(path).isDirectory() || isLayout(path) || readdirSync(path).length === 0) return;
  throw createError('bytes/exists', {
    message: `Cannot write "${path}": it is a folder, and a carton is one file`,
    hint: 'Name a file, such as model.carton',
    where: path,
  });
}

/** The place of a carton that is one file; undefined for what means a layout, an archive or a name. */
function findFilePath(text: string, context: OpsContext): string | undefined {
  const location = parseLocation(text);
  if (location.kind !== 'path' && location.kind !== 'path-or-name') return undefined;
  const path = toAbsolute(location.path, context);
  if (existsSync(path) && statSync(path).isDirectory()) return undefined;
  return path.endsWith('.tar') ? undefined : path;
}

/** A destination that may be a name or a place; a carton that is one file exists, looks like a path, or ends in `.carton`. */
export async function openCartonDestination(text: string, context: OpsContext): Promise<CartonTarget> {
  const path = isCartonFile(text, context) ? findFilePath(text, context) : undefined;
  return path === undefined ? toCartonTarget(await openDestination(text, context)) : openFile(path, context);
}

/** Whether a destination means a carton that is one file. */
export function isCartonFile(text: string, context: OpsContext): boolean {
  const path = findFilePath(text, context);
  if (path === undefined) return false;
  return parseLocation(text).kind === 'path' || existsSync(path) || path.endsWith('.carton');
}

export function toCartonTarget(target: Target): CartonTarget {
  return {
    sink: { kind: 'oci', blobs: target.blobs },
    name: target.name,
    path: target.path,
    repository: target.repository,
    finish: async (root) => {
      if (root === undefined) throw createError('core/bug', { message: 'Cannot happen: an artifact was written without a manifest' });
      await target.publish(root);
      await target.finish();
      return root.digest;
    },
    close: () => target.close(),
  };
}

/** A carton that is there is replaced as a whole; anything else stays. */
async function openFile(path: string, context: OpsContext): Promise<CartonTarget> {
  if (existsSync(path) && !(await isZipFile(path)))
    throw createError('bytes/exists', {
      message: `Cannot write "${path}": it exists and is no carton`,
      hint: 'Choose another name, or remove it first',
      where: path,
    });
  mkdirSync(dirname(path), { recursive: true });
  const zip = await createZip(path, { counters: context.counters, signal: context.signal });
  return {
    sink: { kind: 'zip', add: (member) => zip.add(member) },
    name: null,
    path,
    repository: null,
    finish: async () => {
      await zip.commit();
      return null;
    },
    close: () => zip.close(),
  };
}
