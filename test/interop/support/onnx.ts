import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { NamedTensors, RunnableModel, RuntimeEnvironment, RuntimeSession, Tensor, TensorSpec } from '../../../src/core/index.js';
import { onnxRuntime } from '../../../src/runtimes/onnx/index.js';

const engine = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'modelport-interop', 'onnxruntime');

/** The engine that .ci/install-peers brought. */
export function findOnnxFolder(): string {
  if (!existsSync(engine)) throw new Error('Cannot find onnxruntime-node: run .ci/install-peers');
  return engine;
}

export function makeEnvironment(more: Partial<RuntimeEnvironment> = {}): RuntimeEnvironment {
  return { home: tmpdir(), env: { PATH: process.env['PATH'], MODELPORT_ONNXRUNTIME: findOnnxFolder() }, ...more };
}

export function makeModel(inputs: readonly TensorSpec[] = [], outputs: readonly TensorSpec[] = [], more: Partial<RunnableModel> = {}): RunnableModel {
  return { location: 'model.carton', runtime: 'onnx', options: {}, inputs, outputs, ...more };
}

/** A new folder with these files. */
export function writeFolder(files: Readonly<Record<string, Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-onnx-'));
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}

export function startOnnx(folder: string, model: RunnableModel = makeModel(), more: Partial<RuntimeEnvironment> = {}): Promise<RuntimeSession> {
  return onnxRuntime.start(model, folder, makeEnvironment(more), 60_000);
}

/** The one answer of a model that does not stream. */
export async function infer(session: RuntimeSession, inputs: Readonly<Record<string, Tensor>>, timeoutMs = 60_000): Promise<NamedTensors> {
  const answers: NamedTensors[] = [];
  for await (const answer of session.invoke(new Map(Object.entries(inputs)), { timeoutMs })) answers.push(answer);
  const [answer, ...more] = answers;
  if (answer === undefined || more.length > 0) throw new Error(`${answers.length} answers`);
  return new Map([...answer].map(([name, tensor]) => [name, withPlainBytes(tensor)]));
}

/** A Buffer never equals another array in a test. */
function withPlainBytes(tensor: Tensor): Tensor {
  return tensor.kind === 'numeric' ? { ...tensor, bytes: Uint8Array.from(tensor.bytes) } : tensor;
}

export interface DigitSample {
  readonly pixels: readonly number[];
  readonly logits: readonly number[];
  readonly digit: number;
}

export const digitsFolder: string = join(import.meta.dirname, '../../../examples/digits');

export function readDigitSamples(): readonly DigitSample[] {
  return (JSON.parse(readFileSync(join(digitsFolder, 'samples.json'), 'utf8')) as { samples: DigitSample[] }).samples;
}

export function toPixels(samples: readonly DigitSample[]): Tensor {
  const values = Float32Array.from(samples.flatMap(({ pixels }) => pixels.map((value) => value / 16)));
  return { kind: 'numeric', dtype: 'float32', shape: [samples.length, 64], bytes: new Uint8Array(values.buffer) };
}
