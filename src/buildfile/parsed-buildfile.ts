import type { Description, Finding } from '../core/index.js';

/** What a build file says. */
export interface ParsedBuildfile {
  readonly description: Description;
  /** Oddities only; an error would have been thrown. */
  readonly findings: readonly Finding[];
  /** Where a file pattern of the description was written, as `file:line:column`. */
  findGlobPlace(glob: string): string | undefined;
}
