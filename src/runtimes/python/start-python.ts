import { createError, type Finding, type JsonObject, type RunnableModel, type RuntimeEnvironment, type RuntimeSession } from '../../core/index.js';
import { childEnvironment } from '../child/child-environment.js';
import { startChildSession } from '../child/child-session.js';
import { pythonWireFile } from '../protocol/python-wire.js';
import { chooseInterpreter, type Wanted } from './choose-interpreter.js';
import type { Interpreter } from './interpreter.js';

/** The Python that `accepts` said yes for. Throws `runtime/not-available` where there is none. */
export async function requireInterpreter(model: RunnableModel, wanted: Wanted, environment: RuntimeEnvironment): Promise<Interpreter> {
  const choice = await chooseInterpreter(model, wanted, environment);
  if (choice.kind === 'none') throw notAvailable(model.location, choice.reason, choice.hint);
  return choice.interpreter;
}

export interface PythonStart {
  readonly location: string;
  /** The interpreter, absolute. */
  readonly python: string;
  readonly runnerFile: string;
  /** Of the model; the process works in it. */
  readonly folder: string;
  /** Fields of the `load` frame besides the folder. */
  readonly load: JsonObject;
  readonly findings: readonly Finding[];
  /** On the clock of `performance.now`. */
  readonly deadline: number;
}

/** A runner of ours in a Python that sees neither the packages nor the settings of the user. */
export function startPython(
  { location, python, runnerFile, folder, load, findings, deadline }: PythonStart,
  { env, device, signal, onLog }: RuntimeEnvironment,
): Promise<RuntimeSession> {
  return startChildSession({
    location,
    program: { command: python, args: ['-I', '-B', '-u', runnerFile, pythonWireFile], cwd: folder, env: childEnvironment(env, device) },
    load: { folder, ...load },
    findings,
    timeoutMs: Math.max(0, deadline - performance.now()),
    signal,
    onLog,
  });
}

export function notAvailable(location: string, reason: string, hint: string): Error {
  return createError('runtime/not-available', { message: `Cannot run ${JSON.stringify(location)}: ${reason}`, hint, where: location });
}
