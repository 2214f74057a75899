/**
 * Verbs that bring much along, as runtimes, tensors and writers of one format are: their files are loaded when they are called, so that all
 * others start sooner.
 */
import type { listExamples as ListExamples } from './carton/examples.js';
import type { checkCartonLinks as CheckCartonLinks } from './carton/links.js';
import type { inflateCartonFile as InflateCartonFile, shrinkCartonFile as ShrinkCartonFile } from './carton/shrink.js';
import type { run as Run } from './run/run.js';
import type { test as Test } from './run/test.js';

export const run: typeof Run = async (...given) => (await import('./run/run.js')).run(...given);
export const test: typeof Test = async (...given) => (await import('./run/test.js')).test(...given);
export const listExamples: typeof ListExamples = async (...given) => (await import('./carton/examples.js')).listExamples(...given);
export const checkCartonLinks: typeof CheckCartonLinks = async (...given) => (await import('./carton/links.js')).checkCartonLinks(...given);
export const shrinkCartonFile: typeof ShrinkCartonFile = async (...given) => (await import('./carton/shrink.js')).shrinkCartonFile(...given);
export const inflateCartonFile: typeof InflateCartonFile = async (...given) => (await import('./carton/shrink.js')).inflateCartonFile(...given);
