/**
 * ops: the verbs. One function each, options in, a plain result out; the only room that wires the others together.
 * Never writes to the terminal and never ends the process.
 */
export * from './context.js';
export * from './results.js';
