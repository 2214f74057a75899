import { runCarton } from './carton.js';
import { runEmbedded } from './embedded.js';
import { runMany } from './many.js';
import { runModel } from './model.js';
import type { SectionName } from './options.js';
import { runOnnx } from './onnx.js';
import { runRegistry } from './registry.js';
import type { Bench, Section } from './section.js';
import { runStart } from './start.js';

/** What is measured. A new scenario is a module, a name in options.ts, and a line here. */
export const scenarios: Readonly<Record<SectionName, (bench: Bench) => Promise<Section>>> = {
  model: runModel,
  many: runMany,
  registry: runRegistry,
  embedded: runEmbedded,
  carton: runCarton,
  onnx: runOnnx,
  start: runStart,
};
