import type { KeyPath } from './locate-toml.js';

/** Plain data (text, numbers, booleans, lists, tables) with the knowledge where each of it was written. */
export interface Located {
  readonly value: unknown;
  /** `file:line:column` of a key or list element, of the nearest one above it when it has no place of its own. */
  locate(path: KeyPath): string;
}
