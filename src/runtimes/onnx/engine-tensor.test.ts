import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DtypeName, dtypes, type NumericTensor, type Tensor } from '../../core/index.js';
import type { EngineData, OnnxEngine } from './engine.js';
import { fromEngineTensor, isTransferable, toEngineTensor } from './engine-tensor.js';

/** The only part of an engine that conversions touch, as the engine's own class behaves. */
const engine: Pick<OnnxEngine, 'Tensor'> = {
  Tensor: class {
    readonly type: string;
    readonly data: EngineData;
    readonly dims: readonly number[];
    constructor(type: string, data: EngineData, dims: readonly number[]) {
      [this.type, this.data, this.dims] = [type, data, dims];
    }
  },
};

const taken = (dtypes as readonly { name: DtypeName; bits: number }[]).filter(({ name }) => isTransferable(name) && name !== 'string');
const cartons = ['float32', 'float64', 'string', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'];

describe('isTransferable', () => {
  it('holds for every dtype of cartons, and for bool and float16', () => {
    expect([...cartons, 'bool', 'float16'].filter((dtype) => !isTransferable(dtype))).toEqual([]);
  });

  it.each(['bfloat16', 'uint4', 'complex64', 'constructor', ''])('does not hold for %j', (type) => {
    expect(isTransferable(type)).toBe(false);
  });
});

describe('toEngineTensor', () => {
  it('hands over the bytes without a copy, where they begin at a fitting address', () => {
    const bytes = new Uint8Array(24);
    const { data } = toEngineTensor(engine, 'x', { kind: 'numeric', dtype: 'int64', shape: [2], bytes: bytes.subarray(8) });
    expect(data).toBeInstanceOf(BigInt64Array);
    expect((data as BigInt64Array).buffer).toBe(bytes.buffer);
  });

  it('keeps every bit of every dtype at any address, both ways', () => {
    const tensor = fc
      .record({ row: fc.constantFrom(...taken), shape: fc.array(fc.nat(3), { maxLength: 3 }), offset: fc.nat(9) })
      .chain(({ row, shape, offset }) => {
        const length = (shape.reduce((product, extent) => product * extent, 1) * row.bits) / 8;
        return fc
          .uint8Array({ minLength: offset + length, maxLength: offset + length })
          .map((bytes): NumericTensor => ({ kind: 'numeric', dtype: row.name as NumericTensor['dtype'], shape, bytes: bytes.subarray(offset) }));
      });
    fc.assert(
      fc.property(tensor, (given) => {
        const back = fromEngineTensor('x', toEngineTensor(engine, 'x', given)) as NumericTensor;
        expect({ ...back, bytes: [...back.bytes] }).toEqual({ ...given, bytes: [...given.bytes] });
      }),
    );
  });

  it('keeps texts', () => {
    const texts: Tensor = { kind: 'string', shape: [2, 1], values: ['', 'ä'] };
    expect(fromEngineTensor('x', toEngineTensor(engine, 'x', texts))).toEqual(texts);
  });

  it.each<{ what: string; tensor: Tensor; words: string }>([
    { what: 'nested tensors', tensor: { kind: 'nested', inner: [] }, words: '"x" is nested' },
    {
      what: 'too few bytes',
      tensor: { kind: 'numeric', dtype: 'int16', shape: [2], bytes: new Uint8Array(3) },
      words: 'has 1.5 elements, and the shape [2] is 2',
    },
    { what: 'too many texts', tensor: { kind: 'string', shape: [], values: ['a', 'b'] }, words: 'has 2 elements, and the shape [] is 1' },
    {
      what: 'bfloat16',
      tensor: { kind: 'numeric', dtype: 'bfloat16', shape: [0], bytes: new Uint8Array(0) },
      words: 'is bfloat16, which onnxruntime-node does not take',
    },
  ])('refuses $what', ({ tensor, words }) => {
    expect(() => toEngineTensor(engine, 'x', tensor)).toThrow(expect.objectContaining({ reason: 'input', message: expect.stringContaining(words) }));
  });
});

describe('fromEngineTensor', () => {
  it('refuses a type without a name here, and nothing', () => {
    expect(() => fromEngineTensor('y', { type: 'int4', dims: [2], data: new Uint8Array(1) })).toThrow('output "y" as "int4"');
    expect(() => fromEngineTensor('y', undefined)).toThrow('no output "y"');
  });
});
