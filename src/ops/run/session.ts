import { join } from 'node:path';
import { createError, type Finding, type NamedTensors, type Runtime, type RuntimeEnvironment, type RuntimeSession } from '../../core/index.js';
import { findRuntime, judgeOptions, runtimes } from '../../runtimes/index.js';
import { checkTensors } from '../../tensors/index.js';
import type { OpsContext } from '../context.js';
import { type Consent, assertConsent } from './consent.js';
import type { Runnable, RunnableOptions } from './runnable.js';

export interface SessionOptions extends RunnableOptions {
  readonly allowCode?: Consent;
  /** `cpu`, the index of a GPU, or its UUID. */
  readonly device?: string;
  /** Seconds for loading, and for each inference. */
  readonly timeout?: number;
  /** In this process what can run in it: it starts sooner, and a model that does not end cannot be stopped. */
  readonly inProcess?: boolean;
}

/** A model that is loaded and can be asked. */
export interface OpenSession extends Runnable {
  readonly runtime: Runtime;
  readonly session: RuntimeSession;
  readonly timeoutMs: number;
  /** What is odd about options and versions. */
  readonly findings: readonly Finding[];
}

const defaultTimeoutSeconds = 600;

/** Everything up to the loaded model: runtime, consent, options, framework version, files. The session ends when the context closes. */
export async function startSession(runnable: Runnable, options: SessionOptions, context: OpsContext): Promise<OpenSession> {
  const { model } = runnable;
  const runtime = findRuntime(model.runtime);
  if (runtime === undefined)
    throw createError('runtime/no-runtime', {
      message: `Cannot run "${options.location}": it asks for the runner "${model.runtime}", which modelport does not have`,
      hint: `Runners: ${runtimes.map(({ id }) => id).join(', ')}; --runner chooses another one`,
    });
  await assertConsent(runtime, options.location, runnable.pkg.run.entrypoint, options.allowCode ?? false);
  const environment = toEnvironment(options, context);
  const acceptance = await runtime.accepts(model, environment);
  if (!acceptance.yes)
    throw createError('runtime/not-available', { message: `Cannot run "${options.location}": ${acceptance.reason}`, hint: acceptance.hint });
  const timeoutMs = (options.timeout ?? runnable.pkg.run.timeout ?? defaultTimeoutSeconds) * 1000;
  const session = await runtime.start(model, await runnable.materialize(), environment, timeoutMs);
  context.keep(session);
  const findings = [...runnable.findings, ...judgeOptions(model, runtime), ...acceptance.findings, ...session.findings];
  return { ...runnable, runtime, session, timeoutMs, findings };
}

function toEnvironment({ device, frameworkVersion, inProcess }: SessionOptions, context: OpsContext): RuntimeEnvironment {
  const { env, home, network, signal } = context;
  return {
    env,
    home: join(home, 'runtimes'),
    device,
    // Pre-releases too, which no requirement matches that does not name one.
    anyVersion: frameworkVersion === '*',
    offline: network.offline,
    isolated: inProcess !== true,
    signal,
  };
}

/** One result of a model. `findings`: where it is not what the model declares. */
export interface Inferred {
  readonly outputs: NamedTensors;
  readonly findings: readonly Finding[];
}

/** Inputs that were held against what the model declares, with the sizes that its symbols have got. */
export interface JudgedInputs {
  readonly inputs: NamedTensors;
  readonly findings: readonly Finding[];
  readonly bindings: ReadonlyMap<string, number | readonly number[]>;
}

export function judgeInputs(inputs: NamedTensors, { model }: OpenSession): JudgedInputs {
  const bindings = new Map<string, number | readonly number[]>();
  return { inputs, findings: checkTensors(inputs, model.inputs, 'input', bindings), bindings };
}

/** One inference. Gives every result of a model that streams; the last is the answer. Whether wrong inputs are refused is for the caller. */
export async function* infer({ session, model, timeoutMs }: OpenSession, judged: JudgedInputs, { signal }: OpsContext): AsyncGenerator<Inferred> {
  for await (const outputs of session.invoke(judged.inputs, { timeoutMs, signal }))
    yield { outputs, findings: checkTensors(outputs, model.outputs, 'output', new Map(judged.bindings)) };
}

export function toError(code: 'runtime/bad-input' | 'runtime/bad-output', findings: readonly Finding[]): Error {
  const errors = findings.filter(({ level }) => level === 'error');
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return createError(code, { message: `${first?.message ?? ''}${more}`, hint: first?.hint, where: first?.where, findings });
}
