/** Weight files whose headers lie: a finding that names the file, no crash, and no allocation by what they claim. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHostileSandbox, type HostileSandbox } from '../support/hostile-layout.js';
import { type HostileLayer, rawLayer, writePackage } from '../support/hostile-package.js';
import { listComplaints, tryAllVerbs } from '../support/hostile-verbs.js';
import { makeGguf, makeSafetensors } from '../support/weight-files.js';

let sandbox: HostileSandbox;
beforeEach(() => {
  sandbox = createHostileSandbox();
});
afterEach(() => sandbox.close());

describe('weight headers', () => {
  const huge = 0x7fff_ffff_ffff_ffffn;
  const length = (value: bigint, rest: Uint8Array) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    return Buffer.concat([bytes, rest]);
  };
  const tensor = (over: object) => makeSafetensors({ w: { dtype: 'F32', shape: [4], data_offsets: [0, 16], ...over } }, 16);
  const header = (...words: (number | bigint)[]) =>
    Buffer.concat([
      Buffer.from('GGUF'),
      ...words.map((word) => (typeof word === 'bigint' ? length(word, Buffer.alloc(0)) : Buffer.from(new Uint32Array([word]).buffer))),
    ]);
  const info = (over: object) => makeGguf({ tensors: [{ name: 'w', extents: [4], type: 0, offset: 0, ...over }], dataBytes: 64 });
  const files: readonly (readonly [string, string, Uint8Array])[] = [
    ['F8 a header of 2^63', 'a.safetensors', length(huge, Buffer.alloc(100))],
    ['F8 a header longer than the file', 'a.safetensors', length(1000n, Buffer.from('{}'))],
    ['F8 nothing', 'a.safetensors', Buffer.alloc(0)],
    ['F8 three bytes', 'a.safetensors', Buffer.from('abc')],
    ['F8 a header that is a list', 'a.safetensors', makeSafetensors([], 0)],
    ['F8 a header that is deep', 'a.safetensors', makeSafetensors(`{"w":${'['.repeat(100_000)}`, 0)],
    [
      'F8 a name twice',
      'a.safetensors',
      makeSafetensors('{"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}', 0),
    ],
    ['F8 a shape that wraps', 'a.safetensors', tensor({ shape: [2 ** 32, 2 ** 32] })],
    ['F8 a shape that is negative', 'a.safetensors', tensor({ shape: [-4] })],
    ['F8 an unknown dtype', 'a.safetensors', tensor({ dtype: 'F99' })],
    ['F8 offsets past the end', 'a.safetensors', tensor({ data_offsets: [0, 1e15] })],
    ['F8 offsets backwards', 'a.safetensors', tensor({ data_offsets: [16, 0] })],
    ['F8 a hole', 'a.safetensors', makeSafetensors({ w: { dtype: 'U8', shape: [4], data_offsets: [12, 16] } }, 16)],
    [
      'F8 an overlap',
      'a.safetensors',
      makeSafetensors({ v: { dtype: 'U8', shape: [10], data_offsets: [0, 10] }, w: { dtype: 'U8', shape: [10], data_offsets: [6, 16] } }, 16),
    ],
    ['F8 metadata that is no text', 'a.safetensors', makeSafetensors({ __metadata__: { a: 5 } }, 0)],
    ['F7 2^63 keys', 'a.gguf', header(3, 0n, huge)],
    ['F7 2^63 tensors', 'a.gguf', header(3, huge, 0n)],
    ['F7 a key of 2^63 bytes', 'a.gguf', header(3, 0n, 1n, huge)],
    [
      'F7 an array of 2^63',
      'a.gguf',
      Buffer.concat([header(3, 0n, 1n, 1n), Buffer.from('k'), Buffer.from(new Uint32Array([9, 4]).buffer), length(huge, Buffer.alloc(0))]),
    ],
    [
      'F7 arrays in arrays',
      'a.gguf',
      Buffer.concat([
        header(3, 0n, 1n, 1n),
        Buffer.from('k'),
        Buffer.from(new Uint32Array([9]).buffer),
        ...Array.from({ length: 1000 }, () => Buffer.concat([Buffer.from(new Uint32Array([9]).buffer), length(1n, Buffer.alloc(0))])),
      ]),
    ],
    ['F7 alignment 0', 'a.gguf', makeGguf({ keys: [['general.alignment', 4, 0]] })],
    ['F7 alignment 3', 'a.gguf', makeGguf({ keys: [['general.alignment', 4, 3]] })],
    [
      'F7 alignment 2^30',
      'a.gguf',
      makeGguf({ keys: [['general.alignment', 4, 2 ** 30]], tensors: [{ name: 'w', extents: [4], type: 0, offset: 0 }] }),
    ],
    ['F7 alignment of another type', 'a.gguf', makeGguf({ keys: [['general.alignment', 8, '32']] })],
    ['F7 a product that wraps', 'a.gguf', info({ extents: [2n ** 33n, 2n ** 33n] })],
    ['F7 an offset past the end', 'a.gguf', info({ offset: 2n ** 40n })],
    ['F7 nine dimensions', 'a.gguf', info({ extents: [1, 1, 1, 1, 1, 1, 1, 1, 1] })],
    ['F7 an unknown type', 'a.gguf', info({ type: 9999 })],
    ['F7 a tensor twice', 'a.gguf', makeGguf({ tensors: [0, 0].map(() => ({ name: 'w', extents: [4], type: 0, offset: 0 })), dataBytes: 64 })],
    [
      'F7 a key twice',
      'a.gguf',
      makeGguf({
        keys: [
          ['k', 4, 1],
          ['k', 4, 2],
        ],
      }),
    ],
    ['F7 version 0', 'a.gguf', makeGguf({ version: 0 })],
    ['F7 version 99', 'a.gguf', makeGguf({ version: 99 })],
    ['F7 eleven bytes', 'a.gguf', Buffer.from('GGUF\x03\0\0\0\0\0\0', 'latin1')],
    ['ONNX that is cut', 'a.onnx', Buffer.from([8, 8, 0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ['an npy of 2^32', 'a.npy', Buffer.from('\x93NUMPY\x02\0\xff\xff\xff\xff{', 'latin1')],
  ];

  it.each(files)('%s', async (_, name, bytes) => {
    const layer: HostileLayer = { ...rawLayer(name, bytes), mediaType: 'application/vnd.cncf.model.weight.v1.raw' };
    writePackage(sandbox.layout, { vintage: 'cncf', layers: [layer, rawLayer('README.md', 'x')] });
    const { inspect, unpack, verify } = await tryAllVerbs(sandbox, `oci:${sandbox.layout.path}:v1`);
    expect(listComplaints(inspect)).toEqual([expect.stringContaining(name)]);
    expect(inspect).toMatchObject({ result: { format: 'modelpack', parts: [{ path: name, role: 'weights' }, { path: 'README.md' }] } });
    expect([verify, unpack]).toMatchObject([{ result: { ok: true } }, { result: { files: 2 } }]);
  });
});
