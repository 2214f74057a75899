import type { Limits } from '../../../core/index.js';
import type { ConfigBlob } from '../config-blob.js';
import type { LayerContent } from '../layer-content.js';
import type { LayerView, ManifestView } from '../manifest-view.js';
import type { annotationKeys, Family, Vintage } from '../spec.js';

/** Everything that rules look at, gathered before the first one runs. */
export interface RuleContext {
  readonly vintage: Vintage;
  readonly keys: (typeof annotationKeys)[Family];
  readonly view: ManifestView;
  readonly manifestBytes: number;
  readonly config: ConfigBlob;
  readonly layers: readonly LayerState[];
  readonly limits: Limits;
}

export interface LayerState {
  readonly view: LayerView;
  /** The path that the layer is given, by whatever annotation gives one. */
  readonly path: string | undefined;
  readonly content: LayerContent;
}

/** The vintages with media types of their own. */
export const typedVintages: readonly Vintage[] = ['cncf', 'cnai'];

/** The config's object at the top level key, when there is one. */
export function sectionOf({ config }: RuleContext, name: string): unknown {
  return config.kind === 'json' ? config.json[name] : undefined;
}
