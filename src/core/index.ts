/**
 * core: the vocabulary of modelport: digests, descriptors, names and locations, dtypes, findings, errors, limits and the
 * interfaces between the rooms. Imports nothing, does no I/O.
 */
export * from './content.js';
export * from './description.js';
export * from './descriptor.js';
export * from './digest.js';
export * from './dtype.js';
export * from './error-codes.js';
export * from './error.js';
export * from './file-tree.js';
export * from './finding.js';
export * from './format.js';
export * from './framework-version.js';
export * from './json.js';
export * from './limits.js';
export * from './location.js';
export * from './package.js';
export * from './param-size.js';
export * from './progress.js';
export * from './reference.js';
export * from './registry-store.js';
export * from './rule.js';
export * from './runtime.js';
export * from './samples.js';
export * from './tensor.js';
export * from './version-requirement.js';
export * from './version.js';
