/**
 * buildfile: what a person wrote (or did not write) about a folder: modelport.toml, Modelfile, Kitfile, README front matter, licence
 * text, file names → core's Description and roles. Never opens a weight file: what the headers say is combined with this in ops.
 */
export {
  type ClassifiableFile,
  type Classification,
  type ClassifiedFile,
  classifyAll,
  type ClassifyContext,
  toFolderIgnore,
} from './classify-all.js';
export { classify, type Guess } from './classify.js';
export { isIgnoredByDefault } from './default-ignores.js';
export { type Buildfile, type BuildfileKind, findBuildfile, type FoundBuildfile, readBuildfile } from './find-buildfile.js';
export { parseReadme, readmeBytes } from './front-matter.js';
export { compileGlob, compileGlobs, type Glob } from './glob.js';
export { type Hints } from './hints.js';
export { parseKitfile } from './kitfile.js';
export { detectLicense } from './license.js';
export { parseMlmodel } from './mlmodel.js';
export { parseModelfile } from './modelfile.js';
export { writeModelportToml } from './modelport-toml-write.js';
export { parseModelportToml } from './modelport-toml.js';
export { parseCartonHints, parseMlarchiveHints } from './package-hints.js';
export { type ParsedBuildfile } from './parsed-buildfile.js';
export { readPersonText } from './person-text.js';
