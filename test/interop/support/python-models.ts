import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { NamedTensors, NumericTensor, RunnableModel, Runtime, RuntimeEnvironment, RuntimeSession, Tensor } from '../../../src/core/index.js';
import { findRuntime } from '../../../src/runtimes/index.js';
import { makeFolder, removeFolder } from './folders.js';

/** One Python with NumPy alone, which .ci/install-peers makes, and one with torch. */
export const numpyPython = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'modelport-interop/python/bin/python');
export const torchPython = '/usr/bin/python3';

export const timeoutMs = 60_000;

/** A model on a clean machine: whatever `change` does not say is empty. */
export function describeModel(change: Partial<RunnableModel> = {}): RunnableModel {
  return { location: 'the-model', runtime: 'python', options: {}, inputs: [], outputs: [], ...change };
}

/** A folder for models and the environments that are made for them. Close it. */
export class ModelScene {
  readonly folder = makeFolder();
  readonly runtime: Runtime;
  readonly #interpreter: string;
  #models = 0;

  constructor(runtime: string, interpreter: string) {
    const found = findRuntime(runtime);
    if (found === undefined) throw new Error(`Cannot find the runtime ${runtime}`);
    this.runtime = found;
    this.#interpreter = interpreter;
  }

  close(): void {
    removeFolder(this.folder);
  }

  environment(change: Partial<RuntimeEnvironment> = {}): RuntimeEnvironment {
    const env = {
      PATH: '/usr/bin:/bin',
      HOME: join(this.folder, 'home'),
      MODELPORT_PYTHON: this.#interpreter,
      SECRET_TOKEN: 'secret',
      PYTHONPATH: '/nowhere',
    };
    return { env, home: join(this.folder, 'runtimes'), ...change };
  }

  /** The folder of a model with these files. */
  write(files: Record<string, string>): string {
    const folder = join(this.folder, `model-${this.#models++}`);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  }

  start(folder: string, change: Partial<RunnableModel> = {}, surroundings: Partial<RuntimeEnvironment> = {}): Promise<RuntimeSession> {
    return this.runtime.start(describeModel(change), folder, this.environment(surroundings), timeoutMs);
  }

  /** Starts, asks once, closes. */
  async ask(folder: string, inputs: NamedTensors = new Map(), change: Partial<RunnableModel> = {}): Promise<NamedTensors[]> {
    const session = await this.start(folder, change);
    try {
      return await invoke(session, inputs);
    } finally {
      await session.close();
    }
  }
}

export async function invoke(session: RuntimeSession, inputs: NamedTensors = new Map(), limitMs = timeoutMs): Promise<NamedTensors[]> {
  const results: NamedTensors[] = [];
  for await (const result of session.invoke(inputs, { timeoutMs: limitMs })) results.push(result);
  return results;
}

export const numeric = (dtype: NumericTensor['dtype'], shape: readonly number[], values: ArrayBufferView): NumericTensor => ({
  kind: 'numeric',
  dtype,
  shape,
  bytes: Buffer.from(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength),
});
export const int32 = (...values: number[]): NumericTensor => numeric('int32', [values.length], Int32Array.from(values));
export const text = (...values: string[]): Tensor => ({ kind: 'string', shape: [values.length], values });
export const scalarText = (value: string): Tensor => ({ kind: 'string', shape: [], values: [value] });

/** Bytes compare by content, whatever holds them. */
export function plain(tensors: NamedTensors | undefined): Record<string, unknown> {
  return Object.fromEntries([...(tensors ?? new Map<string, Tensor>())].map(([name, tensor]) => [name, plainTensor(tensor)]));
}

export function plainTensor(tensor: Tensor): unknown {
  if (tensor.kind === 'nested') return tensor.inner.map(plainTensor);
  return tensor.kind === 'string' ? tensor : { ...tensor, bytes: [...tensor.bytes] };
}
