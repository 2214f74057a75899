import { normalizeEntryName, type TarEntry } from '../../bytes/index.js';
import { parseFileMetadata } from './file-metadata.js';
import type { LayerView } from './manifest-view.js';
import { annotationKeys, formerMetadataKey, titleKey } from './spec.js';

/** The path that a layer's annotations give it: filepath of either family, the name in its file metadata, the title. */
export function findLayerPath(annotations: Readonly<Record<string, string>>): string | undefined {
  const { cncf, cnai } = annotationKeys;
  const metadata = annotations[cncf.metadata] ?? annotations[cnai.metadata] ?? annotations[formerMetadataKey];
  const path =
    annotations[cncf.filepath] ??
    annotations[cnai.filepath] ??
    annotations[titleKey] ??
    (metadata === undefined ? undefined : parseFileMetadata(metadata).metadata.name);
  // What normalising would empty, such as ".", stays as it is, so that errors can name it.
  return path === undefined || path === '' ? undefined : normalizeEntryName(path) || path;
}

/** The path of a raw layer; one that nothing names is called after its place in the manifest. */
export function pathOf(layer: LayerView): string {
  return findLayerPath(layer.annotations) ?? `layer-${layer.index}`;
}

/**
 * Where an entry of a tar layer goes. Tools root their archives differently: most write paths from the root of the model, some only the
 * name of the file, with the whole path in the annotation. So one single file that has the name of `path` is put there, and everything
 * else stays where the tar has it. Without a listing each file is judged alone.
 */
export function placeEntries(path: string | undefined, entries: readonly TarEntry[] | undefined): (name: string) => string {
  const base = path?.slice(path.lastIndexOf('/') + 1);
  const isAlone = entries === undefined || entries.filter(({ kind }) => kind !== 'directory').length === 1;
  if (path === undefined || base === path || !isAlone) return (name) => name;
  return (name) => (normalizeEntryName(name) === base ? path : name);
}
