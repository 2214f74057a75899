import type * as OpsModule from '../ops/index.js';
import type { LongRunning, NetworkOptions, OpsContext } from '../ops/index.js';
import { given } from './arguments.js';
import type { CommonOptions } from './base-command.js';
import { type Escape, toDisplayable } from './display.js';
import { exitCodes } from './exit-codes.js';
import type { CliIo } from './io.js';
import { writeLines, writeResult } from './output.js';
import { createProgress } from './progress.js';
import { renderFindings } from './render/findings.js';
import { renderCounters } from './render/counters.js';
import type { Render } from './render/rendered.js';
import { styleFor } from './terminal.js';

export type Ops = typeof OpsModule;

/** The one place that loads the verbs: only once a command really works, so that help and version start at once. */
export const loadOps = (): Promise<Ops> => import('../ops/index.js');

/** What a command needs of the program around it. */
export interface Cli {
  readonly io: CliIo;
  /** One call into ops, its result shown; `exitCode` says what the result means to a script. */
  run<R>(
    options: CommonOptions,
    call: (ops: Ops, context: OpsContext) => Promise<R>,
    render: Render<R>,
    exitCode?: (result: R) => number,
  ): Promise<void>;
  /** For a verb that goes on after its result, which is shown at once. Resolves when it has ended. */
  runUntilEnded<R>(options: CommonOptions, call: (ops: Ops, context: OpsContext) => Promise<LongRunning<R>>, render: Render<R>): Promise<void>;
  /** What the last `run` said. */
  readonly exitCode: () => number;
}

export function createCli(io: CliIo, load: () => Promise<Ops> = loadOps): Cli {
  let code: number = exitCodes.ok;
  return {
    io,
    run: (options, call, render, toExitCode = () => exitCodes.ok) =>
      work({ io, options, load, announces: 'what-is-no-result' }, async (ops, context, close) => {
        const result = await call(ops, context).finally(close);
        code = toExitCode(result);
        await writeResult(io, options, ops.escapeForDisplay, result, render);
      }),
    runUntilEnded: (options, call, render) =>
      work({ io, options, load, announces: 'all' }, async (ops, context, close) => {
        const { started, ended } = await call(ops, context).finally(close);
        try {
          await writeResult(io, options, ops.escapeForDisplay, started, render);
        } finally {
          // It goes on also when nobody reads what is said.
          await ended;
        }
      }),
    exitCode: () => code,
  };
}

interface Work {
  readonly io: CliIo;
  readonly options: CommonOptions;
  readonly load: () => Promise<Ops>;
  /** With --json findings are part of the result, unless that has been printed already. */
  readonly announces: 'all' | 'what-is-no-result';
}

/** `action` in a context made of the options; it closes the progress before it writes. What was counted is said at the end. */
async function work(
  { io, options, load, announces }: Work,
  action: (ops: Ops, context: OpsContext, close: () => void) => Promise<void>,
): Promise<void> {
  const since = performance.now();
  const ops = await load();
  const progress = startProgress(io, options, ops.escapeForDisplay);
  const { signal, cwd, env } = io;
  const announce = toAnnouncement(io, options, ops.escapeForDisplay, announces);
  const network = toNetwork(options);
  const context = ops.createContext({ cwd, env, signal, progress, announce, network, ...given({ concurrency: options.concurrency }) });
  try {
    await action(ops, context, progress.close);
  } finally {
    await context.close();
    if (options.verbose === true) await writeLines(io.stderr, renderCounters(context.counters, performance.now() - since));
  }
}

function toNetwork({ local, remote, mirror, plainHttp, insecure, offline, caFile, cert, key }: CommonOptions): NetworkOptions {
  const names = local === true ? 'local' : remote === true ? 'remote' : 'auto';
  return { names, ...given({ mirrors: mirror, plainHttp, insecure, offline, caFile, cert, key }) };
}

/** Findings that are said at once. What a registry wants a person to hear is part of no result. */
function toAnnouncement(io: CliIo, options: CommonOptions, escape: Escape, announces: Work['announces']): OpsContext['announce'] {
  const style = styleFor(io.stderr, io.env, options.color);
  return (findings) => {
    const said = options.json === true && announces !== 'all' ? findings.filter(({ code }) => code.startsWith('registry/')) : findings;
    if (options.quiet === true) return;
    io.stderr.write(
      renderFindings(toDisplayable(said, escape), style)
        .map((line) => `${line}\n`)
        .join(''),
    );
  };
}

function startProgress(io: CliIo, options: CommonOptions, escape: Escape) {
  const style = styleFor(io.stderr, io.env, options.color);
  const quiet = options.quiet === true && options.progress !== 'json';
  return createProgress(io, quiet ? false : (options.progress ?? 'auto'), style, escape);
}
