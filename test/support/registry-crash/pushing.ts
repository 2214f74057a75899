import type { Blob, Ledger, Manifest, OpenUpload } from './ledger.js';
import { type Answer, assertStatus, type Wire } from './wire.js';

export const pushStyles = ['single post', 'post and put', 'chunked', 'chunked, the last in the put', 'streamed'] as const;
export type PushStyle = (typeof pushStyles)[number];

const uploadsOf = (repository: string): string => `/v2/${repository}/blobs/uploads/`;

/** Resolves once the blob has been acknowledged. An upload that breaks stays in the ledger. */
export async function pushBlob(wire: Wire, ledger: Ledger, blob: Blob, style: PushStyle): Promise<void> {
  const { digest, bytes } = blob;
  if (style === 'single post') {
    const answer = await wire.ask('POST', `${uploadsOf(ledger.repository)}?digest=${digest}`, { body: bytes });
    return assertStatus(answer, 201);
  }
  const upload = await beginUpload(wire, ledger, blob);
  const half = Math.ceil(bytes.byteLength / 2);
  switch (style) {
    case 'post and put':
      return finishUpload(wire, ledger, upload, bytes);
    case 'chunked':
      await sendPiece(wire, upload, 0, half);
      await sendPiece(wire, upload, half, bytes.byteLength);
      return finishUpload(wire, ledger, upload);
    case 'chunked, the last in the put':
      await sendPiece(wire, upload, 0, half);
      return finishUpload(wire, ledger, upload, bytes.subarray(half));
    case 'streamed':
      upload.sent = bytes.byteLength;
      assertStatus(await wire.ask('PATCH', upload.location, { body: bytes, streamed: true }), 202);
      upload.acknowledged = bytes.byteLength;
      return finishUpload(wire, ledger, upload);
  }
}

export async function beginUpload(wire: Wire, ledger: Ledger, blob: Blob): Promise<OpenUpload> {
  const begun = await wire.ask('POST', uploadsOf(ledger.repository));
  assertStatus(begun, 202);
  const upload: OpenUpload = { location: begun.headers.location ?? '', blob, acknowledged: 0, sent: 0, isEnding: false };
  ledger.uploads.add(upload);
  return upload;
}

/** Both ends included. (distribution-spec 1.1, Pushing a blob in chunks) */
export function toPiece({ bytes }: Blob, start: number, end: number): { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer } {
  return { headers: { 'content-range': `${start}-${end - 1}` }, body: bytes.subarray(start, end) };
}

export async function sendPiece(wire: Wire, upload: OpenUpload, start: number, end: number): Promise<void> {
  upload.sent = Math.max(upload.sent, end);
  const sent = await wire.ask('PATCH', upload.location, toPiece(upload.blob, start, end));
  assertStatus(sent, 202);
  if (sent.headers.range !== `0-${end - 1}`) throw new Error(`${sent.asked} ended at ${end} and was answered with ${sent.headers.range}`);
  upload.acknowledged = end;
}

export async function finishUpload(wire: Wire, ledger: Ledger, upload: OpenUpload, rest: Uint8Array = new Uint8Array(0)): Promise<void> {
  upload.isEnding = true;
  upload.sent = upload.blob.bytes.byteLength;
  assertStatus(await wire.ask('PUT', `${upload.location}?digest=${upload.blob.digest}`, { body: rest }), 201);
  ledger.uploads.delete(upload);
}

/** How many bytes the registry says it has; undefined when there is no such upload. */
export async function askSize(wire: Wire, { location }: OpenUpload): Promise<number | undefined> {
  const said = await wire.ask('GET', location);
  assertStatus(said, 204, 404);
  return said.status === 404 ? undefined : sizeOf(said);
}

/** No bytes are told as `0-0`; no piece here is one byte long. */
function sizeOf({ asked, headers }: Answer): number {
  const [, last] = /^0-(\d+)$/.exec(headers.range ?? '') ?? [];
  if (last === undefined) throw new Error(`${asked} was answered with the range ${headers.range}`);
  return last === '0' ? 0 : Number(last) + 1;
}

const attempts = 10;

/**
 * Goes on from `size`, and resolves once the blob has been acknowledged. The last piece that a client had sent before it was gone may come after those
 * of who goes on: then that one is told how many bytes there are (416), or to ask (409).
 */
export async function resumeUpload(wire: Wire, ledger: Ledger, upload: OpenUpload, size: number): Promise<void> {
  const { bytes } = upload.blob;
  for (let attempt = 1, start = size; start < bytes.byteLength; attempt++) {
    upload.sent = bytes.byteLength;
    const sent = await wire.ask('PATCH', upload.location, toPiece(upload.blob, start, bytes.byteLength));
    assertStatus(sent, 202, ...(attempt < attempts ? [409, 416] : []));
    start = sent.status === 409 ? ((await askSize(wire, upload)) ?? 0) : sizeOf(sent);
    upload.acknowledged = start;
  }
  await finishUpload(wire, ledger, upload);
}

/** Under a tag or its digest, and with more tags. (distribution-spec main, end-7b) */
export async function putManifest(
  wire: Wire,
  repository: string,
  { digest, bytes, mediaType }: Manifest,
  reference: string,
  tags: readonly string[] = [],
) {
  const query = tags.length === 0 ? '' : `?${tags.map((tag) => `tag=${tag}`).join('&')}`;
  const answer = await wire.ask('PUT', `/v2/${repository}/manifests/${reference}${query}`, { headers: { 'content-type': mediaType }, body: bytes });
  assertStatus(answer, 201);
  if (answer.headers['docker-content-digest'] !== digest) throw new Error(`${answer.asked} was answered with another digest than ${digest}`);
}
