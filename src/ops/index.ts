/**
 * ops: the verbs. One function each, options in, a plain result out; the only room that wires the others together.
 * Never writes to the terminal and never ends the process.
 */
export { escapeForDisplay } from '../bytes/index.js';
export type { ExamplesOptions } from './carton/examples.js';
export type { ShrinkOptions } from './carton/shrink.js';
export * from './cat.js';
export * from './context.js';
export * from './convert.js';
export * from './copy.js';
export * from './diff.js';
export * from './doctor.js';
export * from './edit.js';
export * from './init.js';
export * from './inspect.js';
export * from './lazy-verbs.js';
export * from './list.js';
export * from './login.js';
export * from './ls.js';
export * from './names.js';
export * from './pack.js';
export * from './pull.js';
export * from './push.js';
export * from './registry/gc.js';
export * from './registry/scrub.js';
export * from './registry/serve.js';
export * from './registry/warm.js';
export type { NetworkOptions } from './registries.js';
export * from './registry/results.js';
export * from './results.js';
export type { RunOptions } from './run/run.js';
export type { SessionOptions } from './run/session.js';
export type { TestOptions } from './run/test.js';
export * from './unpack.js';
export * from './validate.js';
export * from './verify.js';
