import { collect, digestOf, openContent, sizeMismatch, sizeOfContent } from '../../bytes/index.js';
import type { BlobContent, ByteCounters, DigestCache, KnownDigest, PutOptions, StoredBlob } from '../../core/index.js';
import { hasBlob } from './blob-head.js';
import type { BlobPlaces } from './blob-places.js';
import type { Connection } from './connection.js';
import { toReach } from './outgoing-content.js';
import { uploadBlob } from './upload.js';
import { noJournal, type UploadJournal } from './upload-journal.js';

/** Where a blob goes. */
export interface PushTarget {
  readonly connection: Connection;
  readonly repository: string;
  readonly counters: ByteCounters;
  readonly journal: UploadJournal;
  readonly digests?: DigestCache | undefined;
  /** Another repository of the same registry that may have it; absent: the one that is remembered. */
  readonly mountFrom?: string | undefined;
  readonly places: BlobPlaces;
  readonly signal?: AbortSignal | undefined;
}

/** Content whose digest is known, and its bytes where they are in memory. */
interface KnownContent extends KnownDigest {
  readonly held?: BlobContent;
}

/** Small enough to be held: read, hashed and asked for before it is sent. */
const heldBytes = 1024 * 1024;

/** Sends a blob unless the registry has it, which is asked where the digest is known or costs next to nothing. */
export async function pushBlob(target: PushTarget, content: BlobContent, options: PutOptions): Promise<StoredBlob> {
  const stored = await sendBlob(target, content, options);
  target.places.note(target.connection.address.host, stored.digest, target.repository);
  return stored;
}

async function sendBlob(target: PushTarget, given: BlobContent, { expected, progress }: PutOptions): Promise<StoredBlob> {
  const { connection, repository, counters, digests, journal, signal } = target;
  const content = expected === undefined ? given : heldToSize(given, expected.size);
  const identity = digests?.identify(content);
  const remembered = expected ?? (identity === undefined ? undefined : digests?.find(identity));
  const known: KnownContent | undefined = remembered ?? (await hold(content, counters));
  if (known !== undefined && (await hasBlob(connection, repository, known, signal))) {
    counters.skipped += known.size;
    return { ...pick(known), fresh: false };
  }
  const key = known?.digest ?? identity;
  const { mounted, ...blob } = await (key === undefined ? noJournal : journal).withEntry(
    `${connection.address.host}\n${repository}\n${key ?? ''}`,
    (entry) =>
      uploadBlob({
        connection,
        repository,
        content: known?.held ?? content,
        known: known === undefined ? undefined : pick(known),
        mountFrom: findMount(target, known),
        journal: entry,
        counters,
        reach: toReach(progress),
        signal,
      }),
  );
  if (mounted) counters.skipped += blob.size;
  const diffId = blob.diffId ?? known?.diffId ?? (content.kind === 'tar' && content.compression === 'none' ? blob.digest : undefined);
  const stored = { ...blob, ...(diffId === undefined ? {} : { diffId }), fresh: !mounted };
  if (identity !== undefined) await digests?.remember(identity, content, stored);
  return stored;
}

function findMount({ connection, repository, mountFrom, places }: PushTarget, known: KnownDigest | undefined): string | undefined {
  const found = mountFrom ?? (known === undefined ? undefined : places.find(connection.address.host, known.digest));
  return found === repository ? undefined : found;
}

/** Content that is as long as was promised, or says that it is not before its last byte is out. */
function heldToSize(content: BlobContent, size: number): BlobContent {
  if (content.kind === 'tar' && content.compression !== 'none') return content;
  const found = sizeOfContent(content);
  if (found === undefined && content.kind === 'stream') return { ...content, size };
  if (found !== undefined && found !== size) throw sizeMismatch('what is to be sent', size, String(found));
  return content;
}

/** What is small is read once into memory: it may be there already, and asking is cheaper than sending. */
async function hold(content: BlobContent, counters: ByteCounters): Promise<KnownContent | undefined> {
  if (content.kind !== 'bytes' && !(content.kind === 'file' && content.size <= heldBytes)) return undefined;
  const bytes = content.kind === 'bytes' ? content.bytes : await collect(openContent(content, { counters }), heldBytes, content.path);
  counters.hashed += bytes.byteLength;
  return { digest: digestOf(bytes), size: bytes.byteLength, held: { kind: 'bytes', bytes } };
}

function pick({ digest, size, diffId }: KnownDigest): KnownDigest {
  return { digest, size, ...(diffId === undefined ? {} : { diffId }) };
}
