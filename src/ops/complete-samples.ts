import type { FilesSource, ModelPackage, PackageSource } from '../core/index.js';
import { detectFormat } from '../formats/index.js';
import type { OpsContext } from './context.js';
import type { OpenedSource } from './source.js';
import { overlayLinked } from './overlay-linked.js';

/** The folders of a carton with what self tests and examples name. */
export const sampleFolders = { tensors: 'tensor_data/', files: 'misc/' } as const;

/** The same package with the linked files of these folders among its own: fetched and hashed. Without any it is the package itself. */
export async function completeSamples(
  source: OpenedSource,
  pkg: ModelPackage,
  folders: readonly string[],
  context: OpsContext,
): Promise<ModelPackage> {
  const linked = (pkg.linked ?? []).filter(({ path }) => folders.some((folder) => path.startsWith(folder)));
  if (linked.length === 0 || source.kind === 'folder') return pkg;
  const whole = await overlayLinked(source, linked, context);
  const detected = await detectFormat(whole);
  return detected === undefined ? pkg : detected.reader.read(whole, { limits: context.limits });
}

/** The same source with everything that is linked, fetched and hashed; undefined when nothing is. */
export async function completeLinked(source: PackageSource, context: OpsContext): Promise<FilesSource | undefined> {
  const detected = await detectFormat(source);
  const { linked = [] } = detected === undefined ? {} : await detected.reader.read(source, { limits: context.limits });
  return linked.length === 0 ? undefined : overlayLinked(source, linked, context);
}
