import { type Exchange } from './exchange.js';
import { type RegistryRoom, toDigestHeader } from './registry-room.js';
import { sendBlob } from './send-blob.js';

/** GET, HEAD and DELETE of a blob. */
export async function answerBlob(exchange: Exchange, room: RegistryRoom, repository: string, digest: string): Promise<void> {
  const { behaviour, entry } = exchange;
  const blob = room.blobs.find(repository, digest);
  if (entry.method === 'DELETE' && behaviour.deletes === false) return exchange.fail(405, 'UNSUPPORTED', 'deleting is disabled');
  if (blob === undefined) return exchange.fail(404, 'BLOB_UNKNOWN', 'blob unknown to registry');
  if (entry.method === 'DELETE') {
    room.blobs.remove(repository, digest);
    return exchange.answer(202);
  }
  if (behaviour.blobRedirect === 'none') return sendBlob(exchange, digest, blob, toDigestHeader(exchange, digest));
  const location = behaviour.blobRedirect === 'storage' ? room.storageUrl(digest) : behaviour.blobRedirect(digest);
  exchange.answer(307, { location, ...toDigestHeader(exchange, digest) });
}
