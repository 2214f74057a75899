import { describe, expect, it } from 'vitest';
import type { NamedTensors, RunnableModel, Tensor } from '../../core/index.js';
import { findRuntime, runtimes } from '../index.js';

const model: RunnableModel = { location: 'the-model', runtime: 'noop', version: '=99', options: {}, inputs: [], outputs: [] };
const environment = { env: {}, home: '/nowhere' };

describe('noop', () => {
  const noop = findRuntime('noop');

  it('gives back what it is given, whatever the version asked for', async () => {
    const inputs: NamedTensors = new Map<string, Tensor>([
      ['a', { kind: 'numeric', dtype: 'bool', shape: [1], bytes: new Uint8Array(1) }],
      ['b', { kind: 'nested', inner: [] }],
    ]);
    expect(await noop?.accepts(model, environment)).toMatchObject({ yes: true });
    const session = await noop?.start(model, '/nowhere', environment, 1000);
    const results: NamedTensors[] = [];
    for await (const result of session?.invoke(inputs, { timeoutMs: 1000 }) ?? []) results.push(result);
    expect(results).toEqual([inputs]);
    await session?.close();
    await expect(session?.invoke(inputs, { timeoutMs: 1000 })[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'core/bug' });
  });

  it('stops for a signal', async () => {
    const session = await noop?.start(model, '/nowhere', environment, 1000);
    const call = session?.invoke(new Map(), { timeoutMs: 1000, signal: AbortSignal.abort() })[Symbol.asyncIterator]().next();
    await expect(call).rejects.toMatchObject({ code: 'core/cancelled' });
  });
});

describe('the runtimes', () => {
  it('have names of their own, and options that say what they are', () => {
    const names = runtimes.flatMap((runtime) => runtime.names);
    expect(new Set(names).size).toBe(names.length);
    expect(runtimes.map(({ id }) => id)).toEqual(['noop', 'python', 'torchscript', 'onnx']);
    expect(runtimes.flatMap(({ options }) => options).every(({ summary }) => summary !== '')).toBe(true);
    expect(findRuntime('rust-bert')).toBeUndefined();
  });

  it.each(['noop', 'python', 'torchscript', 'modelport/onnx'])('%s refuses a layout that it does not know', async (name) => {
    const other = await findRuntime(name)?.accepts({ ...model, layoutVersion: 2 }, environment);
    expect(other).toMatchObject({ yes: false });
  });
});
