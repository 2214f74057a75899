import { escapeForDisplay } from '../../bytes/index.js';
import { createError, type ErrorCode, type ToolkitError } from '../../core/index.js';
import { type FailureReason, failureReasons, type Frame } from '../protocol/frame.js';
import type { ChildExit, RunningChild } from './child-process.js';

const shownLines = 20;

/** Why a call fails when the process has gone. */
export function crashed(location: string, exit: ChildExit, child: RunningChild): ToolkitError {
  if (exit.error !== undefined) {
    return createError('runtime/not-available', {
      message: `Cannot run ${JSON.stringify(location)}: its process does not start: ${exit.error.message}`,
      where: location,
      cause: exit.error,
    });
  }
  const how = exit.signal === null ? `with exit code ${exit.code ?? 'unknown'}` : `by the signal ${exit.signal}`;
  return createError('runtime/crashed', {
    message: `Cannot run ${JSON.stringify(location)}: its process ended unexpectedly ${how}`,
    hint: lastWords(child),
    where: location,
  });
}

export function timedOut(location: string, action: string, timeoutMs: number, child: RunningChild): ToolkitError {
  return createError('runtime/timeout', {
    message: `Cannot ${action} ${JSON.stringify(location)}: there is no answer after ${timeoutMs / 1000} s`,
    hint: `Give it more time${child.log.lastLines(1).length === 0 ? '' : `. ${lastWords(child)}`}`,
    where: location,
  });
}

export function brokeProtocol(location: string, reason: string, child: RunningChild): ToolkitError {
  return createError('runtime/protocol', {
    message: `Cannot run ${JSON.stringify(location)}: ${reason}`,
    hint: lastWords(child),
    where: location,
  });
}

/** What the process wrote last, for people. */
function lastWords(child: RunningChild): string {
  const lines = child.log.lastLines(shownLines);
  if (lines.length === 0) return 'It wrote nothing to stdout or stderr';
  return `It wrote last:\n${lines.map((line) => `  ${escapeForDisplay(line)}`).join('\n')}`;
}

const codes: Readonly<Record<FailureReason, ErrorCode>> = {
  model: 'runtime/failed',
  input: 'runtime/bad-input',
  output: 'runtime/bad-output',
  missing: 'runtime/not-available',
};

/** What an `error` frame says, in the model's own words. */
export function failed(location: string, action: string, { fields }: Frame): ToolkitError {
  const { reason, message, traceback, hint } = fields;
  const lines = typeof traceback === 'string' ? traceback.split(/\r?\n/).filter((line) => line.trim() !== '') : [];
  const said = typeof message === 'string' ? escapeForDisplay(message) : 'its process does not say why';
  return createError(codes[toReason(reason)], {
    message: `Cannot ${action} ${JSON.stringify(location)}: ${said}`,
    hint: typeof hint === 'string' ? escapeForDisplay(hint) : showTraceback(lines),
    where: location,
  });
}

function showTraceback(lines: readonly string[]): string | undefined {
  if (lines.length === 0) return undefined;
  return `It failed here, the last call last:\n${lines.slice(-shownLines).map(escapeForDisplay).join('\n')}`;
}

function toReason(value: unknown): FailureReason {
  return failureReasons.find((reason) => reason === value) ?? 'model';
}
