import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, findDtype, type PlainTensor } from '../../core/index.js';
import type { IndexEntry } from './carton.js';
import { cartonDtypes, type CartonDtype } from './spec.js';
import { encodeTensor, loadTensor, type TensorFiles } from './tensor-data.js';

function filesOf(files: Readonly<Record<string, string | Uint8Array>>, entries: readonly IndexEntry[] = [], limits = defaultLimits): TensorFiles {
  return {
    entries: new Map(entries.map((entry) => [entry.name, entry])),
    limits,
    find: (path) => {
      const file = files[path];
      if (file === undefined) return `its file "${path}" is not in the carton`;
      return { size: Buffer.from(file).byteLength, read: async () => Buffer.from(file) };
    },
  };
}

function plain(dtype: CartonDtype, shape: readonly number[], file: string, name = 't'): IndexEntry & { kind: 'plain' } {
  return { kind: 'plain', name, dtype, shape, file };
}

/** Of one entry that is alone in its carton. */
async function roundTrip(tensor: PlainTensor): Promise<unknown> {
  const { bytes, extension } = encodeTensor(tensor);
  const dtype = tensor.kind === 'string' ? 'string' : (tensor.dtype as CartonDtype);
  return loadTensor(plain(dtype, tensor.shape, `t.${extension}`), filesOf({ [`tensor_data/t.${extension}`]: bytes }));
}

const shapes = fc.array(fc.nat(3), { maxLength: 3 });

function count(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

describe('loadTensor', () => {
  it.each(cartonDtypes.filter((dtype) => dtype !== 'string'))('gives back what encodeTensor made of %s', async (dtype) => {
    const width = (findDtype('name', dtype)?.bits ?? 0) / 8;
    await fc.assert(
      fc.asyncProperty(
        shapes.chain((shape) => fc.tuple(fc.constant(shape), fc.uint8Array({ minLength: count(shape) * width, maxLength: count(shape) * width }))),
        async ([shape, raw]) => {
          const tensor: PlainTensor = { kind: 'numeric', dtype, shape, bytes: Buffer.from(raw) };
          expect(await roundTrip(tensor)).toEqual(tensor);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('gives back texts, whatever is in them', async () => {
    const text = fc.string({ unit: 'binary' }).filter((each) => !/\p{Surrogate}/u.test(each));
    await fc.assert(
      fc.asyncProperty(fc.array(text), async (values) => {
        const tensor: PlainTensor = { kind: 'string', shape: [values.length], values };
        expect(await roundTrip(tensor)).toEqual(tensor);
      }),
      { numRuns: 30 },
    );
    expect(await roundTrip({ kind: 'string', shape: [], values: ['\u0c24 \u{1f600} "\'\n\t\u007f'] })).toMatchObject({ shape: [] });
  });

  it('takes scalars and tensors without elements', async () => {
    const files = filesOf({ 'tensor_data/a.bin': Buffer.alloc(8), 'tensor_data/b.bin': '' });
    expect(await loadTensor(plain('int64', [], 'a.bin'), files)).toMatchObject({ shape: [], bytes: Buffer.alloc(8) });
    expect(await loadTensor(plain('int64', [3, 0, Number.MAX_SAFE_INTEGER], 'b.bin'), files)).toMatchObject({ bytes: Buffer.alloc(0) });
  });

  it.each([
    [plain('float32', [2], 'a.bin'), 'float32 [2] takes 8 bytes, "tensor_data/a.bin" has 9'],
    [plain('float32', [3], 'a.bin'), 'float32 [3] takes 12 bytes, "tensor_data/a.bin" has 9'],
    [plain('float32', [Number.MAX_SAFE_INTEGER, 9], 'a.bin'), '"tensor_data/a.bin" has 9'],
    [plain('int8', [], 'missing.bin'), 'its file "tensor_data/missing.bin" is not in the carton'],
    [plain('string', [2], 'one.toml'), 'its shape takes 2 texts, "tensor_data/one.toml" has 1'],
    [plain('string', [1], 'number.toml'), 'expected "data" in "tensor_data/number.toml" to be a flat list of texts'],
    [plain('string', [1], 'nothing.toml'), 'expected "data" in "tensor_data/nothing.toml" to be a flat list of texts'],
    [plain('string', [1], 'syntax.toml'), 'Cannot read "tensor_data/syntax.toml" as TOML'],
    [plain('string', [1], 'bytes.toml'), '"tensor_data/bytes.toml" is not UTF-8'],
  ])('refuses a file that the index does not describe: %j', async (entry, reason) => {
    const files = filesOf({
      'tensor_data/a.bin': Buffer.alloc(9),
      'tensor_data/one.toml': 'data = ["a"]',
      'tensor_data/number.toml': 'data = ["a", 1]',
      'tensor_data/nothing.toml': '',
      'tensor_data/syntax.toml': 'data = ["a"',
      'tensor_data/bytes.toml': Buffer.from([0xff]),
    });
    await expect(loadTensor(entry, files)).rejects.toMatchObject({ code: 'carton/bad-tensor', message: expect.stringContaining(reason) });
  });

  it('shares tensors inside nested ones, and refuses nesting in nesting', async () => {
    const a = plain('int8', [2], 'a.bin', 'a');
    const inner: IndexEntry = { kind: 'nested', name: 'n', inner: ['a', 'a'] };
    const files = filesOf({ 'tensor_data/a.bin': Buffer.from([1, 2]) }, [a, inner]);
    const tensor = { kind: 'numeric', dtype: 'int8', shape: [2], bytes: Buffer.from([1, 2]) };
    expect(await loadTensor(inner, files)).toEqual({ kind: 'nested', inner: [tensor, tensor] });
    expect(await loadTensor({ kind: 'nested', name: 'e', inner: [] }, files)).toEqual({ kind: 'nested', inner: [] });
    await expect(loadTensor({ kind: 'nested', name: 'm', inner: ['n'] }, files)).rejects.toThrow(
      'Cannot use the tensor "m": its inner tensor "n" is nested itself',
    );
    await expect(loadTensor({ kind: 'nested', name: 'm', inner: ['x'] }, files)).rejects.toThrow('its inner tensor "x" is not in the index');
  });

  it('holds no more in memory than the limits allow', async () => {
    const limits = { ...defaultLimits, tensorBytes: 5, tensorTextBytes: 5 };
    const entries = [plain('int8', [3], 'a.bin', 'a'), plain('int8', [3], 'a.bin', 'b'), plain('int8', [6], 'c.bin', 'c')];
    const files = filesOf({ 'tensor_data/a.bin': 'abc', 'tensor_data/c.bin': 'abcdef', 'tensor_data/t.toml': 'data = ["a"]' }, entries, limits);
    await expect(loadTensor(entries[2] as IndexEntry, files)).rejects.toMatchObject({ code: 'bytes/limit' });
    await expect(loadTensor({ kind: 'nested', name: 'n', inner: ['a', 'b'] }, files)).rejects.toMatchObject({ code: 'bytes/limit' });
    await expect(loadTensor(plain('string', [1], 't.toml'), files)).rejects.toMatchObject({ code: 'bytes/limit' });
    expect(await loadTensor({ kind: 'nested', name: 'n', inner: ['a', 'a'] }, files)).toMatchObject({ inner: [{ shape: [3] }, { shape: [3] }] });
  });
});

describe('encodeTensor', () => {
  it.each([
    [{ kind: 'numeric', dtype: 'bool', shape: [1], bytes: Buffer.alloc(1) }, 'a carton has no bool'],
    [{ kind: 'numeric', dtype: 'float16', shape: [], bytes: Buffer.alloc(2) }, 'a carton has no float16'],
    [{ kind: 'numeric', dtype: 'int16', shape: [2], bytes: Buffer.alloc(3) }, 'int16 [2] takes 4 bytes, it has 3'],
    [{ kind: 'string', shape: [2], values: ['a'] }, 'its shape [2] takes 2 texts, it has 1'],
    [{ kind: 'string', shape: [1], values: ['\ud800'] }, 'is not valid Unicode'],
  ] as readonly (readonly [PlainTensor, string])[])('refuses %j', (tensor, reason) => {
    expect(() => encodeTensor(tensor)).toThrow(reason);
  });
});
