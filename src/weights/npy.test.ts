import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError } from '../core/index.js';
import { forwardOnly, makeNpy } from '../../test/support/weight-files.js';
import { readNpy } from './npy.js';

const read = (header: string, dataBytes: number, version = 1) => readNpy('a.npy', forwardOnly(makeNpy(header, dataBytes, version)), defaultLimits);
const literal = (descr: string, shape: string) => `{'descr': ${descr}, 'fortran_order': False, 'shape': ${shape}, }`;

describe('readNpy', () => {
  it.each([1, 2, 3])('reads version %i', async (version) => {
    const header = `${literal("'<f4'", '(3, 4)')}   \n`;
    const file = await read(header, 48, version);
    const offset = 8 + (version === 1 ? 2 : 4) + header.length;
    expect(file.tensors).toEqual([{ name: '', dtype: 'float32', shape: [3, 4], bytes: 48, offset, file: 'a.npy' }]);
    expect(file.parameters).toBe(12);
    expect(file.metadata).toEqual({ descr: '<f4', fortranOrder: false });
  });

  it.each([
    ["'>i8'", '()', 8, 'int64'],
    ["'|b1'", '(2,)', 2, 'bool'],
    ["'<U3'", '(2,)', 24, '<U3'],
    ["'<M8[ns]'", '(1L,)', 8, '<M8[ns]'],
    ["[('a', '<f4'), ('b', '|u1', (2,))]", '(3,)', 18, 'structured'],
    ['"|S5"', '(0, 7)', 0, '|S5'],
  ])('reads the type %s', async (descr, shape, bytes, dtype) => {
    expect((await read(literal(descr, shape), bytes)).tensors[0]).toMatchObject({ dtype, bytes });
  });

  it('says that an object array is pickled', async () => {
    const file = await read(literal("'|O'", '(2,)'), 77);
    expect(file.findings).toEqual([expect.objectContaining({ code: 'weights/pickle', level: 'warning' })]);
  });

  it.each([
    ['too few bytes', literal("'<f4'", '(3,)'), 11, /needs 12 bytes and 11 follow/],
    ['too many bytes', literal("'<f4'", '(3,)'), 13, /needs 12 bytes and 13 follow/],
    ['a shape that wraps', literal("'<f4'", '(9007199254740991, 9007199254740991)'), 4, /too large/],
    ['a negative extent', literal("'<f4'", '(-1,)'), 4, /another kind/],
    ['a call', "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': ()}", 4, /no Python literal/],
    ['an expression', literal("'<f4'", '(1+1,)'), 8, /no Python literal/],
    ['a key twice', "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, /stands twice/],
    ['a key too many', "{'descr': '<f4', 'x': 1, 'fortran_order': False, 'shape': ()}", 4, /not a dictionary of/],
    ['a list', '[1]', 4, /not a dictionary/],
    ['something behind the dictionary', `${literal("'<f4'", '()')} 1`, 4, /goes on/],
    ['deep nesting', '('.repeat(10_000), 0, /nested deeper/],
    ['an open dictionary', "{'descr'", 0, /expected :/],
  ])('refuses %s', async (_, header, bytes, reason) => {
    const error: unknown = await read(header, bytes).catch((caught: unknown) => caught);
    expect(isToolkitError(error, 'weights/bad-header')).toBe(true);
    expect((error as Error).message).toMatch(reason);
  });

  it('refuses other versions and headers beyond the limit', async () => {
    await expect(read(literal("'<f4'", '()'), 4, 4)).rejects.toThrow(/version is 4/);
    const long = makeNpy(' '.repeat(1000), 0, 2);
    await expect(readNpy('a', forwardOnly(long), { ...defaultLimits, npyHeaderBytes: 999 })).rejects.toMatchObject({ code: 'bytes/limit' });
  });
});
