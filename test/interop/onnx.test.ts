/** The onnx runtime with the real engine, in this process and in one of its own. */
import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DtypeName, findDtype, type NumericTensor, type RuntimeSession, type Tensor } from '../../src/core/index.js';
import { onnxRuntime } from '../../src/runtimes/onnx/index.js';
import { type GraphRecipe, makeGraph, makeIdentity, makeLoop } from '../support/onnx-model.js';
import { digitsFolder, infer, makeEnvironment, makeModel, readDigitSamples, startOnnx, toPixels, writeFolder } from './support/onnx.js';
import { orphanGraph } from './support/orphaned-graph.js';

const folders: string[] = [];
const sessions: RuntimeSession[] = [];
const folderOf = (files: Readonly<Record<string, Uint8Array>>) => {
  const folder = writeFolder(files);
  folders.push(folder);
  return folder;
};
const open = async (...of: Parameters<typeof startOnnx>) => {
  const session = await startOnnx(...of);
  sessions.push(session);
  return session;
};
afterAll(async () => {
  for (const session of sessions) await session.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const ways = [
  { way: 'in process', environment: {} },
  { way: 'in a child', environment: { isolated: true } },
] as const;

const pixels = { name: 'pixels', dtype: 'float32', shape: ['batch', 64] } as const;
const logits = { name: 'logits', dtype: 'float32', shape: ['batch', 10] } as const;

function toNumeric(dtype: NumericTensor['dtype'], shape: readonly number[], array: ArrayBufferView): NumericTensor {
  return { kind: 'numeric', dtype, shape, bytes: new Uint8Array(array.buffer, array.byteOffset, array.byteLength) };
}

function toFloats(tensor: Tensor | undefined): readonly number[] {
  if (tensor?.kind !== 'numeric') throw new Error('not numeric');
  return [...new Float32Array(Uint8Array.from(tensor.bytes).buffer)];
}

describe('the runtime', () => {
  it('says which version is here', async () => {
    expect(await onnxRuntime.accepts(makeModel(), makeEnvironment())).toEqual({
      yes: true,
      version: expect.stringMatching(/^1\.\d+\.\d+$/),
      findings: [],
    });
    expect(await onnxRuntime.accepts(makeModel([], [], { version: '>=1.14, <2', layoutVersion: 1 }), makeEnvironment())).toMatchObject({ yes: true });
  });

  it('refuses another version than is asked for, unless any will do', async () => {
    const model = makeModel([], [], { version: '=0.9' });
    expect(await onnxRuntime.accepts(model, makeEnvironment())).toMatchObject({
      yes: false,
      reason: expect.stringContaining('asks for onnxruntime "=0.9"'),
    });
    expect(await onnxRuntime.accepts(model, makeEnvironment({ anyVersion: true }))).toMatchObject({ yes: true, findings: [{ level: 'warning' }] });
  });

  it('refuses another layout of the folder', async () => {
    expect(await onnxRuntime.accepts(makeModel([], [], { layoutVersion: 2 }), makeEnvironment())).toMatchObject({
      yes: false,
      reason: expect.stringContaining('layout 2'),
    });
  });
});

describe.each(ways)('digits $way', ({ environment }) => {
  let session: RuntimeSession;
  beforeAll(async () => {
    session = await open(digitsFolder, makeModel([pixels], [logits, { name: 'digit', dtype: 'int64', shape: ['batch'] }]), environment);
  });

  it.each(readDigitSamples().map((sample) => ({ sample, digit: sample.digit })))('reads a $digit', async ({ sample }) => {
    const outputs = await infer(session, { pixels: toPixels([sample]) });
    expect([...outputs.keys()]).toEqual(['logits', 'digit']);
    expect(outputs.get('logits')).toMatchObject({ dtype: 'float32', shape: [1, 10] });
    for (const [index, value] of toFloats(outputs.get('logits')).entries()) {
      const wanted = sample.logits[index] ?? Number.NaN;
      expect(Math.abs(value - wanted)).toBeLessThanOrEqual(1e-4 + 1e-4 * Math.abs(wanted));
    }
    expect(outputs.get('digit')).toEqual(toNumeric('int64', [1], BigInt64Array.of(BigInt(sample.digit))));
  });

  it('takes all of them at once, and none', async () => {
    const samples = readDigitSamples();
    const outputs = await infer(session, { pixels: toPixels(samples) });
    expect(outputs.get('digit')).toEqual(toNumeric('int64', [samples.length], BigInt64Array.from(samples.map(({ digit }) => BigInt(digit)))));
    expect((await infer(session, { pixels: toPixels([]) })).get('logits')).toEqual(toNumeric('float32', [0, 10], new Uint8Array(0)));
  });

  it('takes bytes at any address', async () => {
    const samples = readDigitSamples().slice(0, 1);
    const { bytes, ...rest } = toPixels(samples) as NumericTensor;
    const moved = new Uint8Array(bytes.length + 1);
    moved.set(bytes, 1);
    expect(await infer(session, { pixels: { ...rest, bytes: moved.subarray(1) } })).toEqual(await infer(session, { pixels: { ...rest, bytes } }));
  });

  it.each([
    { what: 'a missing input', inputs: {}, words: 'input "pixels" is missing' },
    { what: 'an unknown input', inputs: { pixels: toPixels([]), other: toPixels([]) }, words: 'input "other" is none of the graph' },
    {
      what: 'another dtype',
      inputs: { pixels: toNumeric('float64', [1, 64], new Float64Array(64)) },
      words: 'is float64, and the graph takes float32',
    },
    { what: 'texts', inputs: { pixels: { kind: 'string', shape: [1], values: ['a'] } }, words: 'is string, and the graph takes float32' },
    { what: 'nested tensors', inputs: { pixels: { kind: 'nested', inner: [] } }, words: 'nested' },
  ] as const)('refuses $what and goes on', async ({ inputs, words }) => {
    await expect(infer(session, inputs)).rejects.toMatchObject({ code: 'runtime/bad-input', message: expect.stringContaining(words) });
    expect((await infer(session, { pixels: toPixels([]) })).size).toBe(2);
  });

  it("fails in the engine's words and goes on", async () => {
    const wrong = toNumeric('float32', [1, 63], new Float32Array(63));
    await expect(infer(session, { pixels: wrong })).rejects.toMatchObject({
      code: 'runtime/failed',
      message: expect.stringMatching(/^Cannot run "model\.carton": onnxruntime says: .*index: 1 Got: 63 Expected: 64/),
    });
    expect((await infer(session, { pixels: toPixels([]) })).size).toBe(2);
  });

  it('is given up when cancelled', async () => {
    const cancelled = await open(digitsFolder, makeModel(), environment);
    const run = async () => {
      for await (const _ of cancelled.invoke(new Map([['pixels', toPixels([])]]), { timeoutMs: 60_000, signal: AbortSignal.abort() })) continue;
    };
    await expect(run()).rejects.toMatchObject({ code: 'core/cancelled' });
  });
});

describe.each(ways)('names $way', ({ environment }) => {
  it('are those of the package, where it gives internal names', async () => {
    const image = { ...pixels, name: 'image', internalName: 'pixels' };
    const scores = { ...logits, name: 'scores', internalName: 'logits' };
    const session = await open(digitsFolder, makeModel([image], [scores]), environment);
    const outputs = await infer(session, { image: toPixels(readDigitSamples()) });
    expect([...outputs.keys()]).toEqual(['scores']);
    await expect(infer(session, { pixels: toPixels([]) })).rejects.toMatchObject({ code: 'runtime/bad-input' });
  });

  it('are those of the graph, where nothing is declared', async () => {
    const session = await open(digitsFolder, makeModel(), environment);
    expect([...(await infer(session, { pixels: toPixels([]) })).keys()]).toEqual(['logits', 'digit']);
  });

  it.each([
    { what: 'an input', inputs: [{ name: 'image' }], outputs: [], words: ['no input for the declared input "image"', '"pixels" (float32)'] },
    { what: 'an output', inputs: [], outputs: [logits, { name: 'label' }], words: ['no output for the declared output "label"', '"digit" (int64)'] },
    {
      what: 'an internal name',
      inputs: [{ ...pixels, internalName: 'x' }],
      outputs: [],
      words: ['"pixels" (in the graph "x")', '"pixels" (float32)'],
    },
    { what: 'a dtype', inputs: [{ ...pixels, dtype: 'float16' }], outputs: [], words: ['"pixels" is float16, and float32 in the graph', 'float32'] },
  ] as const)('are refused with $what that the graph lacks', async ({ inputs, outputs, words: [message, hint] }) => {
    await expect(open(digitsFolder, makeModel(inputs, outputs), environment)).rejects.toMatchObject({
      code: 'runtime/failed',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });
});

const numeric: readonly (readonly [NumericTensor['dtype'], ArrayBufferView])[] = [
  ['float32', Float32Array.of(1.5, -0, Number.NaN)],
  ['float64', Float64Array.of(0.1, Number.MAX_VALUE, -Infinity)],
  ['float16', Uint16Array.of(0x3c00, 0x8000, 0x7c00)],
  ['int8', Int8Array.of(-128, 0, 127)],
  ['int16', Int16Array.of(-32_768, 0, 32_767)],
  ['int32', Int32Array.of(-2_147_483_648, 0, 2_147_483_647)],
  ['int64', BigInt64Array.of(-(2n ** 63n), 2n ** 53n + 1n, 2n ** 63n - 1n)],
  ['uint8', Uint8Array.of(0, 1, 255)],
  ['uint16', Uint16Array.of(0, 1, 65_535)],
  ['uint32', Uint32Array.of(0, 1, 4_294_967_295)],
  ['uint64', BigUint64Array.of(0n, 2n ** 53n + 1n, 2n ** 64n - 1n)],
  ['bool', Uint8Array.of(0, 1, 1)],
];

const onnxType = (dtype: DtypeName) => findDtype('name', dtype)?.onnx ?? 0;

describe.each(ways)('elements $way', ({ environment }) => {
  it.each(numeric)('of %s come back bit for bit', async (dtype, array) => {
    const session = await open(folderOf({ 'model.onnx': makeIdentity(onnxType(dtype)) }), makeModel(), environment);
    const tensor = toNumeric(dtype, [3], array);
    expect((await infer(session, { in: tensor })).get('out')).toEqual(tensor);
    const none = toNumeric(dtype, [0], new Uint8Array(0));
    expect((await infer(session, { in: none })).get('out')).toEqual(none);
  });

  it('of texts come back as they are', async () => {
    const session = await open(folderOf({ 'model.onnx': makeIdentity(onnxType('string')) }), makeModel(), environment);
    const texts: Tensor = { kind: 'string', shape: [4], values: ['', 'a "b"\n', 'ä€😀', 'x'.repeat(100_000)] };
    expect((await infer(session, { in: texts })).get('out')).toEqual(texts);
    const none: Tensor = { kind: 'string', shape: [0], values: [] };
    expect((await infer(session, { in: none })).get('out')).toEqual(none);
  });

  it('stand alone as scalars', async () => {
    const session = await open(folderOf({ 'model.onnx': makeLoop() }), makeModel(), environment);
    const scalar = (value: number) => toNumeric('float32', [], Float32Array.of(value));
    const outputs = await infer(session, { count: toNumeric('int64', [], BigInt64Array.of(2n)), in: scalar(3) });
    expect(outputs.get('out')).toEqual(scalar(81));
  });
});

const weighted = (file: string): GraphRecipe => ({
  nodes: [{ op: 'Add', inputs: ['in', 'weight'], outputs: ['out'] }],
  inputs: [{ name: 'in', type: 1, shape: [2] }],
  outputs: [{ name: 'out', type: 1, shape: [2] }],
  weights: [{ name: 'weight', file, length: 2 }],
});

describe.each(ways)('files $way', ({ environment }) => {
  const identity = makeIdentity(1);

  it('may bear another name when there is one graph only', async () => {
    const session = await open(folderOf({ 'net.onnx': identity, 'notes.txt': Buffer.from('x') }), makeModel(), environment);
    expect((await infer(session, { in: toNumeric('float32', [0], new Uint8Array(0)) })).size).toBe(1);
  });

  it.each([
    { what: 'no graph', files: { 'notes.txt': Buffer.from('x') }, words: 'there is no .onnx file' },
    { what: 'two graphs', files: { 'a.onnx': identity, 'b.onnx': identity }, words: 'there are 2 .onnx files ("a.onnx", "b.onnx")' },
    { what: 'garbage', files: { 'model.onnx': Buffer.from('not a graph') }, words: 'onnxruntime says: ' },
    { what: 'nothing', files: { 'model.onnx': Buffer.alloc(0) }, words: 'onnxruntime says: ' },
    { what: 'half a graph', files: { 'model.onnx': identity.subarray(0, identity.length / 2) }, words: 'onnxruntime says: ' },
    { what: 'a missing external file', files: { 'model.onnx': makeGraph(weighted('weights.bin')) }, words: 'weights.bin' },
  ])('are refused with $what', async ({ files, words }) => {
    await expect(open(folderOf(files), makeModel(), environment)).rejects.toMatchObject({
      code: 'runtime/failed',
      message: expect.stringContaining(words),
    });
  });

  it('may lie beside the graph', async () => {
    const folder = folderOf({
      'model.onnx': makeGraph(weighted('data/weights.bin')),
      'data/weights.bin': new Uint8Array(Float32Array.of(1, 2).buffer),
    });
    const session = await open(folder, makeModel(), environment);
    expect(toFloats((await infer(session, { in: toNumeric('float32', [2], Float32Array.of(10, 20)) })).get('out'))).toEqual([11, 22]);
  });

  it.each(['../weights.bin', 'link.bin'])('are not read outside of the folder: %s', async (file) => {
    const folder = folderOf({ 'weights.bin': new Uint8Array(Float32Array.of(1, 2).buffer), 'inner/model.onnx': makeGraph(weighted(file)) });
    symlinkSync('../weights.bin', join(folder, 'inner/link.bin'));
    await expect(open(join(folder, 'inner'), makeModel(), environment)).rejects.toMatchObject({ code: 'runtime/failed' });
  });
});

describe('options', () => {
  it.each(ways)('set threads and providers $way', async ({ environment }) => {
    const options = { intra_op_num_threads: 1, inter_op_num_threads: 1n, providers: 'cpu' };
    const session = await open(digitsFolder, makeModel([], [], { options }), environment);
    expect(session.findings).toEqual([]);
    expect((await infer(session, { pixels: toPixels([]) })).size).toBe(2);
  });

  it.each(ways)('that the engine refuses are its error $way', async ({ environment }) => {
    const model = makeModel([], [], { options: { intra_op_num_threads: -3n } });
    await expect(open(digitsFolder, model, environment)).rejects.toMatchObject({ code: 'runtime/failed', message: expect.stringContaining('-3') });
  });

  it.each(ways)('for a GPU are left out on a processor $way', async ({ environment }) => {
    const session = await open(digitsFolder, makeModel([], [], { options: { providers: 'cuda' } }), environment);
    expect(session.findings).toMatchObject([{ code: 'runtime/provider-left-out' }]);
    expect((await infer(session, { pixels: toPixels([]) })).size).toBe(2);
  });

  it('name a provider that the engine lacks', async () => {
    const model = makeModel([], [], { options: { providers: 'abacus' } });
    await expect(open(digitsFolder, model, { device: '0' })).rejects.toMatchObject({
      code: 'runtime/not-available',
      message: expect.stringMatching(/there is no provider "abacus": this onnxruntime-node has cpu/),
    });
  });
});

/** 2^62 steps end in a lifetime of no machine. */
const endless = { count: toNumeric('int64', [], BigInt64Array.of(2n ** 62n)), in: toNumeric('float32', [], Float32Array.of(1)) };

/** The processes of models that this one has started, from /proc. */
function listChildren(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [, parent] = /\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
        return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('onnx-child-worker');
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** A process that nobody has asked for its exit status is dead all the same. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a graph that does not end', () => {
  const loop = { 'model.onnx': makeLoop() };

  it('in a child is stopped when its time is over, and leaves nothing behind', async () => {
    const before = listChildren();
    const session = await open(folderOf(loop), makeModel(), { isolated: true });
    await expect(infer(session, endless, 300)).rejects.toMatchObject({ code: 'runtime/timeout', message: expect.stringContaining('0.3 s') });
    await session.close();
    expect(listChildren()).toEqual(before);
    await expect(infer(session, endless)).rejects.toMatchObject({ code: 'runtime/timeout' });
  });

  it('in a child is stopped by a signal', async () => {
    const session = await open(folderOf(loop), makeModel(), { isolated: true });
    const stop = new AbortController();
    const run = async () => {
      for await (const _ of session.invoke(new Map(Object.entries(endless)), { timeoutMs: 60_000, signal: stop.signal })) continue;
    };
    const running = run();
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: 'core/cancelled' });
    await session.close();
  });

  it('in process is told from one that is merely slow once it has answered', async () => {
    const session = await open(folderOf(loop), makeModel());
    const slow = { ...endless, count: toNumeric('int64', [], BigInt64Array.of(20_000n)) };
    await expect(infer(session, slow, 1)).rejects.toMatchObject({ code: 'runtime/timeout' });
    await expect(infer(session, slow)).rejects.toThrow('it is closed');
  });

  it('ends with a modelport that is killed', async () => {
    const pid = await orphanGraph(join(folderOf(loop), 'model.onnx'), new Map(Object.entries(endless)));
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  });
});

describe('a process that ends', () => {
  it('is an error that says how, with its last words', async () => {
    const before = listChildren();
    const session = await open(digitsFolder, makeModel(), { isolated: true });
    const pid = listChildren().find((each) => !before.includes(each));
    process.kill(pid ?? Number.NaN, 'SIGSEGV');
    await expect(infer(session, { pixels: toPixels([]) })).rejects.toMatchObject({
      code: 'runtime/crashed',
      message: expect.stringContaining('SIGSEGV'),
    });
  });

  it('is no error when it was closed', async () => {
    const before = listChildren();
    const session = await open(digitsFolder, makeModel(), { isolated: true });
    expect(listChildren().length).toBe(before.length + 1);
    await session.close();
    await session.close();
    expect(listChildren()).toEqual(before);
  });
});

it('what the engine warns of is in the log of a child', async () => {
  const file = makeGraph({
    nodes: [{ op: 'Identity', inputs: ['in'], outputs: ['out'] }],
    inputs: [{ name: 'in', type: 1, shape: [2] }],
    outputs: [{ name: 'out', type: 1, shape: [3] }],
  });
  const lines: string[] = [];
  const session = await open(folderOf({ 'model.onnx': file }), makeModel(), { isolated: true, onLog: (line) => lines.push(line) });
  await infer(session, { in: toNumeric('float32', [2], new Float32Array(2)) }).catch(() => new Map());
  await session.close();
  expect(session.log()).toContain('out');
  expect(lines.join('\n')).toContain('out');
});
