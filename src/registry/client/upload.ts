import { buildBlob, openContent, sizeOfContent } from '../../bytes/index.js';
import { type BlobContent, type ByteCounters, createError, type Digest, isToolkitError, type ProgressItem } from '../../core/index.js';
import type { Connection } from './connection.js';
import { OutgoingContent } from './outgoing-content.js';
import { isPassingError, toDelay, wait } from './retry.js';
import type { JournalEntry } from './upload-journal.js';
import { UploadSession, type UploadState } from './upload-session.js';

export interface Upload {
  readonly connection: Connection;
  readonly repository: string;
  readonly content: BlobContent;
  /** Absent: it is computed while the bytes go out. */
  readonly digest?: Digest | undefined;
  /** Another repository of the same registry that may have the blob. */
  readonly mountFrom?: string | undefined;
  readonly journal: JournalEntry;
  readonly counters: ByteCounters;
  readonly progress?: ProgressItem | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Uploaded {
  readonly digest: Digest;
  readonly size: number;
  readonly diffId?: Digest;
  /** The registry had it, in another repository. */
  readonly mounted: boolean;
}

/** Sends one blob. What was confirmed by the registry is not sent again, in this run or, through the journal, in the next one. */
export async function uploadBlob(upload: Upload): Promise<Uploaded> {
  const { connection, content, digest } = upload;
  const size = sizeOfContent(content);
  assertTaken(upload, size);
  if (size === undefined || (content.kind === 'tar' && content.compression !== 'none')) return sendStreamed(upload);
  const { upload: way, chunkBytes } = connection.address.quirks;
  if (way === 'monolithic' || (digest !== undefined && size <= chunkBytes)) return sendWhole(upload, size);
  return sendPieces(upload, size);
}

function assertTaken({ connection: { address }, repository }: Upload, size: number | undefined): void {
  const { maxBlobBytes } = address.quirks;
  if (size === undefined || maxBlobBytes === undefined || size <= maxBlobBytes) return;
  throw createError('registry/refused', {
    message: `Cannot push to "${address.host}/${repository}": a blob of ${size} bytes is larger than the ${maxBlobBytes} that this registry takes`,
    hint: 'Split the weights into shards',
    where: address.host,
  });
}

function toSession({ connection, repository, digest, signal }: Upload): UploadSession {
  return new UploadSession(connection, repository, digest === undefined ? 'a blob' : `the blob ${digest}`, signal);
}

/** In one request; its digest has to be known before, or costs a reading of its own. */
async function sendWhole(upload: Upload, size: number): Promise<Uploaded> {
  const { content, counters, signal, progress } = upload;
  const digest = upload.digest ?? (await buildBlob(content, undefined, { counters, signal })).digest;
  const session = toSession({ ...upload, digest });
  return attempts(upload, async () => {
    const begun = await session.begin(digest, upload.mountFrom);
    if (begun.kind === 'mounted') return { digest, size, mounted: true };
    const outgoing = new OutgoingContent(content, size, false, counters, progress);
    try {
      await session.finish(begun.state.location, digest, { size, open: async () => outgoing.take(0, size) });
      await outgoing.finish();
      return { digest, size, mounted: false };
    } finally {
      await outgoing.close();
    }
  });
}

/** Of unknown length: one request without a length. It cannot go on where it stopped, only begin anew. */
async function sendStreamed(upload: Upload): Promise<Uploaded> {
  const { content, counters, progress } = upload;
  const session = toSession(upload);
  return attempts(upload, async () => {
    const begun = await session.begin(upload.digest, upload.mountFrom);
    let diffId: Digest | undefined;
    const open = () => openContent(content, { counters, ...(content.kind === 'tar' ? { onDiffId: (found: Digest) => (diffId = found) } : {}) });
    if (begun.kind === 'mounted' && upload.digest !== undefined) return { digest: upload.digest, size: sizeOfContent(content) ?? 0, mounted: true };
    const outgoing = new OutgoingContent({ kind: 'stream', open: async () => open() }, Number.MAX_SAFE_INTEGER, true, counters, progress);
    try {
      const state = begun.kind === 'begun' ? begun.state : await restart(session);
      const sent = await session.sendPiece(state, { open: async () => outgoing.take(0, Number.MAX_SAFE_INTEGER) });
      const digest = await outgoing.finish();
      if ('kind' in sent || digest === undefined) throw piecesRefused(upload);
      await session.finish(sent.location, digest);
      return { digest, size: outgoing.length, mounted: false, ...(diffId === undefined ? {} : { diffId }) };
    } finally {
      await outgoing.close();
    }
  });
}

/** Piece by piece; after each the registry says what it has, which is written down. */
async function sendPieces(upload: Upload, size: number): Promise<Uploaded> {
  const { content, counters, progress, journal } = upload;
  const session = toSession(upload);
  const outgoing = new OutgoingContent(content, size, upload.digest === undefined, counters, progress);
  try {
    const begun = (await findKept(session, journal, size)) ?? (await session.begin(upload.digest, upload.mountFrom));
    if (begun.kind === 'mounted' && upload.digest !== undefined) return { digest: upload.digest, size, mounted: true };
    const first = begun.kind === 'begun' ? begun.state : await restart(session);
    await outgoing.pass(first.offset);
    const last = await new PieceSending(upload, session, outgoing, size).run(first);
    if (last === undefined) return await sendWhole(upload, size);
    const digest = (await outgoing.finish()) ?? upload.digest;
    if (digest === undefined) throw createError('core/bug', { message: 'Cannot happen: a blob was sent without a digest' });
    await finishPieces(upload, session, last, digest);
    return { digest, size, mounted: false };
  } finally {
    await outgoing.close();
  }
}

async function findKept(session: UploadSession, journal: JournalEntry, size: number): Promise<{ kind: 'begun'; state: UploadState } | undefined> {
  const kept = journal.find();
  const state = kept === undefined ? undefined : await session.findState(kept.location).catch(noneUnlessCancelled);
  if (state !== undefined && state.offset <= size) return { kind: 'begun', state };
  if (kept !== undefined) journal.forget();
  return undefined;
}

/** An upload that cannot be asked about is as good as gone. */
function noneUnlessCancelled(error: unknown): undefined {
  if (!isToolkitError(error) || ['core/cancelled', 'core/bug', 'registry/login'].includes(error.code)) throw error;
}

async function restart(session: UploadSession): Promise<UploadState> {
  const begun = await session.begin(undefined, undefined);
  if (begun.kind === 'begun') return begun.state;
  throw createError('registry/bad-answer', { message: 'Cannot push: the registry answers a new upload as if it were finished' });
}

/** The end of an upload; wrong bytes in what an earlier run had sent are sent once more. */
async function finishPieces({ journal }: Upload, session: UploadSession, { location }: UploadState, digest: Digest): Promise<void> {
  try {
    await session.finish(location, digest);
    journal.forget();
  } catch (error) {
    if (isToolkitError(error) && error.exitCode === 1) journal.forget();
    throw error;
  }
}

/** The pieces of one blob on their way. */
class PieceSending {
  readonly #upload: Upload;
  readonly #session: UploadSession;
  readonly #outgoing: OutgoingContent;
  readonly #size: number;
  #failures = 0;

  constructor(upload: Upload, session: UploadSession, outgoing: OutgoingContent, size: number) {
    this.#upload = upload;
    this.#session = session;
    this.#outgoing = outgoing;
    this.#size = size;
  }

  /** The state after the last piece; undefined when the registry takes no pieces at all. */
  async run(first: UploadState): Promise<UploadState | undefined> {
    let state = first;
    while (state.offset < this.#size) {
      const next = await this.#send(state);
      if (next === 'no pieces') return undefined;
      if (next.offset > state.offset) this.#failures = 0;
      state = next;
      if (state.offset > 0 && this.#upload.connection.address.quirks.keepsUploads) this.#upload.journal.keep(state);
    }
    return state;
  }

  async #send(state: UploadState): Promise<UploadState | 'no pieces'> {
    const length = Math.min(Math.max(this.#upload.connection.address.quirks.chunkBytes, state.minChunkBytes ?? 0), this.#size - state.offset);
    try {
      const sent = await this.#session.sendPiece(state, { size: length, open: async () => this.#outgoing.take(state.offset, length) });
      if (!('kind' in sent)) return sent;
      if (state.offset === 0 && sent.status !== 404) return 'no pieces';
      return await this.#recover(state, piecesRefused(this.#upload));
    } catch (error) {
      if (!isPassingError(error, true)) throw error;
      return this.#recover(state, error);
    }
  }

  /** What the registry says it has is what counts. (end-13) */
  async #recover(state: UploadState, error: unknown): Promise<UploadState> {
    const { retry } = this.#upload.connection;
    this.#failures += 1;
    if (this.#failures >= retry.attempts) throw error;
    await wait(toDelay(this.#failures + 1, retry), this.#upload.signal);
    const found = await this.#session.findState(state.location);
    if (found !== undefined && found.offset <= this.#size) return { ...state, ...found };
    this.#upload.journal.forget();
    return restart(this.#session);
  }
}

function piecesRefused({ connection: { address }, repository }: Upload): Error {
  return createError('registry/refused', {
    message: `Cannot push to "${address.host}/${repository}": the registry refuses the pieces of a blob`,
    hint: 'Something between here and there may limit the size of requests',
    where: address.host,
  });
}

async function attempts<T>({ connection: { retry }, signal }: Upload, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= retry.attempts || !isPassingError(error, true)) throw error;
      await wait(toDelay(attempt + 1, retry), signal);
    }
  }
}
