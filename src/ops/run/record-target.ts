import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createError } from '../../core/index.js';
import { assertCarton, isCarton } from '../carton/is-carton.js';
import type { FolderSource } from '../folder.js';
import type { OpenedPackageSource } from '../source.js';
import type { Runnable } from './runnable.js';

/** Where self tests and examples are kept: in the folder itself, or in a new carton, as a package never changes. */
export type RecordTarget =
  | { readonly kind: 'folder'; readonly source: FolderSource }
  | { readonly kind: 'carton'; readonly source: OpenedPackageSource; readonly to: string };

/** To be asked before the model runs. Throws `ops/bad-option`, and `format/unsupported` for a package that has no place for tests. */
export async function findRecordTarget({ source }: Runnable, location: string, to: string | undefined): Promise<RecordTarget> {
  if (source.kind === 'folder') {
    if (to !== undefined) throw badOption(`Cannot use --to with the folder "${location}": its tests are kept in itself`, 'Leave --to out');
    assertOwnBuildfile(source);
    return { kind: 'folder', source };
  }
  assertCarton(location, await isCarton(source), 'record into');
  if (to === undefined)
    throw badOption(`Cannot record into "${location}": a package is not changed`, 'Say where the new one goes: --to FILE.carton, or --to NAME');
  return { kind: 'carton', source, to };
}

/** A modelport.toml with a test alone would hide what another file says of the model. */
function assertOwnBuildfile({ buildfile, tree, location }: FolderSource): void {
  if (buildfile?.kind === 'modelport.toml') return;
  const other = buildfile?.kind ?? (existsSync(join(tree.root, 'carton.toml')) ? 'carton.toml' : undefined);
  if (other === undefined) return;
  throw badOption(
    `Cannot record into "${location}": it is described by its ${other}, and a new modelport.toml would hide that`,
    `Make one that says the same: modelport init ${location}`,
  );
}

function badOption(message: string, hint: string): Error {
  return createError('ops/bad-option', { message, hint });
}
