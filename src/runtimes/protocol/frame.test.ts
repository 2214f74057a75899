import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError, type NumericTensor, type PlainTensor, type Tensor } from '../../core/index.js';
import { openChannel } from './channel.js';
import { encodeFrame } from './encode-frame.js';
import { type Frame, frameTypes, headerLimit } from './frame.js';
import { readFrames } from './read-frames.js';

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) {
    yield bytes.subarray(at, at + size);
    yield new Uint8Array(0);
  }
}

async function readAll(bytes: Uint8Array, chunkBytes = 1 << 20, limits = defaultLimits): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of readFrames(inChunks(bytes, chunkBytes), limits, 'the test')) frames.push(frame);
  return frames;
}

const toBytes = (frame: Frame): Buffer => Buffer.concat(encodeFrame(frame));

/** Bytes compare by content. */
const plain = (frames: readonly Frame[]) =>
  frames.map((frame) => ({ ...frame, tensors: [...frame.tensors].map(([name, tensor]) => [name, plainTensor(tensor)]) }));
const plainTensor = (tensor: Tensor): unknown =>
  tensor.kind === 'nested' ? tensor.inner.map(plainTensor) : tensor.kind === 'string' ? tensor : { ...tensor, bytes: [...tensor.bytes] };

const numeric: fc.Arbitrary<PlainTensor> = fc
  .tuple(
    fc.constantFrom<[NumericTensor['dtype'], number]>(['uint8', 1], ['int16', 2], ['float32', 4], ['int64', 8]),
    fc.array(fc.nat(4), { maxLength: 3 }),
  )
  .map(([[dtype, width], shape]) => {
    const bytes = new Uint8Array(shape.reduce((product, extent) => product * extent, width)).map((_, index) => index);
    return { kind: 'numeric', dtype, shape, bytes };
  });
const texts: fc.Arbitrary<PlainTensor> = fc
  .array(fc.string({ unit: 'binary' }))
  .map((values) => ({ kind: 'string', shape: [values.length], values }));
const plainTensors = fc.oneof(numeric, texts);
const tensors: fc.Arbitrary<Tensor> = fc.oneof(
  plainTensors,
  fc.array(plainTensors, { maxLength: 3 }).map((inner) => ({ kind: 'nested' as const, inner })),
);
const frames: fc.Arbitrary<Frame> = fc.record({
  id: fc.nat(),
  type: fc.constantFrom(...frameTypes),
  fields: fc.record({ note: fc.string() }),
  tensors: fc.array(fc.tuple(fc.string(), tensors), { maxLength: 4 }).map((entries) => new Map(entries)),
});

describe('frames', () => {
  it('come back as they were sent, in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frames, { maxLength: 3 }), fc.integer({ min: 1, max: 100 }), async (sent, chunkBytes) => {
        const found = await readAll(Buffer.concat(sent.map(toBytes)), chunkBytes);
        expect(plain(found)).toEqual(plain(sent));
      }),
      { numRuns: 60 },
    );
  });

  it('have their tensors at multiples of 8 bytes, with zeros between', () => {
    const inner: PlainTensor[] = [1, 2].map((length) => ({
      kind: 'numeric',
      dtype: 'uint8',
      shape: [length],
      bytes: new Uint8Array(length).fill(7),
    }));
    const bytes = toBytes({ id: 1, type: 'item', fields: {}, tensors: new Map([['a', { kind: 'nested', inner }]]) });
    const start = Math.ceil((8 + bytes.readUInt32LE(4)) / 8) * 8;
    expect([...bytes.subarray(start)]).toEqual([7, 0, 0, 0, 0, 0, 0, 0, 7, 7]);
    expect([...bytes.subarray(8 + bytes.readUInt32LE(4), start)].every((byte) => byte === 0)).toBe(true);
  });

  it('that are damaged are read, or refused as runtime/protocol, and nothing else', async () => {
    const whole = toBytes({ id: 3, type: 'item', fields: {}, tensors: new Map([['a', { kind: 'string', shape: [1], values: ['text'] }]]) });
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), async (at, byte, length) => {
        const damaged = Buffer.from(whole.subarray(0, length));
        if (at < length) damaged[at] = byte;
        const failure = await readAll(damaged).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(failure === undefined || isToolkitError(failure, 'runtime/protocol')).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('are refused when something stands in the padding', async () => {
    const bytes = toBytes({ id: 1, type: 'item', fields: { pad: '' }, tensors: new Map([['abc', { kind: 'string', shape: [0], values: [] }]]) });
    const padding = 8 + bytes.readUInt32LE(4);
    expect(padding % 8).not.toBe(0);
    bytes[padding] = 1;
    await expect(readAll(bytes)).rejects.toMatchObject({ code: 'runtime/protocol', message: expect.stringContaining('between two tensors') });
  });

  it('are refused over the limits, before anything is kept', async () => {
    const bytes = toBytes({ id: 1, type: 'item', fields: {}, tensors: new Map([['a', { kind: 'string', shape: [1], values: ['text'] }]]) });
    await expect(readAll(bytes, 7, { ...defaultLimits, tensorTextBytes: 4 })).rejects.toMatchObject({
      message: expect.stringContaining('8 bytes, and at most 4'),
    });
    await expect(readAll(bytes, 7, { ...defaultLimits, tensorBytes: 4 })).rejects.toMatchObject({ code: 'runtime/protocol' });
    expect(() => toBytes({ id: 1, type: 'load', fields: { long: 'x'.repeat(headerLimit) }, tensors: new Map() })).toThrow(/header/);
  });
});

describe('a channel', () => {
  it('keeps frames whole that are sent at the same time', async () => {
    const wire = new PassThrough();
    const channel = openChannel(new PassThrough(), wire, defaultLimits, 'the test');
    const big: Tensor = { kind: 'numeric', dtype: 'uint8', shape: [200_000], bytes: new Uint8Array(200_000).fill(65) };
    const sent = [1, 2].map((id) => channel.send({ id, type: 'item', fields: {}, tensors: new Map([['a', big]]) }));
    const received = text(wire);
    await Promise.all(sent);
    wire.end();
    expect((await received).split('MPR1').map((part) => part.length > 200_000)).toEqual([false, true, true]);
  });

  it('gives undefined at the end', async () => {
    const input = new PassThrough();
    const channel = openChannel(input, new PassThrough(), defaultLimits, 'the test');
    input.end(Buffer.concat(encodeFrame({ id: 4, type: 'end', fields: {}, tensors: new Map() })));
    expect(await channel.receive()).toMatchObject({ id: 4, type: 'end' });
    expect(await channel.receive()).toBeUndefined();
  });
});
