import { stringify } from 'smol-toml';
import type { TomlTable } from './toml.js';

/**
 * TOML 1.0, keys in the order of the object, tables after plain values. bigint is written as an integer and number as a float (`1` as `1.0`),
 * so that reading and writing keeps every type. Keys whose value is undefined are left out.
 */
export function writeToml(table: TomlTable): string {
  return `${stringify(table, { numbersAsFloat: true }).trimEnd()}\n`;
}
