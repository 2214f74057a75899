import { mapConcurrent } from '../../bytes/index.js';
import type { OciSource, Part, ReadOptions } from '../../core/index.js';
import { lookInto } from './layer-content.js';
import { lookConcurrency, openModelpack } from './read.js';
import { readLayer } from './read-layers.js';

/** The files of each layer by itself, in the order of the manifest; stacked layers are not merged. */
export async function listPartsByLayer(source: OciSource, options: ReadOptions): Promise<readonly (readonly Part[])[]> {
  const { view } = openModelpack(source, options);
  return mapConcurrent(view.layers, lookConcurrency, async (layer) => {
    const content = layer.type === undefined || layer.type.encoding === 'raw' ? undefined : await lookInto(layer, source.blobs, options.limits);
    return readLayer(layer, content, source.blobs, options.limits).parts;
  });
}
