import { buildBlob, openContent, sizeOfContent } from '../../bytes/index.js';
import { type BlobContent, type ByteCounters, createError, type Digest, isToolkitError, type KnownDigest } from '../../core/index.js';
import { hasBlob, type NamedBlob } from './blob-head.js';
import type { Connection } from './connection.js';
import { OutgoingContent, type Reach } from './outgoing-content.js';
import { PieceSending } from './piece-sending.js';
import { isPassingError, toDelay, wait } from '../../http/index.js';
import type { JournalEntry } from './upload-journal.js';
import { UploadSession, type UploadState } from './upload-session.js';

export interface Upload {
  readonly connection: Connection;
  readonly repository: string;
  readonly content: BlobContent;
  /** Absent: its digest is computed while the bytes go out. */
  readonly known?: KnownDigest | undefined;
  /** Another repository of the same registry that may have the blob. */
  readonly mountFrom?: string | undefined;
  readonly journal: JournalEntry;
  readonly counters: ByteCounters;
  readonly reach: Reach;
  readonly signal?: AbortSignal | undefined;
}

export interface Uploaded extends KnownDigest {
  /** The registry had it, in another repository. */
  readonly mounted: boolean;
}

/** Sends one blob. What was confirmed by the registry is not sent again, in this run or, through the journal, in the next one. */
export async function uploadBlob(upload: Upload): Promise<Uploaded> {
  const { connection, known } = upload;
  const size = known?.size ?? findSize(upload.content);
  assertTaken(upload, size);
  const { upload: way, chunkBytes } = connection.address.quirks;
  if (way === 'monolithic') return sendWhole(upload);
  if (size === undefined) return sendStreamed(upload);
  return known !== undefined && size <= chunkBytes ? sendWhole(upload) : sendPieces(upload, size);
}

/** Undefined for what is only known once it was made. */
function findSize(content: BlobContent): number | undefined {
  return content.kind === 'tar' && content.compression !== 'none' ? undefined : sizeOfContent(content);
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

function toSession({ connection, repository, signal }: Upload, digest?: Digest): UploadSession {
  return new UploadSession(connection, repository, digest === undefined ? 'a blob' : `the blob ${digest}`, signal);
}

/** In one request; its digest has to be known before, or costs a reading of its own. */
async function sendWhole(upload: Upload): Promise<Uploaded> {
  const { content, counters, signal, reach } = upload;
  const blob: KnownDigest = upload.known ?? (await buildBlob(content, undefined, { counters, signal }));
  const { digest, size } = blob;
  const session = toSession(upload, digest);
  const outgoing = new OutgoingContent(content, size, false, counters, reach);
  const send = async (state: UploadState) => {
    const isEnded = await session.finish(state.location, digest, { size, open: async () => outgoing.take(0, size) });
    await assertArrived(upload, isEnded, blob);
    await outgoing.finish();
  };
  try {
    return await attempts(
      upload,
      () => session.begin(digest, upload.mountFrom),
      async (begun) => {
        if (begun.kind === 'begun') await send(begun.state);
        return { ...blob, mounted: begun.kind === 'mounted' };
      },
    );
  } finally {
    await outgoing.close();
  }
}

/** Of unknown length: one request without a length. It cannot go on where it stopped, only begin anew. */
async function sendStreamed(upload: Upload): Promise<Uploaded> {
  const { content, counters, reach } = upload;
  const session = toSession(upload);
  let diffId: Digest | undefined;
  const open = async () => openContent(content, { counters, ...(content.kind === 'tar' ? { onDiffId: (found: Digest) => (diffId = found) } : {}) });
  const outgoing = new OutgoingContent({ kind: 'stream', open }, Number.MAX_SAFE_INTEGER, true, counters, reach);
  const send = async (state: UploadState) => {
    const sent = await session.sendPiece(state, { open: async () => outgoing.take(0, Number.MAX_SAFE_INTEGER) });
    if ('kind' in sent && sent.status === 404) throw lost(upload, 'a blob');
    const digest = 'kind' in sent ? undefined : await outgoing.finish();
    if ('kind' in sent || digest === undefined) return undefined;
    const blob = { digest, size: outgoing.length };
    await assertArrived(upload, await session.finish(sent.location, digest), blob);
    return { ...blob, mounted: false, ...(diffId === undefined ? {} : { diffId }) };
  };
  try {
    return (await attempts(upload, () => session.start(), send)) ?? (await sendWhole(upload));
  } finally {
    await outgoing.close();
  }
}

/** Piece by piece; after each the registry says what it has, which is written down. */
async function sendPieces(upload: Upload, size: number): Promise<Uploaded> {
  const { content, counters, reach, journal, known } = upload;
  const grace = startGrace(upload.signal);
  const session = toSession({ ...upload, signal: grace.signal }, known?.digest);
  const outgoing = new OutgoingContent(content, size, known === undefined, counters, reach);
  try {
    const kept = await findKept(session, journal, size);
    const begun = kept ?? (await session.begin(known?.digest, upload.mountFrom));
    if (begun.kind === 'mounted') return { digest: begun.digest, size, mounted: true };
    await outgoing.pass(begun.state.offset);
    const last = await new PieceSending(upload, session, outgoing, size).run(begun.state);
    if (last === undefined) return await sendWhole(upload);
    const digest = (await outgoing.finish()) ?? known?.digest;
    if (digest === undefined) throw createError('core/bug', { message: 'Cannot happen: a blob was sent without a digest' });
    const isRight = await finishPieces(upload, session, last, { digest, size }, kept !== undefined);
    return isRight ? { digest, size, mounted: false } : await sendPieces(upload, size);
  } finally {
    grace.end();
    await outgoing.close();
  }
}

/**
 * What a piece that is under way has left when the work is cancelled, in milliseconds: a registry that lost one in its middle may refuse to
 * go on with the whole blob, as Docker's does.
 */
const graceMs = 3000;

interface Grace {
  readonly signal: AbortSignal | undefined;
  /** The upload is over: nobody listens any more. */
  end(): void;
}

function startGrace(signal: AbortSignal | undefined): Grace {
  const late = new AbortController();
  const abort = () => void setTimeout(() => late.abort(signal?.reason), graceMs).unref();
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return { signal: signal === undefined ? undefined : late.signal, end: () => signal?.removeEventListener('abort', abort) };
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

/** The end of an upload. False when what an earlier run had sent turns out to be wrong; then all of it is to be sent. */
async function finishPieces(upload: Upload, session: UploadSession, state: UploadState, blob: NamedBlob, wasKept: boolean): Promise<boolean> {
  const { journal } = upload;
  try {
    await assertArrived(upload, await session.finish(state.location, blob.digest), blob);
    journal.forget();
    return true;
  } catch (error) {
    if (isToolkitError(error) && error.exitCode === 1) journal.forget();
    if (wasKept && isToolkitError(error, 'bytes/digest-mismatch')) return false;
    throw error;
  }
}

/** An upload that the registry does not know any more was ended by a try whose answer never came, or it is gone. */
async function assertArrived(upload: Upload, isEnded: boolean, blob: NamedBlob): Promise<void> {
  const { connection, repository, signal } = upload;
  if (isEnded || (await hasBlob(connection, repository, blob, signal))) return;
  throw lost(upload, `the blob ${blob.digest}`);
}

function lost({ connection: { address }, repository }: Upload, what: string): Error {
  return createError('registry/interrupted', {
    message: `Cannot push ${what} to "${address.host}/${repository}": the registry knows nothing of the upload any more`,
    hint: 'Run the same command again',
    where: address.host,
  });
}

/** Sends what was begun, and begins anew where it breaks. */
async function attempts<B, T>({ connection: { retry }, signal }: Upload, begin: () => Promise<B>, send: (begun: B) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const begun = await begin();
    try {
      return await send(begun);
    } catch (error) {
      if (attempt >= retry.attempts || !isPassingError(error, true)) throw error;
      await wait(toDelay(attempt + 1, retry), signal);
    }
  }
}
