import { openPart, verified } from '../bytes/index.js';
import type { ByteStream, Part } from '../core/index.js';

/**
 * The bytes of a part such that its end proves them: a blob is verified by its store; of a slice the whole layer is read and hashed and
 * only the slice handed on, since a slice alone has no digest.
 */
export async function openVerified(part: Part): Promise<ByteStream> {
  const { content } = part;
  if (content.kind === 'slice') return cut(await content.blobs.open(content.descriptor), content.offset, part.size);
  // A blob is verified by its store already.
  if (content.kind !== 'blob' && part.digest !== undefined)
    return verified(await openPart(content), { digest: part.digest, size: part.size }, part.path);
  return openPart(content);
}

async function* cut(stream: ByteStream, offset: number, size: number): ByteStream {
  let position = 0;
  for await (const chunk of stream) {
    const from = Math.max(0, offset - position);
    const to = Math.min(chunk.byteLength, offset + size - position);
    if (from < to || chunk.byteLength === 0) yield chunk.subarray(from, to);
    position += chunk.byteLength;
  }
}
