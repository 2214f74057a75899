import type { NamedTensors, Tensor, TensorSpec } from '../../core/index.js';
import { bindValues, type BoundValue } from './bind-values.js';
import type { EngineOptions, EngineSession, EngineTensor, OnnxEngine } from './engine.js';
import { fromEngineTensor, toEngineTensor } from './engine-tensor.js';
import { toEngineWords } from './engine-words.js';
import { GraphFailure } from './graph-failure.js';
import { type GraphSettings, processorProviders } from './graph-settings.js';
import { listValues } from './list-values.js';

/** What is loaded, and what the package says of it. It travels to a process of its own as JSON. */
export interface GraphPlan {
  readonly file: string;
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly settings: GraphSettings;
}

/** A graph that the engine has loaded. Close it. */
export interface Graph {
  /** Blocks the thread. Throws a GraphFailure; the graph stays usable. */
  infer(inputs: NamedTensors): Promise<NamedTensors>;
  close(): Promise<void>;
}

/** `talks` says whether what the engine warns of goes to stderr. Throws a GraphFailure when it cannot be loaded, or is not what is declared. */
export async function openGraph(engine: OnnxEngine, { file, settings, inputs, outputs }: GraphPlan, talks: boolean): Promise<Graph> {
  const session = await createSession(engine, file, toOptions(settings, engine, talks));
  try {
    const signature = {
      inputs: bindValues('input', inputs, session.inputMetadata),
      outputs: bindValues('output', outputs, session.outputMetadata),
    };
    return { infer: (given) => infer(engine, session, signature, given), close: () => session.release() };
  } catch (error) {
    await session.release();
    throw error;
  }
}

/** A GPU is the only one that the process sees, so it is number 0. */
function toOptions({ providers, ...threads }: GraphSettings, engine: OnnxEngine, talks: boolean): EngineOptions {
  const available = engine.listSupportedBackends().map(({ name }) => name);
  const lacking = providers.find((name) => name !== 'cpu' && !available.includes(name));
  if (lacking !== undefined) {
    const problem = `there is no provider ${JSON.stringify(lacking)}: this onnxruntime-node has ${available.join(', ')}`;
    throw new GraphFailure('missing', problem, 'choose another with --opt providers=\'"cpu"\'');
  }
  const executionProviders = providers.map((name) => (processorProviders.includes(name) ? name : { name, deviceId: 0 }));
  return { ...threads, executionProviders, logSeverityLevel: talks ? 2 : 4 };
}

async function createSession(engine: OnnxEngine, file: string, options: EngineOptions): Promise<EngineSession> {
  try {
    return await engine.InferenceSession.create(file, options);
  } catch (error) {
    const words = toEngineWords(error);
    if (!isMissingProvider(words, options)) throw new GraphFailure('model', `onnxruntime says: ${words}`);
    const hint = 'install onnxruntime-node with its CUDA libraries (without ONNXRUNTIME_NODE_INSTALL=skip), or use --device cpu';
    throw new GraphFailure('missing', `it does not run on a GPU here: ${words}`, hint);
  }
}

function isMissingProvider(words: string, { executionProviders }: EngineOptions): boolean {
  return executionProviders.some((provider) => typeof provider !== 'string') && /load (shared )?library|AppendExecutionProvider/i.test(words);
}

interface Signature {
  readonly inputs: readonly BoundValue[];
  readonly outputs: readonly BoundValue[];
}

async function infer(engine: OnnxEngine, session: EngineSession, { inputs, outputs }: Signature, given: NamedTensors): Promise<NamedTensors> {
  for (const name of given.keys()) if (!inputs.some((each) => each.name === name)) throw toBadInput(name, 'is none of the graph', inputs);
  const feeds = Object.fromEntries(inputs.map((input) => [input.graphName, toFeed(engine, input, given.get(input.name), inputs)]));
  const results = await runSession(session, feeds, outputs);
  return new Map(outputs.map(({ name, graphName }) => [name, fromEngineTensor(name, results[graphName])]));
}

function toFeed(engine: OnnxEngine, { name, dtype }: BoundValue, tensor: Tensor | undefined, inputs: readonly BoundValue[]): EngineTensor {
  if (tensor === undefined) throw toBadInput(name, 'is missing', inputs);
  const found = tensor.kind === 'numeric' ? tensor.dtype : tensor.kind;
  if (found !== 'nested' && found !== dtype) throw toBadInput(name, `is ${found}, and the graph takes ${dtype}`, inputs);
  return toEngineTensor(engine, name, tensor);
}

type Feeds = Readonly<Record<string, EngineTensor>>;

async function runSession(
  session: EngineSession,
  feeds: Feeds,
  outputs: readonly BoundValue[],
): Promise<Readonly<Record<string, EngineTensor | undefined>>> {
  try {
    const fetches = outputs.map(({ graphName }) => graphName);
    return await session.run(feeds, fetches);
  } catch (error) {
    throw new GraphFailure('model', `onnxruntime says: ${toEngineWords(error)}`);
  }
}

function toBadInput(name: string, problem: string, inputs: readonly BoundValue[]): GraphFailure {
  return new GraphFailure('input', `input ${JSON.stringify(name)} ${problem}`, `the inputs are ${listValues(inputs)}`);
}
