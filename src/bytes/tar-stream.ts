import { type ByteCounters, type ByteStream, createError, type FileContent, type MemberStream, type TarMember } from '../core/index.js';
import { paddingOf } from './tar-header.js';
import { contentSize, tarEndBytes, tarHeader } from './tar-write.js';
import { chunkBytes } from './streams.js';
import { fromWholeFile, readWholeFile } from './whole-file.js';

/** Files up to this size are read between the headers at once. */
const smallFileBytes = chunkBytes / 4;

/** The bytes of an archive of these members: exactly `tarSize(members)` of them. */
export async function* openTar(members: readonly TarMember[], counters?: ByteCounters): ByteStream {
  for (const piece of tarPieces(members, counters)) {
    if (piece instanceof Uint8Array) yield piece;
    else yield* piece.kind === 'file' ? fromWholeFile(piece, counters) : exactly(await piece.open(), piece.size);
  }
}

/** Headers, padding and small files gathered in one buffer; what is larger or comes from elsewhere is handed out to be read. */
function* tarPieces(members: readonly TarMember[], counters?: ByteCounters): Generator<Uint8Array | FileContent | MemberStream> {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  let filled = 0;
  for (const member of members) {
    const header = tarHeader(member);
    const { content } = member;
    const size = contentSize(member);
    const small = content.kind === 'file' && size <= smallFileBytes;
    const room = header.length + (small ? size : 0) + paddingOf(size);
    if (filled + room > buffer.length) {
      yield buffer.subarray(0, filled);
      filled = 0;
    }
    filled += header.copy(buffer, filled);
    if (content.kind === 'file' && small) {
      readWholeFile(content, buffer, filled);
      if (counters !== undefined) counters.read += size;
      filled += size;
    } else if (content.kind !== 'directory') {
      yield buffer.subarray(0, filled);
      filled = 0;
      yield content;
    }
    buffer.fill(0, filled, (filled += paddingOf(size)));
  }
  if (filled + tarEndBytes > buffer.length) {
    yield buffer.subarray(0, filled);
    filled = 0;
  }
  buffer.fill(0, filled, (filled += tarEndBytes));
  yield buffer.subarray(0, filled);
}

/** The stream itself, which has to be as long as was said: a header with its size is out already. */
export async function* exactly(stream: ByteStream, size: number): ByteStream {
  let found = 0;
  for await (const chunk of stream) {
    found += chunk.byteLength;
    if (found > size) break;
    yield chunk;
  }
  if (found !== size) {
    throw createError('bytes/size-mismatch', {
      message: `Cannot use the bytes of a stream: expected ${size}, found ${found > size ? 'more' : found}`,
    });
  }
}
