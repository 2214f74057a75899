import type { createLogUpdate } from 'log-update';
import type { Escape } from '../display.js';
import type { OutputStream } from '../io.js';
import { type LiveProgress, redrawInterval } from './live-progress.js';
import { plural, shorten, toSize } from '../render/text.js';
import type { Style } from '../terminal.js';

/** What one bar shows. `since` is a time of performance.now(). */
export interface BarItem {
  readonly task: string;
  readonly name: string;
  readonly total: number | undefined;
  readonly since: number;
  bytes: number;
}

export interface BarTotals {
  readonly finished: number;
  readonly bytes: number;
  readonly since: number;
}

/** Commands that end sooner, in milliseconds, show no bars: they would only flash. */
const patience = 300;
const mostBars = 8;

/** Bars that are redrawn in place and vanish at the end. log-update owns the cursor and gives it back at every kind of exit. */
export function createBars(stream: OutputStream, style: Style, escape: Escape): LiveProgress {
  const items = new Set<BarItem>();
  const since = performance.now();
  let finished = 0;
  let finishedBytes = 0;
  let screen: ReturnType<typeof createLogUpdate> | undefined;
  let closed = false;
  const draw = async () => {
    if ((items.size === 0 && screen === undefined) || performance.now() - since < patience) return;
    screen ??= (await import('log-update')).createLogUpdate(stream);
    if (closed) return;
    screen(toFrame([...items], { finished, bytes: finishedBytes, since }, performance.now(), sizeOf(stream, style)).join('\n'));
  };
  const timer = setInterval(() => void draw(), redrawInterval).unref();
  return {
    start: (task, name, total) => {
      const item: BarItem = { task: escape(task), name: escape(name), total, since: performance.now(), bytes: 0 };
      items.add(item);
      return {
        advance: (count) => {
          item.bytes += count;
        },
        done: () => {
          if (!items.delete(item)) return;
          finished += 1;
          finishedBytes += item.bytes;
        },
      };
    },
    close: () => {
      closed = true;
      clearInterval(timer);
      screen?.clear();
      screen?.done();
    },
  };
}

interface Screen extends Style {
  readonly height: number;
}

function sizeOf(stream: OutputStream, style: Style): Screen {
  return { color: style.color, width: stream.columns || 80, height: stream.rows || 24 };
}

/** Lines of one drawing: the oldest items first, then what is hidden, then the sum. Pure. */
export function toFrame(items: readonly BarItem[], totals: BarTotals, now: number, screen: Screen): string[] {
  const visible = items.slice(0, Math.max(1, Math.min(mostBars, screen.height - 3)));
  const hidden = items.length - visible.length;
  const bytes = items.reduce((sum, item) => sum + item.bytes, totals.bytes);
  const more = hidden === 0 ? '' : `, ${hidden} more at work`;
  const sum = `${plural(totals.finished, 'item')} done${more}, ${toSize(bytes)}, ${toRate(bytes, now - totals.since)}`;
  const lines = visible.map((item) => toBarLine(item, now, screen));
  return items.length + totals.finished > 1 ? [...lines, screen.color.dim(shorten(sum, screen.width - 1))] : lines;
}

function toBarLine(item: BarItem, now: number, { color, width }: Screen): string {
  const bar = toBar(item, width < 60 ? 0 : width < 90 ? 12 : 24);
  const done = item.total === undefined ? toSize(item.bytes) : `${toSize(item.bytes)} / ${toSize(item.total)}`;
  const facts = `${toPercent(item)} ${done.padStart(17)} ${toRate(item.bytes, now - item.since).padStart(9)}`;
  const room = width - 1 - bar.length - 2 - facts.length;
  const label = shorten(`${item.task} ${item.name}`, room).padEnd(Math.max(0, room));
  return `${label} ${color.cyan(bar)} ${facts}`;
}

function toBar({ bytes, total }: BarItem, length: number): string {
  const full = Math.round(length * (total === undefined || total === 0 ? 0 : Math.min(1, bytes / total)));
  return '█'.repeat(full) + '░'.repeat(length - full);
}

/** 100 % is said only when it is true. */
function toPercent({ bytes, total }: BarItem): string {
  if (total === undefined) return '    ';
  return `${total === 0 ? 100 : Math.min(100, Math.floor((100 * bytes) / total))}%`.padStart(4);
}

function toRate(bytes: number, milliseconds: number): string {
  return milliseconds <= 0 ? '' : `${toSize((1000 * bytes) / milliseconds)}/s`;
}
