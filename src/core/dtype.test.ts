import { describe, expect, it } from 'vitest';
import { type Dtype, dtypes, findDtype } from './dtype.js';

describe('dtypes', () => {
  it.each(['name', 'safetensors', 'npy', 'onnx', 'inference', 'modelpack'] as const)('has no two rows with the same %s', (key) => {
    const values = (dtypes as readonly Dtype[]).flatMap((row) => row[key] ?? []);
    expect(new Set(values).size).toBe(values.length);
  });

  it('maps between formats', () => {
    expect(findDtype('safetensors', 'BF16')).toMatchObject({ name: 'bfloat16', onnx: 16, bits: 16 });
    expect(findDtype('onnx', 999)).toBeUndefined();
  });
});
