/**
 * buildfile: what a person wrote (or did not write) about a folder: modelport.toml, Modelfile, Kitfile, README front matter, licence
 * text, file names → core's Description and roles. Never opens a weight file: what the headers say is combined with this in ops.
 */
export { parseByteSize } from './byte-size.js';
export { classifyAll, toFolderIgnore } from './classify-all.js';
export { classify } from './classify.js';
export { type Buildfile, findBuildfile, readBuildfile } from './find-buildfile.js';
export { parseReadme } from './front-matter.js';
export { isIgnoredByDefault } from './default-ignores.js';
export { compileGlobs } from './glob.js';
export { type Hints } from './hints.js';
export { detectLicense } from './license.js';
export { parseMlmodel } from './mlmodel.js';
export { parseModelportToml } from './modelport-toml.js';
export { writeModelportToml } from './modelport-toml-write.js';
export { parseCartonHints, parseMlarchiveHints } from './package-hints.js';
export { emptyUserConfig, readUserConfig, type RegistrySettings, type UserConfig } from './user-config.js';
