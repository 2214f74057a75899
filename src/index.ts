/**
 * modelport as a library: the verbs, the words they speak, and the interfaces to build on.
 */
export * from './core/index.js';
export * from './ops/index.js';
