import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError, type NumericTensor, type PlainTensor } from '../core/index.js';
import { npyDtypes, numericOf } from '../../test/support/tensors.js';
import { parseNpy } from './parse-npy.js';

import { isNpyWritable, writeNpy } from './write-npy.js';

/** A version 1.0 file as NumPy 2.4 lays it out: 118 bytes of header, filled up with blanks. */
function numpyFile(descr: string, shape: string, hex: string, fortran = 'False'): Uint8Array {
  const literal = `{'descr': ${descr}, 'fortran_order': ${fortran}, 'shape': ${shape}, }`;
  const header = `${literal.padEnd(117)}\n`;
  const preamble = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length & 0xff, header.length >> 8]);
  return Buffer.concat([preamble, Buffer.from(header), Buffer.from(hex, 'hex')]);
}

const read = (bytes: Uint8Array): PlainTensor => parseNpy(bytes, 'x.npy', defaultLimits);
const hexOf = (tensor: PlainTensor): string => (tensor.kind === 'numeric' ? Buffer.from(tensor.bytes).toString('hex') : tensor.values.join());

// The data bytes are what numpy.save of NumPy 2.4.6 wrote for the array in the first column.
const saved = [
  ['[[1.5, -2], [0.1, inf]] float32', numpyFile("'<f4'", '(2, 2)', '0000c03f000000c0cdcccc3d0000807f'), 'float32', [2, 2], undefined],
  [
    'arange(6) int16, column by column',
    numpyFile("'<i2'", '(2, 3)', '000003000100040002000500', 'True'),
    'int16',
    [2, 3],
    '000001000200030004000500',
  ],
  [
    'arange(24) uint8 in three axes, column by column',
    numpyFile("'|u1'", '(2, 3, 4)', '000c04100814010d05110915020e06120a16030f07130b17', 'True'),
    'uint8',
    [2, 3, 4],
    Buffer.from(Array.from({ length: 24 }, (_, at) => at)).toString('hex'),
  ],
  [
    '[2**53 + 1, -1] int64, big-endian',
    numpyFile("'>i8'", '(2,)', '0020000000000001ffffffffffffffff'),
    'int64',
    [2],
    '0100000000002000ffffffffffffffff',
  ],
  ['[1+2j] complex64, big-endian', numpyFile("'>c8'", '(1,)', '3f80000040000000'), 'complex64', [1], '0000803f00000040'],
  ['7 uint64, a scalar', numpyFile("'<u8'", '()', '0700000000000000'), 'uint64', [], undefined],
  ['[True, False]', numpyFile("'|b1'", '(2,)', '0100'), 'bool', [2], undefined],
  ['no rows of float64', numpyFile("'<f8'", '(0, 3)', ''), 'float64', [0, 3], undefined],
  ['[1/3, 65504, 6e-8, -0.0, nan] float16', numpyFile("'<f2'", '(5,)', '5535ff7b01000080007e'), 'float16', [5], undefined],
] as const;

const savedTexts = [
  ['U2', numpyFile("'<U2'", '(2, 2)', '6100000000000000f60000000000000000f60100000000000000000000000000'), [2, 2], ['a', 'ö', '😀', '']],
  ['U2, big-endian', numpyFile("'>U2'", '(2,)', '00000061000000620000000000000000'), [2], ['ab', '']],
  ['S3', numpyFile("'|S3'", '(2,)', '616263c3a900'), [2], ['abc', 'é']],
] as const;

describe('parseNpy', () => {
  it.each(saved)('reads %s', (_, file, dtype, shape, hex) => {
    const tensor = read(file);
    expect(tensor).toMatchObject({ kind: 'numeric', dtype, shape });
    expect(hexOf(tensor)).toBe(hex ?? Buffer.from(file.subarray(128)).toString('hex'));
  });

  it.each(savedTexts)('reads text of type %s', (_, file, shape, values) => {
    expect(read(file)).toEqual({ kind: 'string', shape, values });
  });

  it.each([
    ['pickled objects', numpyFile("'|O'", '(1,)', '8003'), /pickled Python objects.*never loaded/],
    ['records', numpyFile("[('a', '<i4')]", '(1,)', '00000000'), /records/],
    ['dates', numpyFile("'<M8[D]'", '(1,)', '5647000000000000'), /"<M8\[D\]"/],
    ['long doubles', numpyFile("'<f16'", '(1,)', '00'.repeat(16)), /"<f16"/],
    ['too few bytes', numpyFile("'<f4'", '(2,)', '00000000'), /needs 8 bytes of data and 4 follow/],
    ['too many bytes', numpyFile("'<f4'", '()', '0000000000'), /needs 4 bytes of data and 5 follow/],
    ['a shape that wraps', numpyFile("'<f4'", '(9007199254740991, 9007199254740991)', '00'), /too many elements/],
    ['65 axes', numpyFile("'|u1'", `(${'1,'.repeat(65)})`, '00'), /too many elements or axes/],
    ['text of no length', numpyFile("'<U0'", '(1000000000000,)', ''), /no length/],
    ['half a character', numpyFile("'<U1'", '(1,)', '00d80000'), /element 0 is not valid Unicode/],
    ['text that is not UTF-8', numpyFile("'|S1'", '(2,)', '61ff'), /element 1 is not valid UTF-8/],
    ['another file', Buffer.from('PK\x03\x04 nothing of NumPy'), /does not begin/],
    ['version 9', Buffer.from('\x93NUMPY\x09\x00\x00\x00', 'latin1'), /version is 9/],
    ['an empty file', new Uint8Array(), /does not begin/],
    ['half a preamble', Buffer.from('\x93NUMPY\x01\x00v', 'latin1'), /ends in the header length/],
    ['half a header', numpyFile("'<f4'", '()', '').subarray(0, 60), /header is 118 bytes long and 50 follow/],
  ])('refuses %s', (_, file, reason) => {
    expect(() => read(file)).toThrow(reason);
    expect(() => read(file)).toThrow(expect.objectContaining({ code: 'tensors/bad-array' }));
  });

  it('holds no more in memory than is allowed', () => {
    const file = numpyFile("'|u1'", '(9,)', '00'.repeat(9));
    const few = { ...defaultLimits, tensorBytes: 8, npyHeaderBytes: 118 };
    expect(() => parseNpy(file, 'x', few)).toThrow(expect.objectContaining({ code: 'bytes/limit' }));
    expect(() => parseNpy(file, 'x', { ...defaultLimits, npyHeaderBytes: 117 })).toThrow(expect.objectContaining({ code: 'bytes/limit' }));
  });

  it('throws nothing but its own errors, whatever the bytes', () => {
    const [, file] = saved[1];
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { maxLength: 6 }), fc.nat(file.length), (changes, length) => {
        const broken = Uint8Array.from(file);
        for (const [at, byte] of changes) broken[at] = byte;
        try {
          read(broken.subarray(0, length));
        } catch (error) {
          expect(isToolkitError(error)).toBe(true);
        }
      }),
    );
  });
});

describe('writeNpy', () => {
  it.each(saved.filter(([, , , , changed]) => changed === undefined))('writes the bytes that NumPy writes for %s', (_, file) => {
    expect(Buffer.from(writeNpy(read(file))).equals(file)).toBe(true);
  });

  it('gives every tensor back', () => {
    fc.assert(
      fc.property(numericOf(npyDtypes), (tensor) => {
        const file = writeNpy(tensor);
        expect((file.length - tensor.bytes.length) % 64).toBe(0);
        expect(read(file)).toEqual({ ...tensor, bytes: Uint8Array.from(tensor.bytes) });
      }),
    );
  });

  it('writes neither text nor what NumPy lacks', () => {
    const text: PlainTensor = { kind: 'string', shape: [], values: ['a'] };
    const brain: NumericTensor = { kind: 'numeric', dtype: 'bfloat16', shape: [], bytes: new Uint8Array(2) };
    expect([text, brain].map(isNpyWritable)).toEqual([false, false]);
    expect(() => writeNpy(text)).toThrow(/no string/);
    expect(() => writeNpy(brain)).toThrow(/no bfloat16/);
  });
});
