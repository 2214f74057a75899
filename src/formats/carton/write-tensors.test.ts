import { describe, expect, it } from 'vitest';
import { floats, texts } from '../../../test/support/carton-write.js';
import { collect, openContent } from '../../bytes/index.js';
import type { Tensor } from '../../core/index.js';
import { TensorTable } from './write-tensors.js';

/** A tensor that counts how often it is loaded. */
function counted(tensor: Tensor) {
  const load = { count: 0, open: async () => (load.count++, tensor) };
  return load;
}

describe('TensorTable', () => {
  it('holds tensors up to a limit and reads those beyond it again when they are written', async () => {
    const table = new TensorTable(8);
    const [small, large] = [counted(floats([2], 1, 2)), counted(floats([3], 1, 2, 3))];
    await table.add(small.open, 'small');
    await table.add(large.open, 'large');
    const files = await Promise.all(table.members().map(({ content, path }) => collect(openContent(content), 1e6, path)));
    expect(files.slice(1)).toEqual([Buffer.from(Float32Array.of(1, 2).buffer), Buffer.from(Float32Array.of(1, 2, 3).buffer)]);
    expect([small.count, large.count]).toEqual([1, 2]);
  });

  it('says so when a tensor is another thing then', async () => {
    const table = new TensorTable(0);
    const nested: Tensor = { kind: 'nested', inner: [] };
    let tensor: Tensor = texts([1], 'a');
    await table.add(async () => tensor, 'the tensor "x"');
    tensor = nested;
    const [, member] = table.members();
    const failing = collect(openContent(member?.content ?? { kind: 'bytes', bytes: new Uint8Array(0) }), 1e6, 'x');
    await expect(failing).rejects.toMatchObject({ code: 'bytes/file-changed', message: expect.stringContaining('the tensor "x"') as string });
  });

  it('gives equal tensors one name, and equal bytes of another shape one file', async () => {
    const table = new TensorTable();
    const add = async (tensor: Tensor) => table.add(async () => tensor, 'it');
    expect(await add(floats([2], 1, 2))).toBe('@tensor_data/_tensor_0');
    expect(await add(floats([2, 1], 1, 2))).toBe('@tensor_data/_tensor_1');
    expect(await add(floats([2], 1, 2))).toBe('@tensor_data/_tensor_0');
    expect(await add({ kind: 'nested', inner: [] })).toBe('@tensor_data/_tensor_2');
    expect(table.members().map(({ path }) => path)).toEqual(['tensor_data/index.toml', 'tensor_data/tensor_0.bin']);
  });
});
