import { silentProgress } from '../core/index.js';
import type { Escape } from './display.js';
import type { CliIo } from './io.js';
import { createBars } from './progress/bars.js';
import { createProgressEvents } from './progress/events.js';
import { createProgressLines } from './progress/lines.js';
import type { LiveProgress } from './progress/live-progress.js';
import type { Style } from './terminal.js';

export const progressModes = ['auto', 'plain', 'json'] as const;
export type ProgressMode = (typeof progressModes)[number];

/** Bars at a terminal, sparse lines elsewhere, one JSON line an event for programs. Always on standard error. `false`: nothing. */
export function createProgress(io: CliIo, mode: ProgressMode | false, style: Style, escape: Escape): LiveProgress {
  if (mode === false) return { ...silentProgress, close: () => {} };
  if (mode === 'json') return createProgressEvents(io.stderr);
  const canDraw = mode === 'auto' && io.stderr.isTTY === true && io.env['TERM'] !== 'dumb';
  return canDraw ? createBars(io.stderr, style, escape) : createProgressLines(io.stderr, escape);
}
