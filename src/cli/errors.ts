import { CommanderError } from '@commander-js/extra-typings';
import { createError, type Finding, isToolkitError } from '../core/index.js';
import { exitCodes } from './exit-codes.js';
import { renderFindings } from './render/findings.js';
import type { Style } from './terminal.js';

/** Why the program could not do what was asked, ready to be shown: every cause has become words. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly where?: string | undefined;
  /** How the command is written, for wrong usage. */
  readonly usage?: string | undefined;
  readonly hint?: string | undefined;
  readonly findings: readonly Finding[];
  readonly exitCode: number;
  /** Shown with MODELPORT_DEBUG only. */
  readonly stack?: string | undefined;
}

export function usageError(message: string, hint?: string): Error {
  return createError('cli/usage', { message, hint });
}

/** What was called, for advice. */
export interface CalledCommand {
  readonly usage: string;
  /** The command line that shows its help. */
  readonly help: string;
  /** False for the program itself and for a group of commands, which take no options. */
  readonly isCommand: boolean;
}

export function toFailure(error: unknown, signal: AbortSignal, called: CalledCommand): Failure {
  const { usage } = called;
  const stack = error instanceof Error ? error.stack : undefined;
  if (signal.aborted) return { code: 'core/cancelled', message: 'Interrupted', findings: [], exitCode: exitCodes.interrupted };
  if (error instanceof CommanderError) return { ...fromCommander(error, called), usage, stack };
  if (isToolkitError(error)) {
    const { code, message, where, hint, findings, exitCode } = error;
    return { code, message, where, hint, findings, exitCode, stack, usage: code === 'cli/usage' ? usage : undefined };
  }
  return isSystemFailure(error) ? fromSystem(error) : fromBug(error, stack);
}

/** `error: unknown option '--x'\n(Did you mean --y?)` → a message and advice. */
function fromCommander(error: CommanderError, { help, isCommand }: CalledCommand): Failure {
  const [first = '', ...rest] = error.message.split('\n');
  const misplaced = error.code === 'commander.unknownOption' && !isCommand;
  const advice = misplaced ? 'Options stand after the command' : rest.join(' ').replace(/^\((.*)\)$/, '$1');
  const message = capitalise(first.replace(/^error: /, '').replace(/\.$/, ''));
  return {
    code: 'cli/usage',
    message,
    hint: [advice, `See \`${help}\``].filter(Boolean).join(misplaced ? '. ' : ' '),
    findings: [],
    exitCode: exitCodes.usage,
  };
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isSystemFailure(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/** What the operating system refused and nobody below put into words is still no bug. */
function fromSystem(error: NodeJS.ErrnoException): Failure {
  return {
    code: 'bytes/io',
    message: `Cannot go on: ${error.message}`,
    where: error.path,
    findings: [],
    exitCode: exitCodes.world,
    stack: error.stack,
  };
}

function fromBug(error: unknown, stack: string | undefined): Failure {
  return {
    code: 'core/bug',
    message: `This is a bug of modelport: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
    hint: 'Run the same command with MODELPORT_DEBUG=1 and report what it prints, with the output of `modelport version`',
    findings: [],
    exitCode: exitCodes.bug,
    stack,
  };
}

/** Cause, place, correct usage and advice on lines of their own. */
export function renderFailure({ message, where, usage, hint, findings, stack }: Failure, style: Style, debug: boolean): string[] {
  const { color } = style;
  const aside = (name: string, text: string | undefined) => (text === undefined ? [] : [`  ${color.dim(`${name}:`)} ${text}`]);
  return [
    `${color.red('modelport:')} ${message}`,
    ...aside('where', where),
    ...aside('usage', usage),
    ...aside('hint', hint),
    ...renderFindings(
      findings.filter((finding) => finding.where !== where || !message.includes(finding.message)),
      style,
      '  ',
    ),
    ...(debug && stack !== undefined ? stack.split('\n') : []),
  ];
}

/** The document that `--json` prints instead of a result. */
export function toErrorDocument({ code, message, hint, where, findings }: Failure): object {
  return { error: { code, message, hint, where }, ...(findings.length === 0 ? {} : { findings }) };
}
