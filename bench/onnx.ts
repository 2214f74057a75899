/** One small inference: by the engine itself, and what the runtime costs above it, in process and through a child. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { NamedTensors, RunnableModel, RuntimeSession } from '../src/core/index.js';
import { onnxRuntime } from '../src/runtimes/onnx/index.js';
import { median } from './rounds.js';
import { type Bench, type Section, toMissing } from './section.js';

/** Of each way in turn, so that what the machine does beside falls on all alike. */
const blocks = 20;
const inferences = 200;
const startMs = 60_000;

const digits = resolve('examples/digits');
const pixels = new Float32Array(64).map((_, index) => (index % 17) / 16);
const question: NamedTensors = new Map([['pixels', { kind: 'numeric', dtype: 'float32', shape: [1, 64], bytes: new Uint8Array(pixels.buffer) }]]);

interface Way {
  readonly name: string;
  infer(): Promise<unknown>;
  close(): Promise<void>;
}

export async function runOnnx(bench: Bench): Promise<Section> {
  const empty = { title: 'One small inference with ONNX', steps: [], results: new Map(), targets: [], tables: [], notes: [] };
  const engine = findEngine();
  if (engine === undefined) return { ...empty, notes: [toMissing('onnxruntime-node')] };
  const ways = [
    await openDirect(engine),
    await openOurs('modelport, in process', engine, false),
    await openOurs('modelport, through a child', engine, true),
  ];
  try {
    const times = await measureAll(ways, bench.signal);
    const medians = times.map(median);
    const [direct = NaN, inProcess = NaN, child = NaN] = medians;
    bench.say(`onnx: ${ways.map(({ name }, at) => `${name} ${toMs(medians[at])} ms`).join(', ')}`);
    const toTarget = (what: string, limit: number, measured: number) => ({ what, unit: 'ms' as const, bound: 'at most' as const, limit, measured });
    return {
      ...empty,
      targets: [
        toTarget('modelport in process above the engine itself', 1, inProcess - direct),
        toTarget('modelport through a child above the engine itself', 2, child - direct),
      ],
      tables: [
        {
          titles: [`one inference of examples/digits, ${blocks} times ${inferences}`, 'min, ms', 'median, ms', 'max, ms'],
          rows: ways.map(({ name }, at) => toRow(name, times[at] ?? [])),
        },
      ],
      notes: ['The mean of each block; min, median and max of the blocks. Starting is not counted.'],
    };
  } finally {
    for (const way of ways) await way.close();
  }
}

function findEngine(): string | undefined {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'modelport-interop/onnxruntime/node_modules/onnxruntime-node');
  return existsSync(folder) ? folder : undefined;
}

interface Engine {
  readonly Tensor: new (type: string, data: Float32Array, dims: readonly number[]) => unknown;
  readonly InferenceSession: { create(file: string): Promise<{ run(feeds: object): Promise<unknown>; release(): Promise<void> }> };
}

async function openDirect(folder: string): Promise<Way> {
  const { Tensor, InferenceSession } = createRequire(join(folder, 'package.json'))(folder) as Engine;
  const session = await InferenceSession.create(join(digits, 'digits.onnx'));
  return {
    name: 'onnxruntime-node',
    infer: () => session.run({ pixels: new Tensor('float32', pixels, [1, 64]) }),
    close: () => session.release(),
  };
}

async function openOurs(name: string, engine: string, isolated: boolean): Promise<Way> {
  const model: RunnableModel = { location: 'digits', runtime: 'onnx', options: {}, inputs: [], outputs: [] };
  const environment = { env: { MODELPORT_ONNXRUNTIME: engine }, home: digits, isolated };
  const session = await onnxRuntime.start(model, digits, environment, startMs);
  return { name, infer: () => inferOnce(session), close: () => session.close() };
}

async function inferOnce(session: RuntimeSession): Promise<unknown> {
  let answer: unknown;
  for await (const item of session.invoke(question, { timeoutMs: startMs })) answer = item;
  return answer;
}

/** Milliseconds of one inference in each block, by way; a first block warms up. */
async function measureAll(ways: readonly Way[], signal: AbortSignal): Promise<readonly (readonly number[])[]> {
  const times = ways.map((): number[] => []);
  for (let block = 0; block <= blocks; block++) {
    for (const [at, way] of ways.entries()) {
      signal.throwIfAborted();
      const began = performance.now();
      for (let turn = 0; turn < inferences; turn++) await way.infer();
      if (block > 0) times[at]?.push((performance.now() - began) / inferences);
    }
  }
  return times;
}

function toRow(name: string, times: readonly number[]): readonly string[] {
  return [name === 'onnxruntime-node' ? name : `**${name}**`, ...[Math.min(...times), median(times), Math.max(...times)].map(toMs)];
}

function toMs(time: number | undefined): string {
  return (time ?? NaN).toFixed(3);
}
