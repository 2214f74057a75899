/**
 * carton: models in a zip with a typed interface, hashes, self tests and a runner (Carton format, version 1), as a file, a folder or, in a form of our
 * own, an OCI artifact. Reads what the specification allows, writes what the original library opens too. Fetches nothing and runs nothing.
 */
import type { FormatReader } from '../../core/index.js';
import { detect } from './detect.js';
import { read, readSummary } from './read.js';

/** See the functions for what each reads and throws. */
export const carton: FormatReader = {
  id: 'carton',
  title: 'Carton',
  detect,
  readSummary,
  read,
  // The rules are as much text as all the rest together, and most commands need none of them.
  validate: async (source, options) => (await import('./validate.js')).validate(source, options),
};

export { type AddedExample, type AddedSamples, type AddedSelfTest, addSamples } from './add-samples.js';
export { writeCartonArtifact, writeCartonZip } from './artifact.js';
export type { CartonDocuments, CartonMembers, Links } from './carton.js';
export { readDocuments } from './documents.js';
export { listLinkedFiles } from './list-links.js';
export { openMembers } from './open-members.js';
export { readNamedTensor } from './named-tensor.js';
export { inflateCarton, shrinkCarton, type ShrunkCarton } from './shrink.js';
export { fitsHost, hostTriple } from './target-triple.js';
export { verifyCarton } from './verify.js';
export { writeCartonTree } from './write-tree.js';
export { writeCarton } from './write.js';
export type { CartonSink, CartonWriteOptions, CartonWritten } from './write-options.js';
