import { createError, type PlainTensor, type Tensor } from '../../core/index.js';
import { type Frame, frameAlignment, frameMagic, headerLimit, prefixBytes } from './frame.js';

/** The frame in pieces to be written one after the other; large tensors are not copied. Throws `core/bug` when the header is over its limit. */
export function encodeFrame({ id, type, fields, tensors }: Frame): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const described = [...tensors].map(([name, tensor]) => ({ name, ...describe(tensor, pieces) }));
  const header = Buffer.from(JSON.stringify({ ...fields, id, type, ...(described.length > 0 && { tensors: described }) }));
  if (header.byteLength > headerLimit) {
    throw createError('core/bug', { message: `Cannot send a frame: its header has ${header.byteLength} bytes, and ${headerLimit} are allowed` });
  }
  const prefix = Buffer.alloc(prefixBytes);
  prefix.write(frameMagic, 'latin1');
  prefix.writeUInt32LE(header.byteLength, 4);
  return join([prefix, header], pieces);
}

function describe(tensor: Tensor, pieces: Uint8Array[]): object {
  if (tensor.kind !== 'nested') return describePlain(tensor, pieces);
  return { dtype: 'nested', inner: tensor.inner.map((inner) => describePlain(inner, pieces)) };
}

function describePlain(tensor: PlainTensor, pieces: Uint8Array[]): object {
  const bytes = tensor.kind === 'string' ? Buffer.from(JSON.stringify(tensor.values)) : tensor.bytes;
  pieces.push(bytes);
  return { dtype: tensor.kind === 'string' ? 'string' : tensor.dtype, shape: tensor.shape, bytes: bytes.byteLength };
}

/** Below this a copy costs less than one more call of the system. */
const copiedBytes = 64 * 1024;

/** Small neighbours become one piece, so that a small frame is one write. */
function join(head: readonly Uint8Array[], tensors: readonly Uint8Array[]): readonly Uint8Array[] {
  const joined: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  let offset = 0;
  const flush = () => {
    if (small.length > 0) joined.push(small.length === 1 ? (small[0] as Uint8Array) : Buffer.concat(small));
    small = [];
  };
  const add = (piece: Uint8Array) => {
    offset += piece.byteLength;
    if (piece.byteLength <= copiedBytes) return void small.push(piece);
    flush();
    joined.push(piece);
  };
  for (const piece of head) add(piece);
  for (const piece of tensors) {
    add(Buffer.alloc(paddingAt(offset)));
    add(piece);
  }
  flush();
  return joined;
}

/** Zeros before the next tensor, when `offset` bytes of the frame are there. */
export function paddingAt(offset: number): number {
  return (frameAlignment - (offset % frameAlignment)) % frameAlignment;
}
