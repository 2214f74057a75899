import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError } from '../core/index.js';
import { digitsFile, forwardOnly, makeSafetensors, makeTensors } from '../../test/support/weight-files.js';
import { readSafetensors } from './safetensors.js';

const read = (bytes: Uint8Array) => readSafetensors('m.safetensors', forwardOnly(bytes), defaultLimits);

describe('readSafetensors', () => {
  it('reads the digits model', async () => {
    const access = forwardOnly(digitsFile('digits.safetensors'));
    const file = await readSafetensors('digits.safetensors', access, defaultLimits);
    expect(file.parameters).toBe(2410);
    expect(file.metadata).toEqual({ model: 'digits-mlp' });
    expect(file.tensors).toEqual([
      { name: 'fc1.bias', dtype: 'float32', shape: [32], bytes: 128, offset: 320, file: 'digits.safetensors' },
      { name: 'fc1.weight', dtype: 'float32', shape: [32, 64], bytes: 8192, offset: 448, file: 'digits.safetensors' },
      { name: 'fc2.bias', dtype: 'float32', shape: [10], bytes: 40, offset: 8640, file: 'digits.safetensors' },
      { name: 'fc2.weight', dtype: 'float32', shape: [10, 32], bytes: 1280, offset: 8680, file: 'digits.safetensors' },
    ]);
    expect(access.reads).toEqual([{ offset: 0, length: 9960 }]);
  });

  it('takes a second read only for a header larger than the first', async () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`layer.${index}.weight`, ['F32', [1], 4] as const]));
    const bytes = makeTensors(many);
    const access = forwardOnly(bytes, bytes.length);
    const file = await readSafetensors('m', access, defaultLimits);
    expect(file.tensors).toHaveLength(3000);
    const end = 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    expect(access.reads).toEqual([
      { offset: 0, length: 81920 },
      { offset: 81920, length: end - 81920 },
    ]);
  });

  it('does not read the data of a large file', async () => {
    const header = makeSafetensors({ w: { dtype: 'BF16', shape: [2 ** 20, 2 ** 16], data_offsets: [0, 2 ** 37] } }, 0);
    const access = forwardOnly(header, header.length + 2 ** 37);
    expect((await readSafetensors('m', access, defaultLimits)).parameters).toBe(2 ** 36);
    expect(access.reads).toEqual([{ offset: 0, length: 81920 }]);
  });

  it('reads scalars, empty tensors, padding and types of fewer bits than a byte', async () => {
    const file = await read(
      makeTensors({ s: ['I64', [], 8], e: ['F32', [0, 5], 0], f4: ['F4', [3, 2], 3], f6: ['F6_E2M3', [4], 3], e8: ['F8_E8M0', [2], 2] }),
    );
    expect(file.tensors.map(({ dtype, bytes }) => [dtype, bytes])).toEqual([
      ['int64', 8],
      ['float32', 0],
      ['float4_e2m1', 3],
      ['float6_e2m3', 3],
      ['float8_e8m0', 2],
    ]);
    expect((await read(makeSafetensors('{}     ', 0))).tensors).toEqual([]);
  });

  const tensor = (change: object) => ({ w: { dtype: 'F32', shape: [2], data_offsets: [0, 8], ...change } });
  it.each([
    ['no room for the length', Buffer.from('1234567'), /7 bytes/],
    ['a length of 2^63', Buffer.from('0000000000000080', 'hex'), /9223372036854775808/],
    ['a length beyond the file', Buffer.from('ff000000000000007b7d', 'hex'), /255 and only 2/],
    ['no brace', makeSafetensors(' {}', 0), /does not begin with \{/],
    ['an empty header', makeSafetensors('', 4), /does not begin with \{/],
    ['no JSON', makeSafetensors('{"a":', 0), /Unexpected end/],
    [
      'a repeated name',
      makeSafetensors('{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4),
      /stands twice/,
    ],
    ['an unknown dtype', makeSafetensors(tensor({ dtype: 'F7' }), 8), /dtype "F7" is unknown/],
    ['a hole', makeSafetensors(tensor({ data_offsets: [4, 12] }), 12), /4 bytes after/],
    ['an overlap', makeSafetensors({ ...tensor({}), v: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } }, 8), /4 bytes before/],
    ['bytes left over', makeSafetensors(tensor({}), 9), /the file has/],
    ['a truncated file', makeSafetensors(tensor({}), 7), /the file has/],
    ['a wrong size', makeSafetensors(tensor({ shape: [3] }), 8), /needs 12 bytes and its data_offsets give 8/],
    ['a product that wraps', makeSafetensors(tensor({ shape: [2 ** 40, 2 ** 40] }), 8), /too large/],
    ['offsets backwards', makeSafetensors(tensor({ data_offsets: [8, 0] }), 8), /backwards/],
    ['a negative extent', makeSafetensors(tensor({ shape: [-2] }), 8), /shape is not/],
    ['half a byte', makeSafetensors(tensor({ dtype: 'F4', shape: [3], data_offsets: [0, 1] }), 1), /whole bytes/],
    ['an unknown key', makeSafetensors(tensor({ extra: 1 }), 8), /unknown key "extra"/],
    ['metadata that is no text', makeSafetensors({ __metadata__: { a: 1 } }, 0), /"a" is number/],
    ['metadata that is no object', makeSafetensors({ __metadata__: [] }, 0), /not an object/],
  ])('refuses %s', async (_, bytes, reason) => {
    const error: unknown = await read(bytes).catch((caught: unknown) => caught);
    expect(isToolkitError(error, 'weights/bad-header')).toBe(true);
    expect((error as Error).message).toMatch(reason);
    expect((error as { where: string }).where).toMatch(/^m\.safetensors: byte \d+$/);
  });

  it('refuses a header beyond the limit without reading it', async () => {
    const access = forwardOnly(makeTensors({ w: ['F32', [100], 400] }));
    await expect(readSafetensors('m', access, { ...defaultLimits, safetensorsHeaderBytes: 16 })).rejects.toMatchObject({ code: 'bytes/limit' });
    await expect(
      readSafetensors('m', forwardOnly(makeTensors({ v: ['F32', [], 4], w: ['F32', [], 4] })), { ...defaultLimits, tensors: 1 }),
    ).rejects.toMatchObject({ code: 'bytes/limit' });
  });
});
