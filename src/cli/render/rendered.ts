import type { Style } from '../terminal.js';

/** What a result looks like to a person: lines without line ends. */
export interface Rendered {
  readonly out: readonly string[];
  /** Warnings and remarks, for standard error; `--quiet` drops them. */
  readonly err: readonly string[];
  /** What `--quiet` writes instead of `out`. */
  readonly quiet: readonly string[];
}

/** Result → lines. Pure; every text in `result` is already safe to show. */
export type Render<R> = (result: R, style: Style) => Rendered;

/** A result that is shown as it is, quiet or not. */
export function shown(out: readonly string[], err: readonly string[] = []): Rendered {
  return { out, err, quiet: out };
}

/** For commands that have written their bytes already. */
export const renderNothing: Render<unknown> = () => shown([]);
