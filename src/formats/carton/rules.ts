import { containerRules, memberAdvice } from './rules/container.js';
import { identityRules } from './rules/identity.js';
import { ioAdvice, ioRules } from './rules/io.js';
import { linkAdvice, linkRules } from './rules/links.js';
import { manifestAdvice, manifestRules } from './rules/manifest.js';
import { miscAdvice, miscRules } from './rules/misc.js';
import { newerFieldRules } from './rules/newer-fields.js';
import type { Rule } from './rules/rule.js';
import { runnerAdvice, runnerRules } from './rules/runner.js';
import { sampleAdvice } from './rules/sample-advice.js';
import { sampleRules } from './rules/samples.js';
import { tensorAdvice, tensorRules } from './rules/tensor-data.js';

/**
 * The one table: every sentence of the specification that demands, permits or recommends something, then advice from practice. The check, the
 * finding and docs/formats/carton.md come from it.
 */
export const rules: readonly Rule[] = [
  ...containerRules,
  ...identityRules,
  ...newerFieldRules,
  ...ioRules,
  ...sampleRules,
  ...runnerRules,
  ...manifestRules,
  ...tensorRules,
  ...miscRules,
  ...linkRules,
  ...memberAdvice,
  ...ioAdvice,
  ...sampleAdvice,
  ...runnerAdvice,
  ...manifestAdvice,
  ...tensorAdvice,
  ...miscAdvice,
  ...linkAdvice,
];
