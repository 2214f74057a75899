import picocolors from 'picocolors';
import type { CliIo, OutputStream } from './io.js';

export const colorModes = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof colorModes)[number];

/** How text may look where it goes. */
export interface Style {
  readonly color: ReturnType<typeof picocolors.createColors>;
  /** Columns of the terminal; Infinity where nobody looks, so that nothing is cut. */
  readonly width: number;
}

/** Colours only at a terminal and without NO_COLOR, unless `mode` says otherwise; see no-color.org. */
export function styleFor(stream: OutputStream, env: CliIo['env'], mode: ColorMode = 'auto'): Style {
  return { color: picocolors.createColors(wantsColor(stream, env, mode)), width: widthOf(stream) };
}

function wantsColor(stream: OutputStream, env: CliIo['env'], mode: ColorMode): boolean {
  if (mode !== 'auto') return mode === 'always';
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** A terminal of an unknown size, as a container without one has, counts as 80 columns. */
export function widthOf(stream: OutputStream): number {
  return stream.isTTY === true ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}

export const plainStyle: Style = { color: picocolors.createColors(false), width: Number.POSITIVE_INFINITY };
