import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elements, numericOf } from '../../test/support/tensors.js';
import type { NumericTensor } from '../core/index.js';
import { swapBytes } from './byte-order.js';
import { encodeSmallFloat, smallFloatTable } from './small-floats.js';
import { toStoredArray, toTypedArray } from './typed-array.js';
import { tensorByteLength, tensorFromBytes } from './tensor-from-bytes.js';

const readers: Readonly<Record<string, (view: DataView, at: number) => number | bigint>> = {
  float64: (view, at) => view.getFloat64(at * 8, true),
  float32: (view, at) => view.getFloat32(at * 4, true),
  int64: (view, at) => view.getBigInt64(at * 8, true),
  uint64: (view, at) => view.getBigUint64(at * 8, true),
  int32: (view, at) => view.getInt32(at * 4, true),
  uint32: (view, at) => view.getUint32(at * 4, true),
  int16: (view, at) => view.getInt16(at * 2, true),
  uint16: (view, at) => view.getUint16(at * 2, true),
  int8: (view, at) => view.getInt8(at),
  uint8: (view, at) => view.getUint8(at),
  bool: (view, at) => view.getUint8(at),
};

describe('toTypedArray', () => {
  it('reads what a DataView reads, wherever the bytes begin', () => {
    fc.assert(
      fc.property(numericOf(Object.keys(readers) as NumericTensor['dtype'][]), (tensor) => {
        const found = elements(tensor);
        const view = new DataView(tensor.bytes.buffer, tensor.bytes.byteOffset, tensor.bytes.length);
        expect(found.length).toBe(tensor.shape.reduce((product, extent) => product * extent, 1));
        for (let at = 0; at < found.length; at++) expect(found.at(at)).toBe(readers[tensor.dtype]?.(view, at));
      }),
    );
  });

  it.each(['float8_e4m3', 'int4'] as const)('has no array for %s', (dtype) => {
    expect(toTypedArray({ kind: 'numeric', dtype, shape: [0], bytes: new Uint8Array() })).toBeUndefined();
  });

  it('keeps the bits of small floats where they are wanted as they are stored', () => {
    const half = { kind: 'numeric', dtype: 'float16', shape: [1], bytes: Uint8Array.of(0, 0x3c) } as const;
    expect([toStoredArray(half), toTypedArray(half)]).toEqual([Uint16Array.of(0x3c00), Float32Array.of(1)]);
  });
});

describe('16-bit floats', () => {
  // From NumPy 2.4.6: values, and their bits after astype('f2').
  it('rounds as NumPy does', () => {
    const values = [
      345.584192064786, 8.216181435011583e-7, 3.3043707618338713e-9, -1.3031572316043608e-5, 9.053558666731178e-4, -5.369532353602851e-4,
    ];
    expect(values.map((value) => encodeSmallFloat(value, 'float16'))).toEqual([23910, 14, 0, 32987, 4971, 36966]);
    expect([65504, 65519, 65520, -1e9, 2 ** -25, 2 ** -24, -0].map((value) => encodeSmallFloat(value, 'float16'))).toEqual([
      0x7bff, 0x7bff, 0x7c00, 0xfc00, 0, 1, 0x8000,
    ]);
  });

  it.each(['float16', 'bfloat16'] as const)('gives every bit pattern of %s back', (dtype) => {
    const table = smallFloatTable(dtype);
    const odd = Array.from({ length: 0x10000 }, (_, bits) => bits).filter((bits) => encodeSmallFloat(table[bits] ?? 0, dtype) !== bits);
    expect(odd.every((bits) => Number.isNaN(table[bits]))).toBe(true);
  });

  it('takes the upper half of a float32 for bfloat16', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true }), (value) => {
        const view = new DataView(new ArrayBuffer(4));
        view.setFloat32(0, value);
        view.setUint16(2, 0);
        expect(smallFloatTable('bfloat16')[view.getUint16(0)]).toBe(view.getFloat32(0));
        expect(encodeSmallFloat(view.getFloat32(0), 'bfloat16')).toBe(view.getUint16(0));
      }),
    );
  });
});

describe('swapBytes', () => {
  it('turns each unit round and leaves the original', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const swapped = [1, 2, 4, 8].map((unit) => Buffer.from(swapBytes(bytes, unit)).toString('hex'));
    expect(swapped).toEqual(['0102030405060708', '0201040306050807', '0403020108070605', '0807060504030201']);
    expect(bytes[0]).toBe(1);
  });
});

describe('tensorFromBytes', () => {
  it('takes exactly as many bytes as the shape says', () => {
    const bytes = new Uint8Array(12);
    expect(tensorFromBytes(bytes, 'float32', [3], 'a.bin').bytes).toBe(bytes);
    for (const shape of [[2], [4], [], [0]])
      expect(() => tensorFromBytes(bytes, 'float32', shape, 'a.bin')).toThrow(/needs \d+ bytes and there are 12/);
    expect(() => tensorFromBytes(bytes, 'int8', [2 ** 40, 2 ** 40], 'a.bin')).toThrow(/too many/);
  });

  it('counts half bytes', () => {
    expect(tensorByteLength('int4', [3])).toBe(2);
    expect(tensorByteLength('float64', [-1])).toBeUndefined();
    expect(tensorByteLength('float64', [2 ** 50])).toBeUndefined();
  });
});
