import { collect } from '../../bytes/index.js';
import { isJsonObject, isToolkitError, type JsonObject, type Limits, type OciSource, parseJson } from '../../core/index.js';
import { isAbsence } from './layer-content.js';
import type { ManifestView } from './manifest-view.js';

/** The config blob as far as it could be had. */
export type ConfigBlob =
  | { readonly kind: 'json'; readonly json: JsonObject }
  /** There, but no JSON object. */
  | { readonly kind: 'malformed'; readonly reason: string }
  /** Not named, not there, or not what its digest promised. */
  | { readonly kind: 'absent'; readonly reason: string };

/** Reads the config in memory, at most `limits.configBytes`. Throws only what network and disk throw. */
export async function readConfigBlob(source: OciSource, view: ManifestView, limits: Limits): Promise<ConfigBlob> {
  const descriptor = view.config?.descriptor;
  if (descriptor === undefined)
    return { kind: 'absent', reason: view.config === undefined ? 'the manifest names none' : 'its digest or size is malformed' };
  try {
    const bytes = await collect(await source.blobs.open(descriptor), limits.configBytes, 'the config');
    const json = parseJson(bytes, 'config blob', { bytes: limits.configBytes, depth: limits.jsonDepth });
    return isJsonObject(json) ? { kind: 'json', json } : { kind: 'malformed', reason: 'Cannot read the config: expected a JSON object' };
  } catch (error) {
    if (!isToolkitError(error)) throw error;
    if (isAbsence(error) || error.code === 'bytes/digest-mismatch' || error.code === 'bytes/size-mismatch')
      return { kind: 'absent', reason: error.message };
    if (error.exitCode === 1) return { kind: 'malformed', reason: error.message };
    throw error;
  }
}
