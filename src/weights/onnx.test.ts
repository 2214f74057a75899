import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError } from '../core/index.js';
import { checkExternalData } from './external-data.js';
import { digitsFile, forwardOnly, protoField as field } from '../../test/support/weight-files.js';
import { readOnnx } from './onnx.js';

type Fields = readonly Uint8Array[];
const float = 1;
const int64 = 7;

const tensor = (name: string, dims: readonly number[], type = float, ...rest: Uint8Array[]) => [
  ...dims.map((dim) => field(1, dim)),
  field(2, type),
  field(8, name),
  ...rest,
];
const tensorType = (type: number, dims?: readonly (number | string | null)[]) =>
  field(2, [
    field(1, [
      field(1, type),
      ...(dims === undefined
        ? []
        : [
            field(
              2,
              dims.map((dim) => field(1, dim === null ? [] : [typeof dim === 'number' ? field(1, dim) : field(2, dim)])),
            ),
          ]),
    ]),
  ]);
const valueInfo = (name: string, ...rest: Uint8Array[]) => [field(1, name), ...rest];
const node = (operator: string, ...rest: Uint8Array[]) => field(1, [field(4, operator), ...rest]);
const model = (graph: Fields, ...rest: Uint8Array[]) =>
  Buffer.concat([field(1, 8), field(8, [field(1, ''), field(2, 17)]), field(7, graph), ...rest]);
const read = (bytes: Uint8Array, size?: number) => readOnnx('a/m.onnx', forwardOnly(bytes, size), defaultLimits);

describe('readOnnx', () => {
  it('reads the digits model', async () => {
    const file = await readOnnx('digits.onnx', forwardOnly(digitsFile('digits.onnx')), defaultLimits);
    expect(file.parameters).toBe(2410);
    expect(file.tensors.map(({ name, dtype, shape, bytes }) => [name, dtype, shape, bytes])).toEqual([
      ['fc1.weight', 'float32', [32, 64], 8192],
      ['fc1.bias', 'float32', [32], 128],
      ['fc2.weight', 'float32', [10, 32], 1280],
      ['fc2.bias', 'float32', [10], 40],
    ]);
    const stored = digitsFile('digits.safetensors').subarray(448, 448 + 8192);
    expect(digitsFile('digits.onnx').subarray(file.tensors[0]?.offset).subarray(0, 8192)).toEqual(stored);
    expect(file.io).toEqual({
      inputs: [{ name: 'pixels', dtype: 'float32', shape: ['batch', 64] }],
      outputs: [
        { name: 'logits', dtype: 'float32', shape: ['batch', 10] },
        { name: 'digit', dtype: 'int64', shape: ['batch'] },
      ],
    });
    expect(file.metadata).toEqual({
      irVersion: 8,
      producerName: 'make_digits',
      graph: 'digits_mlp',
      opsets: { 'ai.onnx': 13 },
      properties: {},
      operators: { Gemm: 2, Relu: 1, ArgMax: 1 },
    });
    expect(file.findings).toEqual([]);
    expect(file.external).toBeUndefined();
  });

  it('steps over gigabytes of data', async () => {
    const huge = 2 ** 33;
    const lengthAsVarint = Uint8Array.from([0x80, 0x80, 0x80, 0x80, 0x20]);
    const head = [...tensor('w', [2 ** 31]), Uint8Array.from([0x4a]), lengthAsVarint];
    const headBytes = head.reduce((sum, part) => sum + part.length, 0);
    const wrap = (number: number, length: number) => Buffer.concat([Uint8Array.from([number * 8 + 2]), varintOf(length)]);
    const initializer = Buffer.concat([wrap(5, headBytes + huge), ...head]);
    const bytes = Buffer.concat([field(8, [field(2, 17)]), wrap(7, initializer.length + huge), initializer]);
    const access = forwardOnly(bytes, bytes.length + huge);
    const file = await readOnnx('m', access, defaultLimits);
    expect(file).toMatchObject({ parameters: 2 ** 31, findings: [], tensors: [{ bytes: huge, offset: bytes.length }] });
    expect(access.reads.length).toBe(1);
  });

  it('reads free and unnamed dimensions, any rank, and inputs that are no tensors', async () => {
    const file = await read(
      model([
        field(11, valueInfo('a', tensorType(float, ['n', 3, null]), field(3, 'an image'))),
        field(11, valueInfo('b', tensorType(int64))),
        field(11, valueInfo('c', field(2, [field(4, [])]))),
        field(11, valueInfo('d', tensorType(float, []))),
        field(12, valueInfo('y', tensorType(8, [-1]))),
      ]),
    );
    expect(file.io?.inputs).toEqual([
      { name: 'a', dtype: 'float32', shape: ['n', 3, null], description: 'an image' },
      { name: 'b', dtype: 'int64', shape: '*' },
      { name: 'c' },
      { name: 'd', dtype: 'float32', shape: [] },
    ]);
    expect(file.io?.outputs).toEqual([{ name: 'y', dtype: 'string', shape: [null] }]);
  });

  it('does not take initializers for inputs, wherever they stand', async () => {
    const file = await read(
      model([
        field(11, valueInfo('x')),
        field(11, valueInfo('w')),
        field(5, tensor('w', [1], float, field(9, new Uint8Array(4)))),
        field(11, valueInfo('s')),
        field(15, [field(1, tensor('s', [2]))]),
      ]),
    );
    expect(file.io?.inputs).toEqual([{ name: 'x' }]);
    expect(file.tensors.map(({ name }) => name)).toEqual(['w', 's']);
  });

  it('walks the graphs inside nodes and functions, and leaves index constants out of the count', async () => {
    const inner = [node('Add', field(7, 'com.example')), field(5, tensor('inner', [3], float, field(4, new Uint8Array(12))))];
    const graph = [
      node('If', field(5, [field(1, 'then_branch'), field(6, inner)])),
      node('Add'),
      field(5, tensor('shape', [2], int64, field(7, Uint8Array.from([1, 2])))),
    ];
    const file = await read(model(graph, field(25, [field(7, [field(4, 'Mul')])])));
    expect(file.metadata.operators).toEqual({ 'com.example.Add': 1, If: 1, Add: 1, Mul: 1 });
    expect(file.parameters).toBe(3);
    expect(file.tensors).toHaveLength(2);
  });

  it('reads packed dimensions and four-bit types', async () => {
    const file = await read(model([field(5, [field(1, Uint8Array.from([3, 5])), field(2, 22), field(8, 'q'), field(9, new Uint8Array(8))])]));
    expect(file.tensors[0]).toMatchObject({ dtype: 'int4', shape: [3, 5], bytes: 8 });
    expect(file.findings).toEqual([]);
  });

  it('collects metadata', async () => {
    const file = await read(
      model(
        [],
        field(3, '2.1'),
        field(5, 4),
        field(6, 'about'),
        field(14, [field(1, 'k'), field(2, 'v')]),
        field(8, [field(1, 'ai.onnx.ml'), field(2, 3)]),
      ),
    );
    expect(file.metadata).toMatchObject({
      producerVersion: '2.1',
      modelVersion: 4,
      description: 'about',
      properties: { k: 'v' },
      opsets: { 'ai.onnx': 17, 'ai.onnx.ml': 3 },
    });
  });

  it('finds a tensor of the wrong size', async () => {
    const file = await read(model([field(5, tensor('w', [2], float, field(9, new Uint8Array(4))))]));
    expect(file.findings).toEqual([
      expect.objectContaining({ level: 'error', code: 'weights/wrong-size', message: 'Tensor "w" of [2] float32 needs 8 bytes and holds 4' }),
    ]);
  });

  const external = (location: string, length: number) =>
    ['location', 'offset', 'length'].map((key, index) => field(13, [field(1, key), field(2, [location, '4096', String(length)][index] ?? '')]));

  it('collects external data and compares it with the package', async () => {
    const file = await read(model([field(5, tensor('w', [4], float, ...external('m.onnx_data', 16)))]));
    expect(file.external).toEqual([{ tensor: 'w', location: 'm.onnx_data', offset: 4096, length: 16 }]);
    expect(file.tensors[0]).toEqual({ name: 'w', dtype: 'float32', shape: [4], bytes: 16, file: 'a/m.onnx' });
    expect(file.findings).toEqual([]);
    expect(checkExternalData(file, (path) => (path === 'a/m.onnx_data' ? 4112 : undefined))).toEqual([]);
    expect(checkExternalData(file, () => 4111)).toEqual([expect.objectContaining({ code: 'weights/wrong-size' })]);
    expect(checkExternalData(file, () => undefined)).toEqual([expect.objectContaining({ code: 'weights/missing-file' })]);
  });

  it.each(['../x', '/etc/passwd', 'a/../../x', '', 'C:\\x'])('finds external data outside: %j', async (location) => {
    const file = await read(model([node('Constant', field(5, [field(5, tensor('c', [4], float, ...external(location, 16)))]))]));
    expect(file.findings).toEqual([expect.objectContaining({ level: 'error', code: 'weights/unsafe-external-data' })]);
    expect(file.tensors).toEqual([]);
  });

  const nested = (depth: number): Fields => (depth === 0 ? [] : [node('If', field(5, [field(6, nested(depth - 1))]))]);
  it.each([
    ['no graph', Buffer.from(field(1, 8)), /no graph/],
    ['an empty file', Buffer.alloc(0), /no graph/],
    ['no operator set', Buffer.concat([field(1, 8), field(7, [])]), /operator set/],
    ['two graphs', model([], field(7, [])), /two graphs/],
    ['a group', Buffer.from([0x0b]), /wire type 3/],
    ['field 0', Buffer.from([0x00, 0x00]), /field tag 0/],
    ['a field that leaves its message', Buffer.from([0x3a, 0x02, 0x0a, 0x05]), /field 1 has 5 bytes/],
    ['a message that leaves the file', Buffer.from([0x3a, 0x7f]), /field 7 has 127 bytes/],
    ['a length of -1', Buffer.concat([Buffer.from([0x3a]), Buffer.alloc(9, 0xff), Buffer.from([1])]), /field 7 has -1 bytes/],
    ['an endless number', Buffer.alloc(30, 0xff), /more than ten bytes/],
    ['a name that is a number', model([field(2, 7)]), /block of bytes was expected/],
    ['a number that is a name', model([field(5, [field(2, 'x')])]), /number was expected/],
    ['a negative dimension', model([field(5, [field(1, -1)])]), /no shape/],
    ['a shape that wraps', model([field(5, tensor('w', [2 ** 40, 2 ** 40]))]), /no shape/],
    ['too many dimensions', model([field(5, [field(1, new Uint8Array(65))])]), /more than 64/],
    ['graphs nested deep', model(nested(70)), /deeper than 64/],
  ])('refuses %s', async (_, bytes, reason) => {
    const error: unknown = await read(bytes).catch((caught: unknown) => caught);
    expect(isToolkitError(error, 'weights/bad-header')).toBe(true);
    expect((error as Error).message).toMatch(reason);
  });

  it('stops at the limits', async () => {
    const bytes = model([field(5, tensor('v', [1])), field(5, tensor('w', [1]))]);
    for (const change of [{ tensors: 1 }, { onnxMetadataBytes: 150 }]) {
      await expect(readOnnx('m', forwardOnly(bytes), { ...defaultLimits, ...change })).rejects.toMatchObject({ code: 'bytes/limit' });
    }
  });
});

function varintOf(value: number): Uint8Array {
  return Buffer.from(field(1, value)).subarray(1);
}
