import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError } from '../core/index.js';
import { forwardOnly, type GgufRecipe, makeGguf } from '../../test/support/weight-files.js';
import { readGguf } from './gguf.js';

const read = (recipe: GgufRecipe) => readGguf('m.gguf', forwardOnly(makeGguf(recipe)), defaultLimits);

const small: GgufRecipe = {
  keys: [
    ['general.architecture', 8, 'llama'],
    ['general.file_type', 4, 15],
    ['llama.context_length', 4, 4096],
    ['llama.rope.freq_base', 6, 10000],
    ['general.languages', 9, [8, ['en', 'de']]],
    ['tokenizer.ggml.add_bos', 7, 1],
    ['tokenizer.ggml.tokens', 9, [8, Array.from({ length: 5000 }, (_, index) => `token${index}`)]],
    ['tokenizer.ggml.scores', 9, [6, Array.from({ length: 5000 }, () => 0.5)]],
    ['big', 10, 2n ** 63n],
  ],
  tensors: [
    { name: 'token_embd.weight', extents: [512, 3], type: 12, offset: 0 },
    { name: 'norm.weight', extents: [5], type: 0, offset: 864 },
  ],
  dataBytes: 864 + 20,
};

describe('readGguf', () => {
  it.each([
    ['v3 little endian', {}],
    ['v2', { version: 2 }],
    ['v3 big endian', { bigEndian: true }],
  ])('reads %s', async (_, change) => {
    const bytes = makeGguf({ ...small, ...change });
    const file = await readGguf('m.gguf', forwardOnly(bytes), defaultLimits);
    expect(file.parameters).toBe(512 * 3 + 5);
    expect(file.metadata).toEqual({
      'general.architecture': 'llama',
      'general.file_type': 15,
      'llama.context_length': 4096,
      'llama.rope.freq_base': 10000,
      'general.languages': ['en', 'de'],
      'tokenizer.ggml.add_bos': true,
      'tokenizer.ggml.tokens': { elements: 5000, of: 'string' },
      'tokenizer.ggml.scores': { elements: 5000, of: 'f32' },
      big: '9223372036854775808',
    });
    const start = bytes.length - 884;
    expect(file.tensors).toEqual([
      { name: 'token_embd.weight', dtype: 'Q4_K', shape: [3, 512], bytes: 864, offset: start, file: 'm.gguf' },
      { name: 'norm.weight', dtype: 'float32', shape: [5], bytes: 20, offset: start + 864, file: 'm.gguf' },
    ]);
  });

  it('follows general.alignment', async () => {
    const file = await read({
      keys: [['general.alignment', 4, 256]],
      tensors: [
        { name: 'a', extents: [3], type: 24, offset: 0 },
        { name: 'b', extents: [], type: 28, offset: 256 },
      ],
      alignment: 256,
      dataBytes: 264,
    });
    expect(file.tensors.map(({ offset = 0 }) => offset % 256)).toEqual([0, 0]);
  });

  it('reads the first part of a split file, which holds keys alone', async () => {
    const file = await read({
      keys: [
        ['split.no', 2, 0],
        ['split.count', 4, 3],
      ].map(([key, , value]) => [key as string, 4, value] as const),
    });
    expect(file).toMatchObject({ parameters: 0, tensors: [], metadata: { 'split.no': 0, 'split.count': 3 } });
  });

  const one = { name: 'w', extents: [32], type: 0, offset: 0 };
  it.each<[string, GgufRecipe, RegExp]>([
    ['version 1', { version: 1 }, /version is 1/],
    ['version 0', { version: 0 }, /version is 0/],
    ['version 3 << 16', { version: 3 << 16 }, /version is 0/],
    ['2^63 keys', { keyCount: 2n ** 63n }, /number of keys is 9223372036854775808/],
    ['more keys than fit', { keyCount: 1000n }, /do not fit/],
    ['more tensors than fit', { tensorCount: 2n ** 52n }, /do not fit/],
    [
      'a key twice',
      {
        keys: [
          ['a', 4, 1],
          ['a', 4, 1],
        ],
      },
      /"a" stands twice/,
    ],
    ['an empty key', { keys: [['', 4, 1]] }, /key is empty/],
    ['a value type that is none', { keys: [['a', 13, 1]], dataBytes: 32 }, /value type "13"/],
    ['a bool of 2', { keys: [['a', 7, 2]] }, /bool is 2/],
    ['arrays of arrays', { keys: [['a', 9, [9, [[4, [1]]]]]] }, /array of arrays/],
    ['alignment 0', { keys: [['general.alignment', 4, 0]] }, /alignment is 0 and/],
    ['alignment 3', { keys: [['general.alignment', 4, 3]] }, /alignment is 3 and/],
    ['alignment 2^30', { keys: [['general.alignment', 4, 2 ** 30]] }, /alignment is 1073741824 and/],
    ['an alignment that is text', { keys: [['general.alignment', 8, '32']] }, /alignment is string/],
    ['9 dimensions', { tensors: [{ ...one, extents: [1, 1, 1, 1, 1, 1, 1, 1, 1] }] }, /9 dimensions/],
    ['a removed type', { tensors: [{ ...one, type: 4 }], dataBytes: 128 }, /type 4/],
    ['an unknown type', { tensors: [{ ...one, type: 99 }], dataBytes: 128 }, /type 99/],
    ['a product that wraps', { tensors: [{ ...one, extents: [2 ** 32, 2 ** 32] }] }, /too large/],
    ['a size that wraps', { tensors: [{ ...one, extents: [2 ** 32, 2 ** 20], type: 28 }] }, /ends at byte/],
    ['half a block', { tensors: [{ ...one, extents: [31], type: 2 }] }, /blocks of 32/],
    ['a tensor twice', { tensors: [one, { ...one, offset: 128 }], dataBytes: 256 }, /"w" stands twice/],
    ['an offset past the end', { tensors: [{ ...one, offset: 2 ** 40 }], dataBytes: 128 }, /begins at 1099511627776/],
    ['an offset off the alignment', { tensors: [{ ...one, offset: 4 }], dataBytes: 256 }, /begins at 4/],
    ['data that is cut off', { tensors: [one], dataBytes: 127 }, /ends at byte/],
  ])('refuses %s', async (_, recipe, reason) => {
    const error: unknown = await read(recipe).catch((caught: unknown) => caught);
    expect(isToolkitError(error, 'weights/bad-header')).toBe(true);
    expect((error as Error).message).toMatch(reason);
  });

  it.each([
    ['a string', 8],
    ['an array', 9],
  ])('believes no length of %s beyond the file', async (_, type) => {
    const bytes = Buffer.concat([
      makeGguf({ keyCount: 1n, keys: [] }).subarray(0, 24),
      Buffer.from('010000000000000061', 'hex'),
      Buffer.from([type, 0, 0, 0]),
      type === 9 ? Buffer.from('04000000', 'hex') : Buffer.alloc(0),
      Buffer.from('ffffffffffff0f00', 'hex'),
    ]);
    const access = forwardOnly(bytes);
    await expect(readGguf('m', access, defaultLimits)).rejects.toMatchObject({ code: 'weights/bad-header' });
    expect(access.reads).toEqual([{ offset: 0, length: bytes.length }]);
  });

  it('stops at the limits', async () => {
    const bytes = makeGguf(small);
    for (const change of [{ tensors: 1 }, { ggufKeys: 2 }, { ggufHeaderBytes: 1000 }]) {
      await expect(readGguf('m', forwardOnly(bytes), { ...defaultLimits, ...change })).rejects.toMatchObject({ code: 'bytes/limit' });
    }
  });
});
