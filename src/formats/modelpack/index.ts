/**
 * modelpack: models as OCI artifacts, in the three vintages that circulate (`cncf`, `cnai`, `draft-2024`). Reads what any of
 * their tools wrote, writes what all of their readers take. Knows nothing of where blobs are.
 */
import type { FormatReader } from '../../core/index.js';
import { detect } from './detect.js';
import { read, readImageFiles, readSummary } from './read.js';

/** Reads a package of any vintage; see the functions for what each reads and throws. */
export const modelpack: FormatReader = {
  id: 'modelpack',
  title: 'ModelPack',
  detect,
  readSummary,
  read,
  // Loaded with its rules when it is called.
  validate: async (source, options) => (await import('./validate.js')).validate(source, options),
};

export { editModelpack, type ModelpackEdits } from './edit.js';
export { type LayerEncodings, parseLayerEncodings } from './plan-layers.js';
export { canRestamp, judgeRestamp, listLayers, restamp } from './restamp.js';
export { listUnpackSources, type UnpackPlan } from './unpack-sources.js';
export { rules } from './rules.js';
export { type Rule } from './rules/rule.js';
export { parseVintage, type Vintage, vintages } from './spec.js';
export { writeHybridImage, writeModelpack } from './write.js';
export { readImageFiles };
