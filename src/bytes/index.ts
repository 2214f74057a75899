/**
 * bytes: streams, hashing while streaming, archives, compression, the one judge of paths, and writing that survives a crash.
 * Knows nothing of models or formats.
 */
export * from './durable.js';
export * from './os-error.js';
export * from './streams.js';
