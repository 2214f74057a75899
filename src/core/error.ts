import { type ErrorCode, errorCodes } from './error-codes.js';
import type { Finding } from './finding.js';

export interface ErrorDetails {
  /** `Cannot <action> "<value>": <reason>`, expected and found both said, no final period, no secret. */
  readonly message: string;
  /** What to do next, a command where possible. */
  readonly hint?: string | undefined;
  /** File, line and column, field, or archive entry. */
  readonly where?: string | undefined;
  readonly cause?: unknown;
  /** The findings that made going on impossible, if any. */
  readonly findings?: readonly Finding[] | undefined;
}

/** modelport cannot go on. Wrong data that can be described instead is a Finding. */
export class ToolkitError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly where: string | undefined;
  readonly findings: readonly Finding[];

  constructor(code: ErrorCode, details: ErrorDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ToolkitError';
    this.code = code;
    this.hint = details.hint;
    this.where = details.where;
    this.findings = details.findings ?? [];
  }

  /** The process status that this error stands for. */
  get exitCode(): number {
    return errorCodes[this.code].exit;
  }
}

export function createError(code: ErrorCode, details: ErrorDetails): ToolkitError {
  return new ToolkitError(code, details);
}

/** What work throws that was cancelled; `cause` is the reason of the signal. */
export function createCancelled(cause?: unknown): ToolkitError {
  return createError('core/cancelled', { message: 'Cannot go on: the work was cancelled', cause });
}

/** Throws `core/cancelled` once the signal has come. */
export function assertWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw createCancelled(signal.reason);
}

export function isToolkitError(value: unknown, code?: ErrorCode): value is ToolkitError {
  return value instanceof ToolkitError && (code === undefined || value.code === code);
}
