import { createHash } from 'node:crypto';
import { type Exchange } from './exchange.js';
import { toUrl } from './to-url.js';
import { appendTo, type Upload, UploadStorage } from './upload-storage.js';

/** Uploads, and what is known of each only while the registry runs. */
export class UploadSessions extends UploadStorage {
  readonly #filling = new Map<string, Exchange>();
  readonly #shortChunks = new Set<string>();
  readonly #patched = new Set<string>();

  /**
   * Breaks the connection that is still filling this upload, if any: whoever asks again has given that one up, and bytes of it that trickle
   * in later would stand in the way.
   */
  takeOver(upload: Upload): Upload {
    this.#filling.get(upload.id)?.request.destroy();
    return this.find(upload.repository, upload.id) ?? upload;
  }

  /** Puts the body at the end. False when the connection broke: what had arrived by then stays. */
  async fill(exchange: Exchange, { id, path }: Upload): Promise<boolean> {
    this.#filling.set(id, exchange);
    try {
      return await appendTo(path, (append) => exchange.receive((chunk) => !exchange.request.destroyed && append(chunk)));
    } finally {
      if (this.#filling.get(id) === exchange) this.#filling.delete(id);
    }
  }

  isFirstPatch({ id }: Upload): boolean {
    const isFirst = !this.#patched.has(id);
    this.#patched.add(id);
    return isFirst;
  }

  /** A chunk below the announced length came: it must have been the last. */
  markShort({ id }: Upload): void {
    this.#shortChunks.add(id);
  }

  hadShortChunk({ id }: Upload): boolean {
    return this.#shortChunks.has(id);
  }
}

/** Proves that a location came back with its query. */
export function stateOf(id: string): string {
  return createHash('sha256').update(`state of ${id}`).digest('base64url');
}

/** What every answer about an upload says. */
export function toUploadHeaders(exchange: Exchange, { repository, id, size }: Upload): Readonly<Record<string, string | undefined>> {
  const { behaviour } = exchange;
  const query = behaviour.locationWithQuery ? `?_state=${encodeURIComponent(stateOf(id))}&keep=a%2Fb` : '';
  const path = `/v2/${repository}/blobs/uploads/${id}${query}`;
  const url = behaviour.locationHost === undefined ? toUrl(exchange, path) : `http://${behaviour.locationHost}${path}`;
  const empty = behaviour.emptyRange === 'absent' ? undefined : behaviour.emptyRange;
  return {
    location: behaviour.relativeLocation ? path : url,
    range: size === 0 ? empty : `0-${size - 1}`,
    'docker-upload-uuid': id,
  };
}
