import { assertWanted, createError, type InvokeOptions, type NamedTensors, type RuntimeSession } from '../../core/index.js';
import { failed } from '../child/child-failure.js';
import { toErrorFrame } from './graph-failure.js';
import { loadEngine } from './load-engine.js';
import { type Graph, openGraph } from './open-graph.js';
import type { OnnxStart } from './onnx-start.js';

/**
 * Loads a graph in this process: the fastest, but the engine blocks the thread, so that neither a signal nor a time limit stops it: both are
 * looked at when it has answered. The engine says nothing on stderr.
 */
export async function startInProcess(start: OnnxStart): Promise<RuntimeSession> {
  const { location, engine, plan, timeoutMs, environment } = start;
  const load = async () => openGraph(loadEngine(engine.folder, false), plan, false);
  const graph = await attempt('load', location, { timeoutMs, signal: environment.signal }, load, (late) => late.close());
  return toSession(graph, start);
}

function toSession(graph: Graph, { location, engine, findings }: OnnxStart): RuntimeSession {
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= graph.close());
  async function* invoke(inputs: NamedTensors, options: InvokeOptions): AsyncGenerator<NamedTensors> {
    if (closing !== undefined) throw createError('core/bug', { message: `Cannot use ${JSON.stringify(location)}: it is closed` });
    yield await attempt('run', location, options, () => graph.infer(inputs), close);
  }
  return { version: engine.version, findings, invoke, log: () => '', close };
}

/** What came too late, or what nobody wants any more, goes to `discard`. */
async function attempt<T>(
  action: 'load' | 'run',
  location: string,
  { timeoutMs, signal }: InvokeOptions,
  work: () => Promise<T>,
  discard: (result: T) => Promise<void>,
): Promise<T> {
  assertWanted(signal);
  const began = performance.now();
  const result = await work().catch((error: unknown) => {
    throw failed(location, action, toErrorFrame(0, error));
  });
  const isLate = performance.now() - began > timeoutMs;
  if (isLate || signal?.aborted === true) await discard(result);
  assertWanted(signal);
  if (!isLate) return result;
  throw createError('runtime/timeout', {
    message: `Cannot ${action} ${JSON.stringify(location)}: it took longer than ${timeoutMs / 1000} s`,
    hint: 'Give it more time',
    where: location,
  });
}
