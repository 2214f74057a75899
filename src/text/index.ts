/**
 * text: documents that a person wrote: UTF-8 without surprises, TOML with the place of every key, findings that say line and column, and
 * TOML that is written back with its types. Knows no format and no build file.
 */
export { anyTable, invalid, judge, listOf, showPath, table, tableOf, text, toInvalidError } from './judge.js';
export type { KeyPath } from './locate-toml.js';
export type { Located } from './located.js';
export { findNearest, suggest } from './nearest.js';
export { assertPersonText, readPersonText } from './person-text.js';
export { parseToml, parseTypedToml, type TomlTable, type TomlValue } from './toml.js';
export { writeToml } from './write-toml.js';
