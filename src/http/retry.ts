import { setTimeout as pause } from 'node:timers/promises';
import { createCancelled, isToolkitError } from '../core/index.js';

/** How often, and how long between, in milliseconds. Tests pass short ones. */
export interface RetryPolicy {
  /** Tries without any progress, the first one included. */
  readonly attempts: number;
  readonly first: number;
  readonly longest: number;
  /** What a registry may ask to wait for; beyond it is an error. */
  readonly longestAsked: number;
}

export const defaultRetry: RetryPolicy = { attempts: 5, first: 250, longest: 8000, longestAsked: 120_000 };

/** Too busy, or a gateway that lost the server behind it. */
const passingStatuses = [408, 425, 429, 500, 502, 503, 504];

export function isPassing(status: number): boolean {
  return passingStatuses.includes(status);
}

/** What may be otherwise a moment later. A host that was never reached is not waited for. */
export function isPassingError(error: unknown, wasReached: boolean): boolean {
  return (
    isToolkitError(error, 'registry/interrupted') ||
    isToolkitError(error, 'registry/busy') ||
    (wasReached && isToolkitError(error, 'registry/unreachable'))
  );
}

/** `Retry-After` in milliseconds from `now`: seconds, or an HTTP date. Undefined for anything else. (RFC 9110, 10.2.3) */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  const date = /^[A-Z][a-z]{2},/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Before try number `attempt` (2 is the second): doubled each time, with some chance in it so that many do not come back together. */
export function toDelay(attempt: number, { first, longest }: RetryPolicy): number {
  return Math.min(longest, first * 2 ** (attempt - 2)) * (0.75 + Math.random() / 2);
}

export async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await pause(milliseconds, undefined, signal === undefined ? {} : { signal });
  } catch (cause) {
    throw createCancelled(cause);
  }
}
