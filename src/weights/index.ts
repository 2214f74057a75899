/**
 * weights: what weight files say about themselves, read from their headers alone: tensors, dtypes, counts, inputs and outputs.
 * Never reads the data of a tensor, never loads a pickle, never evaluates anything, opens no file of its own.
 */
export * from './external-data.js';
export * from './identify.js';
export * from './read-weight-file.js';
export * from './safetensors-index.js';
export * from './summarize.js';
export * from './weight-file.js';
