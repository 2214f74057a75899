import { createError, isJsonObject, type JsonObject, type Limits, parseJson, type PlainTensor, type Tensor } from '../../core/index.js';
import { ByteQueue } from './byte-queue.js';
import { paddingAt } from './encode-frame.js';
import { type Frame, frameMagic, type FrameType, frameTypes, headerLimit, prefixBytes } from './frame.js';
import { countElements, parseTensorHeaders, type PieceHeader, type TensorHeader } from './tensor-header.js';

/**
 * Frames as they come, each whole in memory: its tensors together have at most `limits.tensorBytes`, each list of texts `limits.tensorTextBytes`.
 * Whatever is no frame throws `runtime/protocol`; `peer` names in it who sent that. Nothing is read ahead of the frame that is asked for.
 */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>, limits: Limits, peer: string): AsyncGenerator<Frame, void> {
  const queue = new ByteQueue(chunks);
  for (;;) {
    const prefix = await queue.take(prefixBytes);
    if (prefix.byteLength === 0) return;
    yield await readFrame(prefix, queue, limits).catch((cause: unknown) => {
      throw refuse(peer, cause);
    });
  }
}

function refuse(peer: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return createError('runtime/protocol', {
    message: `Cannot understand ${peer}: ${reason}`,
    hint: 'Its own output belongs on stdout and stderr; file descriptors 3 and 4 are the channel to modelport',
    cause,
  });
}

async function readFrame(prefix: Uint8Array, queue: ByteQueue, limits: Limits): Promise<Frame> {
  const start = Buffer.from(prefix.buffer, prefix.byteOffset, prefix.byteLength);
  const magic = start.toString('latin1', 0, 4);
  if (magic !== frameMagic) throw new Error(`a frame begins with ${JSON.stringify(magic)}, expected "${frameMagic}"`);
  if (start.byteLength < prefixBytes) throw new Error('its stream ends within a frame');
  const length = start.readUInt32LE(4);
  if (length > headerLimit) throw new Error(`the header of a frame has ${length} bytes, and at most ${headerLimit} are read`);
  const header = parseHeader(await takeWhole(queue, length));
  assertLimits(header.described, limits);
  const tensors = new Map<string, Tensor>();
  const cursor = { queue, offset: prefixBytes + length };
  for (const described of header.described) tensors.set(described.name, await readTensor(described, cursor));
  return { id: header.id, type: header.type, fields: header.fields, tensors };
}

interface Header {
  readonly id: number;
  readonly type: FrameType;
  readonly fields: JsonObject;
  readonly described: readonly TensorHeader[];
}

function parseHeader(bytes: Uint8Array): Header {
  const value = parseJson(bytes, 'the header of a frame', { bytes: headerLimit, depth: 16 });
  if (!isJsonObject(value)) throw new Error('the header of a frame is no object');
  const { id, type, tensors, ...fields } = value;
  if (!Number.isSafeInteger(id) || (id as number) < 0) throw new Error('a frame has no number');
  if (!isFrameType(type)) throw new Error(`a frame has the type ${JSON.stringify(type)}, which does not exist`);
  return { id: id as number, type, fields, described: parseTensorHeaders(tensors) };
}

function isFrameType(value: unknown): value is FrameType {
  return (frameTypes as readonly unknown[]).includes(value);
}

function assertLimits(described: readonly TensorHeader[], limits: Limits): void {
  const pieces = described.flatMap<PieceHeader>((header) => ('inner' in header ? header.inner : [header]));
  const total = pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > limits.tensorBytes) throw new Error(`the tensors of a frame have ${total} bytes, and at most ${limits.tensorBytes} are read`);
  const texts = pieces.filter(({ dtype }) => dtype === 'string').reduce((sum, { bytes }) => sum + bytes, 0);
  if (texts > limits.tensorTextBytes) throw new Error(`the texts of a frame have ${texts} bytes, and at most ${limits.tensorTextBytes} are read`);
}

interface Cursor {
  readonly queue: ByteQueue;
  offset: number;
}

async function readTensor(header: TensorHeader, cursor: Cursor): Promise<Tensor> {
  if (!('inner' in header)) return readPiece(header, cursor);
  const inner: PlainTensor[] = [];
  for (const piece of header.inner) inner.push(await readPiece(piece, cursor));
  return { kind: 'nested', inner };
}

async function readPiece({ dtype, shape, bytes }: PieceHeader, cursor: Cursor): Promise<PlainTensor> {
  const padding = paddingAt(cursor.offset);
  if ((await takeWhole(cursor.queue, padding)).some((byte) => byte !== 0)) throw new Error('there is something between two tensors of a frame');
  const content = await takeWhole(cursor.queue, bytes);
  cursor.offset += padding + bytes;
  if (dtype !== 'string') return { kind: 'numeric', dtype, shape, bytes: content };
  return { kind: 'string', shape, values: parseTexts(content, countElements(shape) ?? 0) };
}

function parseTexts(bytes: Uint8Array, count: number): readonly string[] {
  const values: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) throw new Error('the texts of a tensor are no list of texts');
  if (values.length !== count) throw new Error(`a tensor has ${values.length} texts, and its shape has ${count}`);
  return values;
}

async function takeWhole(queue: ByteQueue, length: number): Promise<Uint8Array> {
  const bytes = await queue.take(length);
  if (bytes.byteLength < length) throw new Error('its stream ends within a frame');
  return bytes;
}
