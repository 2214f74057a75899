import { createError } from '../../core/index.js';

const dayMs = 86_400_000;
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** Beyond it nobody means what was written. */
const longestDays = 3650;

/** Timers cannot wait longer than 2^31 - 1 ms. */
const longestIntervalDays = 24;

/** `90s`, `15m`, `1h`, `7d` → milliseconds. `option` as it is written. Throws `ops/bad-option`. */
export function parseDuration(text: string, option: string, mostDays = longestDays): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const milliseconds = Number(count) * (units[unit] ?? Number.NaN);
  if (milliseconds <= mostDays * dayMs) return milliseconds;
  throw createError('ops/bad-option', {
    message: `Cannot use ${option} "${text}": expected a number with s, m, h or d, at most ${mostDays}d`,
    hint: `For example ${option} 90s or ${option} 7d`,
  });
}

/** The same for what repeats, with a pause between; undefined for `off`. */
export function parseInterval(text: string, option: string): number | undefined {
  if (text === 'off') return undefined;
  const milliseconds = parseDuration(text, option, longestIntervalDays);
  if (milliseconds > 0) return milliseconds;
  throw createError('ops/bad-option', {
    message: `Cannot use ${option} "${text}": there is no pause between`,
    hint: `For example ${option} 1h, or ${option} off`,
  });
}
