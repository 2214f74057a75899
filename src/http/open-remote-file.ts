import { FileRequests } from './file-requests.js';
import { findTail } from './find-tail.js';
import { RangedFile } from './ranged-file.js';
import { copyRemote } from './remote-copy.js';
import type { RemoteFile, RemoteFileOptions } from './remote-file.js';

/**
 * Opens a file at a URL with one request for its last MiB, where archives have their directory; what was read is kept, and pieces that are
 * near each other come together. From a server that gives no parts all of it is copied once, up to `limits.remoteCopyBytes`.
 *
 * Throws `http/unreachable-file`, `http/no-ranges` for a server that answers parts wrongly or has more than is copied, `http/changed` (later too)
 * when the file did not stay the same, `bytes/size-mismatch`. Nothing is verified.
 */
export async function openRemoteFile(url: string, options: RemoteFileOptions): Promise<RemoteFile> {
  const requests = new FileRequests(url, options);
  const found = await findTail(requests);
  if (found.kind === 'part') return RangedFile.open(found, requests);
  return copyRemote(found.response, requests, options);
}
