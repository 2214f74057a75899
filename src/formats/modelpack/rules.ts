import { adviceRules } from './rules/advice.js';
import { annotationRules } from './rules/annotations.js';
import { configRules } from './rules/config.js';
import { descriptorRules } from './rules/descriptor.js';
import { draftRules } from './rules/draft.js';
import { layerRules } from './rules/layers.js';
import { manifestRules } from './rules/manifest.js';
import { modelfsRules } from './rules/modelfs.js';
import type { Rule } from './rules/rule.js';
import { technicalRules } from './rules/technical.js';

/**
 * The one table: every sentence of the specifications that demands something, then advice from practice. The check, the finding and
 * docs/formats/modelpack.md come from it.
 */
export const rules: readonly Rule[] = [
  ...manifestRules,
  ...layerRules,
  ...annotationRules,
  ...configRules,
  ...descriptorRules,
  ...technicalRules,
  ...modelfsRules,
  ...draftRules,
  ...adviceRules,
];
