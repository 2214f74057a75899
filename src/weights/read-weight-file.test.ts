import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError } from '../core/index.js';
import { digitsFile, forwardOnly, makeGguf, makeNpy, makeTensors } from '../../test/support/weight-files.js';
import { readWeightFile } from './read-weight-file.js';

const gguf = makeGguf({
  keys: [
    ['general.architecture', 8, 'llama'],
    ['a.list', 9, [8, ['x', 'y']]],
    ['long', 9, [8, Array.from({ length: 1100 }, () => 'z')]],
  ],
  tensors: [{ name: 'w', extents: [256], type: 12, offset: 0 }],
  dataBytes: 144,
});

const samples: readonly (readonly [name: string, bytes: Uint8Array, headerBytes: number])[] = [
  ['m.safetensors', makeTensors({ w: ['F32', [2], 8], v: ['I64', [], 8] }, { a: 'b' }), 150],
  ['m.gguf', gguf, 200],
  ['m.onnx', digitsFile('digits.onnx'), 240],
  ['m.npy', makeNpy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8), 70],
];

/** Whatever comes out must be a result or a ToolkitError, and no read may be larger than what is there. */
async function outcome(name: string, bytes: Uint8Array): Promise<string> {
  const access = forwardOnly(bytes);
  try {
    await readWeightFile(name, access, defaultLimits);
    return 'read';
  } catch (error) {
    if (!isToolkitError(error)) throw error;
    return error.code;
  }
}

describe('readWeightFile', () => {
  it('reads the digits model in every format, with one read of the head', async () => {
    for (const [name, parameters] of [
      ['digits.safetensors', 2410],
      ['digits.onnx', 2410],
      ['digits.pt', undefined],
      ['digits_dict.pt', undefined],
    ] as const) {
      const bytes = digitsFile(name);
      const access = forwardOnly(bytes);
      const file = await readWeightFile(name, access, defaultLimits);
      expect(file?.parameters).toBe(parameters);
      expect(access.reads).toEqual([{ offset: 0, length: bytes.length }]);
    }
  });

  it('says of a TorchScript archive that it is one', async () => {
    const file = await readWeightFile('digits.pt', forwardOnly(digitsFile('digits.pt')), defaultLimits);
    expect(file).toMatchObject({ format: 'pt', tensors: [], metadata: { container: 'zip', torchscript: true } });
    expect(file?.findings).toEqual([expect.objectContaining({ level: 'note', code: 'weights/pickle' })]);
  });

  it('looks for the members of a large archive at its end', async () => {
    const bytes = Buffer.alloc(400_000);
    Buffer.from(digitsFile('digits.pt')).copy(bytes, 0, 0, 300);
    bytes.write('digits/constants.pkl', 399_000);
    const access = forwardOnly(bytes);
    expect((await readWeightFile('big.pt', access, defaultLimits))?.metadata).toEqual({ container: 'zip', torchscript: true });
    expect(access.reads).toEqual([
      { offset: 0, length: 81_920 },
      { offset: 400_000 - 65_536, length: 65_536 },
    ]);
  });

  it('gives the word alone for formats without a reader, and nothing for other files', async () => {
    expect(await readWeightFile('a.tflite', forwardOnly(Buffer.from('....')), defaultLimits)).toEqual({
      format: 'tflite',
      file: 'a.tflite',
      tensors: [],
      metadata: {},
      findings: [],
    });
    expect(await readWeightFile('a.onnx_data', forwardOnly(Buffer.from('....')), defaultLimits)).toBeUndefined();
  });

  it.each(samples)('%s: every truncation is found', async (name, bytes) => {
    expect(await outcome(name, bytes)).toBe('read');
    const lengths =
      bytes.length > 3000 ? Array.from({ length: 600 }, (_, index) => (index < 300 ? index : bytes.length - 600 + index)) : bytes.keys();
    for (const length of lengths) expect([length, await outcome(name, bytes.subarray(0, length))]).toEqual([length, 'weights/bad-header']);
  });

  it.each(samples)('%s: any byte of the header may be anything', async (name, bytes, headerBytes) => {
    const copy = Buffer.from(bytes);
    for (let index = 0; index < headerBytes; index++) {
      const original = copy[index] ?? 0;
      for (const value of [0, 1, 0x7f, 0x80, 0xff, original ^ 1, original ^ 0x80]) {
        copy[index] = value;
        await outcome(name, copy);
      }
      copy[index] = original;
    }
    expect(await outcome(name, copy)).toBe('read');
  });

  it.each(samples)('%s: eight bytes at once may be anything', async (name, bytes, headerBytes) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(headerBytes - 8), fc.uint8Array({ minLength: 1, maxLength: 8 }), async (at, noise) => {
        const copy = Buffer.from(bytes);
        copy.set(noise, at);
        expect(await outcome(name, copy)).toMatch(/^(read|weights\/bad-header|bytes\/limit)$/);
      }),
      { numRuns: 500 },
    );
  });

  it.each(samples)('%s: noise is refused or read, never more', async (name, bytes) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(16), fc.uint8Array({ maxLength: 400 }), async (kept, noise) => {
        expect(await outcome(name, Buffer.concat([bytes.subarray(0, kept), noise]))).toMatch(/^(read|weights\/bad-header|bytes\/limit)$/);
      }),
      { numRuns: 500 },
    );
  });
});
