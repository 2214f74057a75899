import { createBrotliDecompress, createInflate, createInflateRaw } from 'node:zlib';
import { type ByteStream, createError, isToolkitError, type ToolkitError } from '../../core/index.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { chunkBytes } from '../streams.js';
import { ByteMeter } from './byte-meter.js';
import { type Codec, throughCodec } from './codec-stream.js';
import { decompress, type DecompressOptions } from './compression.js';

type Decoder = (stream: ByteStream, options: DecompressOptions) => ByteStream;

const decoders: Readonly<Record<string, Decoder>> = {
  identity: (stream) => stream,
  gzip: (stream, options) => decompress(stream, 'gzip', options),
  'x-gzip': (stream, options) => decompress(stream, 'gzip', options),
  zstd: (stream, options) => decompress(stream, 'zstd', options),
  deflate: (stream, options) => metered(stream, options, (input) => inflate(input, options.where)),
  br: (stream, options) => metered(stream, options, (input) => decode(input, createBrotliDecompress({ chunkSize: chunkBytes }), 'br', options.where)),
};

/** Nobody encodes more often for a good reason. */
const mostEncodings = 4;

/**
 * What stands behind an HTTP answer with this Content-Encoding: `gzip`, `x-gzip`, `deflate`, `br`, `zstd`, several of them with commas in the
 * order in which they were applied, or nothing. (RFC 9110, 8.4) Decoded to the very end and limited like `decompress`; throws
 * `bytes/bad-compression` for other encodings too.
 */
export function decodeContent(stream: ByteStream, encodings: string, options: DecompressOptions): ByteStream {
  const names = encodings.split(',').map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== '');
  if (applied.length > mostEncodings) throw badEncoding(options.where, `it is encoded ${applied.length} times, expected at most ${mostEncodings}`);
  return applied.toReversed().reduce((decoded, name) => toDecoder(name, options.where)(decoded, options), stream);
}

function toDecoder(name: string, where: string): Decoder {
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (decoder !== undefined) return decoder;
  throw badEncoding(
    where,
    `expected the Content-Encoding ${Object.keys(decoders).join(', ')}, found "${escapeForDisplay(name.slice(0, 40))}"`,
    'Serve the file without an encoding',
  );
}

function badEncoding(
  where: string,
  reason: string,
  hint = 'The bytes are damaged or cut off, or encoded otherwise than their server says',
): ToolkitError {
  return createError('bytes/bad-compression', { message: `Cannot decode "${where}": ${reason}`, hint, where });
}

function metered(stream: ByteStream, { limits, where }: DecompressOptions, through: (input: ByteStream) => ByteStream): ByteStream {
  const meter = new ByteMeter(limits, where);
  return meter.watch(through(meter.input(stream)));
}

/** The name says zlib; some servers send the bare deflate stream. (RFC 9110, 8.4.1.2) */
async function* inflate(stream: ByteStream, where: string): ByteStream {
  const { first, rest } = await peek(stream[Symbol.asyncIterator](), 2);
  const isWrapped = first.byteLength >= 2 && ((first[0] ?? 0) & 0x0f) === 8 && (((first[0] ?? 0) << 8) | (first[1] ?? 0)) % 31 === 0;
  const codec = isWrapped ? createInflate({ chunkSize: chunkBytes }) : createInflateRaw({ chunkSize: chunkBytes });
  yield* decode(rest, codec, 'deflate', where);
}

/** The first bytes, fewer at the end, and all of it once more. */
async function peek(chunks: AsyncIterator<Uint8Array>, count: number): Promise<{ first: Buffer; rest: ByteStream }> {
  let first = Buffer.alloc(0);
  while (first.byteLength < count) {
    const step = await chunks.next();
    if (step.done === true) break;
    first = Buffer.concat([first, step.value]);
  }
  async function* rest(): ByteStream {
    try {
      yield first;
      yield* { [Symbol.asyncIterator]: () => chunks };
    } finally {
      await chunks.return?.();
    }
  }
  return { first, rest: rest() };
}

/** What the codec itself says becomes an error of ours; what fails below it passes unchanged. */
async function* decode(stream: ByteStream, codec: Codec, name: string, where: string): ByteStream {
  try {
    yield* throughCodec(stream, codec, () => badEncoding(where, `there are other bytes after the end of its ${name} stream`));
  } catch (error) {
    throw isCodecError(error) ? badEncoding(where, `its ${name} stream is malformed or cut off (${error.message})`) : error;
  }
}

/** Codes of zlib begin with Z_; those of brotli have an errno too, but no call of the system that failed. */
function isCodecError(error: unknown): error is Error {
  if (!(error instanceof Error) || isToolkitError(error)) return false;
  const { code, errno, syscall } = error as { code?: unknown; errno?: unknown; syscall?: unknown };
  return String(code).startsWith('Z_') || (typeof errno === 'number' && syscall === undefined);
}
