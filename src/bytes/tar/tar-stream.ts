import { type ByteCounters, type ByteStream, createError, type FileContent, type MemberStream, type TarMember } from '../../core/index.js';
import { paddingOf } from './tar-header.js';
import { allocateRing, type BufferRing, lastChunk } from '../threads/stream-hash.js';
import { chunkBytes } from '../streams.js';
import { contentSize, tarEndBytes, tarHeader, tarSize } from './tar-write.js';
import { fromWholeFile, WholeFile } from '../whole-file.js';

/** Files up to this size are read between the headers; for larger ones reading ahead is worth two buffers of their own. */
const smallFileBytes = 16 * chunkBytes;

/** The bytes of an archive of these members: exactly `tarSize(members)` of them. */
export async function* openTar(members: readonly TarMember[], counters?: ByteCounters): ByteStream {
  for (const piece of tarPieces(members, counters)) {
    if (piece instanceof Uint8Array) yield piece;
    else yield* piece.kind === 'file' ? fromWholeFile(piece, counters) : exactly(await piece.open(), piece.size);
  }
}

/** Headers, padding and small files gathered in one buffer; what is larger or comes from elsewhere is handed out to be read. */
function* tarPieces(members: readonly TarMember[], counters?: ByteCounters): Generator<Uint8Array | FileContent | MemberStream> {
  const page = new Page(tarSize(members));
  let isDone = false;
  try {
    for (const member of members) yield* putMember(page, member, counters);
    yield* put(page, zeros);
    yield* turn(page);
    yield lastChunk;
    isDone = true;
  } finally {
    page.end(isDone);
  }
}

function* putMember(page: Page, member: TarMember, counters?: ByteCounters): Generator<Uint8Array | FileContent | MemberStream> {
  const { content } = member;
  yield* put(page, tarHeader(member));
  if (content.kind === 'file' && content.size <= smallFileBytes) {
    yield* putFile(page, content);
    if (counters !== undefined) counters.read += content.size;
  } else if (content.kind !== 'directory') {
    yield* turn(page);
    yield content;
  }
  yield* put(page, zeros.subarray(0, paddingOf(contentSize(member))));
}

/** The part of an archive that is being gathered. */
class Page {
  readonly #ring: BufferRing;
  buffer: Buffer;
  filled = 0;

  constructor(archiveBytes: number) {
    this.#ring = allocateRing(chunkBytes, archiveBytes);
    this.buffer = this.#ring.next();
  }

  end(isDone: boolean): void {
    this.#ring.end(isDone);
  }

  /** What has been gathered; from then on the next buffer is filled. */
  turn(): Uint8Array {
    const gathered = this.buffer.subarray(0, this.filled);
    this.buffer = this.#ring.next();
    this.filled = 0;
    return gathered;
  }
}

const zeros = Buffer.alloc(tarEndBytes);

function* turn(page: Page): Generator<Uint8Array> {
  if (page.filled > 0) yield page.turn();
}

/** `bytes` are fewer than a page. */
function* put(page: Page, bytes: Buffer): Generator<Uint8Array> {
  if (page.filled + bytes.length > page.buffer.length) yield* turn(page);
  page.filled += bytes.copy(page.buffer, page.filled);
}

function* putFile(page: Page, content: FileContent): Generator<Uint8Array> {
  const file = WholeFile.open(content);
  try {
    for (let left = content.size; left > 0;) {
      if (page.filled === page.buffer.length) yield* turn(page);
      const count = Math.min(left, page.buffer.length - page.filled);
      file.read(page.buffer, page.filled, count);
      page.filled += count;
      left -= count;
    }
  } finally {
    file.close();
  }
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
