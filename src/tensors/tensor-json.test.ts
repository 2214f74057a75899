import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyString, elements, numeric, numericOf } from '../../test/support/tensors.js';
import { defaultLimits, type Tensor } from '../core/index.js';
import { toInferenceOutput } from './inference-output.js';
import { parseTensorJson, parseTensorText, type ValueSpec } from './parse-tensor-json.js';
import { toTensorJson, writeTensorText } from './tensor-json.js';

const parse = (text: string, spec: ValueSpec = {}): Tensor => parseTensorText(text, spec, 'x', defaultLimits);
const list = (tensor: Tensor): unknown[] => {
  if (tensor.kind === 'nested') return tensor.inner.map(list);
  if (tensor.kind === 'string') return [...tensor.values];
  const found = elements(tensor);
  return Array.from({ length: found.length }, (_, at) => found.at(at));
};
const typeOf = (tensor: Tensor): unknown => (tensor.kind === 'numeric' ? tensor.dtype : tensor.kind);
const integers = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'] as const;
const floats = ['float64', 'float32', 'float16', 'bfloat16'] as const;

describe('parseTensorText', () => {
  it.each([
    ['5', 'int64', [], [5n]],
    ['[[1, 2], [3, 4]]', 'int64', [2, 2], [1n, 2n, 3n, 4n]],
    ['[9007199254740993, -9223372036854775808]', 'int64', [2], [9007199254740993n, -9223372036854775808n]],
    ['[18446744073709551615]', 'uint64', [1], [18446744073709551615n]],
    ['[1, 2.5]', 'float64', [2], [1, 2.5]],
    ['[1.0, 2]', 'float64', [2], [1, 2]],
    ['[1, NaN, -Infinity, "Infinity"]', 'float64', [4], [1, Number.NaN, -Infinity, Infinity]],
    ['[true, false]', 'bool', [2], [1, 0]],
    ['"a"', 'string', [], ['a']],
    ['["NaN", "b\\u00e9"]', 'string', [2], ['NaN', 'bé']],
    ['[]', 'float64', [0], []],
    ['[[], []]', 'float64', [2, 0], []],
  ])('reads %s without a declaration', (text, type, shape, values) => {
    const tensor = parse(text);
    expect(tensor).toMatchObject({ shape });
    expect(tensor.kind === 'string' ? 'string' : typeOf(tensor)).toBe(type);
    expect(list(tensor)).toEqual(values);
  });

  it('applies the declared dtype', () => {
    expect(parse('[1, 0.1]', { dtype: 'float32' })).toEqual(numeric('float32', [2], [1, 0.1]));
    expect(parse('[1, 2e1]', { dtype: 'uint8' })).toEqual(numeric('uint8', [2], [1, 20]));
    expect(list(parse('[9007199254740993]', { dtype: 'float64' }))).toEqual([9007199254740992]);
  });

  it('reads objects, flat or nested, and outputs of the Open Inference Protocol', () => {
    const expected = numeric('float32', [2, 2], [1, 2, 3, 4]);
    expect(parse('{"dtype": "float32", "shape": [2, 2], "data": [1, 2, 3, 4]}')).toEqual(expected);
    expect(parse('{"dtype": "float32", "shape": [2, 2], "data": [[1, 2], [3, 4]]}')).toEqual(expected);
    expect(parse('{"dtype": "float32", "data": [[1, 2], [3, 4]]}', { dtype: 'int8' })).toEqual(expected);
    expect(parse('{"name": "y", "datatype": "FP32", "shape": [2, 2], "data": [1, 2, 3, 4]}')).toEqual(expected);
    expect(parse('{"dtype": "int64", "shape": [], "data": [9007199254740993]}')).toEqual(numeric('int64', [], [9007199254740993n]));
    expect(parse('{"shape": [0, 3], "data": []}', { dtype: 'int8' })).toEqual(numeric('int8', [0, 3], []));
  });

  it('reads ragged lists where every extent is free', () => {
    const inner = [numeric('int32', [2], [1, 2]), numeric('int32', [1], [3])];
    for (const shape of ['*', ['*', null], ['batch', '*']] as const)
      expect(parse('[[1, 2], [3]]', { dtype: 'int32', shape })).toEqual({ kind: 'nested', inner });
    expect(parse('[[1, 2], [3.5]]', { shape: '*' })).toMatchObject({ inner: [{ dtype: 'float64' }, { dtype: 'float64' }] });
    for (const shape of [undefined, 'whole', [2, '*'], []] as const)
      expect(() => parse('[[1, 2], [3]]', { shape })).toThrow(/ragged at \[1\]: expected a list of 2 as before, found a list of 1/);
    expect(() => parse('[[1, 2], [[3], 4]]', { shape: '*' })).toThrow(/ragged at \[1, 1\]: expected a list of 1 as before, found a single value/);
    expect(() => parse('[[[1, 2]], [[3, 4], 5]]')).toThrow(/ragged at \[1\]/);
  });

  it.each([
    ['[1, 300]', { dtype: 'uint8' }, /300 does not fit uint8 \(0 to 255\), at \[1\]/],
    ['[[0], [-129]]', { dtype: 'int8' }, /-129 does not fit int8 \(-128 to 127\), at \[1, 0\]/],
    ['[9223372036854775808]', { dtype: 'int64' }, /9223372036854775808 does not fit int64/],
    ['[-1, 9223372036854775808]', {}, /-1 does not fit uint64/],
    ['[9007199254740993.0]', { dtype: 'int64' }, /digit by digit/],
    ['[1.5]', { dtype: 'int32' }, /1\.5 is no int32, at \[0\]/],
    ['["1"]', { dtype: 'int32' }, /"1" is no int32/],
    ['[1e39]', { dtype: 'float32' }, /1e\+39 does not fit float32/],
    ['[65520]', { dtype: 'float16' }, /65520 does not fit float16/],
    ['["nan"]', { dtype: 'float32' }, /"nan" is no float32/],
    ['[true]', { dtype: 'float32' }, /true is no float32/],
    ['[1, true]', {}, /true is no int64, at \[1\]/],
    ['[2]', { dtype: 'bool' }, /2 is no bool/],
    ['[1]', { dtype: 'string' }, /expected text, found number, at \[0\]/],
    ['["\\ud800"]', {}, /half a character, at \[0\]/],
    ['[{}]', { dtype: 'int8' }, /what is no plain value is no int8/],
    ['[1]', { dtype: 'complex64' }, /complex64 has no form in JSON/],
    ['{"dtype": "int8", "shape": [3], "data": [1, 2]}', {}, /its shape is \[3\] and its data has the shape \[2\]/],
    ['{"dtype": "int8", "shape": [2, 2], "data": [[1, 2]]}', {}, /its shape is \[2, 2\]/],
    ['{"dtype": "int8", "shape": [-1], "data": []}', {}, /no list of whole numbers/],
    ['{"dtype": "int8", "shape": [9007199254740993], "data": []}', {}, /no list of whole numbers/],
    ['{"dtype": "int8", "shape": [4294967296, 4294967296, 0], "data": []}', {}, /too large/],
    ['{"dtype": "float", "data": []}', {}, /dtype is "float", which is none/],
    ['{"dtype": "int8", "datas": []}', {}, /the key "datas"/],
    ['{"dtype": "int8"}', {}, /no data/],
    ['{"dtype": "nested", "shape": [2], "data": [[1]]}', {}, /holds 1 tensors/],
    ['{"dtype": "nested", "data": [{"dtype": "nested", "data": []}]}', {}, /nested too/],
  ] satisfies [string, ValueSpec, RegExp][])('refuses %s as %o', (text, spec, reason) => {
    expect(() => parse(text, spec)).toThrow(reason);
    expect(() => parse(text, spec)).toThrow(expect.objectContaining({ code: 'tensors/bad-array' }));
  });

  it.each([
    ['', '1:1'],
    ['[1,\n 2,]', '2:4'],
    ['[01]', '1:2'],
    ['[1.]', '1:2'],
    ['[+1]', '1:2'],
    ['[1 2]', '1:4'],
    ['[null]', '1:2'],
    ['[nan]', '1:2'],
    ['[Infinity1]', '1:2'],
    ['["a]', '1:2'],
    ['["\u0001"]', '1:2'],
    ['{"data": 1, "data": 2}', '1:19'],
    ['{1: 2}', '1:2'],
    ['[1] 2', '1:5'],
    ['[1e999]', '1:2'],
    [`[1${'0'.repeat(400)}]`, '1:2'],
    ['['.repeat(65), '1:65'],
    ['\ufeff[1]', '1:1'],
  ])('refuses the malformed text %j at %s', (text, place) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'tensors/bad-array', where: `x:${place}` }));
  });

  it('bounds what it reads', () => {
    expect(() => parseTensorText('[1, 2, 3]', {}, 'x', { ...defaultLimits, tensorTextBytes: 8 })).toThrow(
      expect.objectContaining({ code: 'bytes/limit' }),
    );
  });

  it('reads what JSON.stringify writes', () => {
    const plain = fc.array(fc.array(fc.double(), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(plain, fc.constantFrom(undefined, 1, '\t'), (rows, indent) => {
        const words = rows.map((row) => row.map((value) => (Number.isFinite(value) ? value : String(value))));
        expect(list(parse(JSON.stringify(words, null, indent), { dtype: 'float64' }))).toEqual(rows.flat().map((value) => value + 0));
      }),
    );
  });
});

describe('parseTensorJson', () => {
  it('takes values of a program', () => {
    expect(parseTensorJson([[1, 2n]], { dtype: 'int64' }, 'x')).toEqual(numeric('int64', [1, 2], [1, 2]));
    expect(parseTensorJson(2 ** 60, {}, 'x')).toEqual(numeric('float64', [], [2 ** 60]));
    expect(() => parseTensorJson([2 ** 60], { dtype: 'int64' }, 'x')).toThrow(/may have been rounded/);
    expect(() => parseTensorJson(undefined, { dtype: 'int64' }, 'x')).toThrow(/no plain value is no int64/);
    expect(() => parseTensorJson(null, {}, 'x')).toThrow(/is no float64/);
  });

  it('ends at 64 axes', () => {
    const deep = Array.from({ length: 80 }).reduce<unknown>((inner) => [inner], 1);
    expect(() => parseTensorJson(deep, {}, 'x')).toThrow(/ragged/);
  });
});

describe('writeTensorText', () => {
  it('gives every tensor back, its bits too', () => {
    fc.assert(
      fc.property(numericOf([...integers, 'bool']), (tensor) => {
        expect(parse(writeTensorText(tensor))).toEqual({ ...tensor, bytes: Uint8Array.from(tensor.bytes) });
      }),
    );
    fc.assert(
      fc.property(numericOf(floats), (tensor) => {
        const back = parse(writeTensorText(tensor));
        expect(list(back)).toEqual(list(tensor));
        expect(back).toMatchObject({ dtype: tensor.dtype, shape: tensor.shape });
      }),
    );
    fc.assert(
      fc.property(anyString, (tensor) => {
        expect(parse(writeTensorText(tensor))).toEqual(tensor);
      }),
    );
  });

  it('gives nested tensors back', () => {
    const tensor: Tensor = { kind: 'nested', inner: [numeric('int64', [2], [1, 2 ** 53]), { kind: 'string', shape: [0], values: [] }] };
    expect(parse(writeTensorText(tensor))).toEqual(tensor);
    expect(parse('{"dtype": "nested", "data": [[1, 2], [3]]}', { dtype: 'int8' })).toEqual({
      kind: 'nested',
      inner: [numeric('int8', [2], [1, 2]), numeric('int8', [1], [3])],
    });
  });

  it('writes one line', () => {
    expect(writeTensorText(numeric('int64', [2], [1, 9007199254740993n]))).toBe('{"dtype": "int64", "shape": [2], "data": [1, 9007199254740993]}\n');
    expect(writeTensorText(numeric('float64', [3], [-0, Number.NaN, -Infinity]))).toContain('[-0.0, "NaN", "-Infinity"]');
  });

  it('has no words for complex numbers and packed types', () => {
    expect(() => toTensorJson({ kind: 'numeric', dtype: 'complex64', shape: [], bytes: new Uint8Array(8) })).toThrow(/complex64/);
    expect(() => toTensorJson({ kind: 'numeric', dtype: 'int4', shape: [2], bytes: new Uint8Array(1) })).toThrow(/int4/);
  });
});

describe('toInferenceOutput', () => {
  it('speaks the Open Inference Protocol', () => {
    expect(toInferenceOutput('y', numeric('float32', [1, 2], [1, 0.5]))).toEqual({ name: 'y', datatype: 'FP32', shape: [1, 2], data: [1, 0.5] });
    expect(toInferenceOutput('y', numeric('bool', [2], [1, 0]))).toMatchObject({ datatype: 'BOOL', data: [true, false] });
    expect(toInferenceOutput('y', { kind: 'string', shape: [1], values: ['a'] })).toMatchObject({ datatype: 'BYTES', data: ['a'] });
    expect(toInferenceOutput('y', numeric('int64', [2], [2 ** 53 - 1, 2n ** 53n]))).toMatchObject({ data: [2 ** 53 - 1, 2n ** 53n] });
  });

  it('lists the tensors of a nested one', () => {
    expect(toInferenceOutput('y', { kind: 'nested', inner: [numeric('int8', [1], [1])] })).toEqual({
      name: 'y',
      datatype: 'NESTED',
      shape: [1],
      data: [{ datatype: 'INT8', shape: [1], data: [1] }],
    });
  });
});
