import {
  type ByteStream,
  type Digest,
  digestAlgorithms,
  type DigestAlgorithm,
  isRepository,
  parseDigest,
  splitDigest,
  type Upload,
} from '../../core/index.js';
import { emptyAnswer } from './answers.js';
import { findBlob, findBlobAnywhere } from './blobs.js';
import { parsePieceRange } from './byte-range.js';
import type { RegistryRequest, RegistryResponse } from './http.js';
import { Refusal } from './refusal.js';
import type { Ask, RegistryRoom } from './room.js';
import type { Guard } from './upload-desk.js';

type UploadRoute =
  | { readonly kind: 'uploads'; readonly repository: string }
  | { readonly kind: 'upload'; readonly repository: string; readonly id: string };

/** (distribution-spec 1.1 and main, end-4 to end-6, end-11, end-13, end-14) */
export function answerUpload(room: RegistryRoom, ask: Ask, route: UploadRoute): Promise<RegistryResponse> {
  if (route.kind === 'uploads') return begin(room, ask, route.repository);
  switch (ask.request.method) {
    case 'GET':
      return say(room, ask, route);
    case 'DELETE':
      return cancel(room, ask, route);
    default:
      return goOn(room, ask, route);
  }
}

type KnownUpload = Extract<UploadRoute, { kind: 'upload' }>;

async function begin(room: RegistryRoom, ask: Ask, repository: string): Promise<RegistryResponse> {
  const { request, query } = ask;
  const mount = query.get('mount');
  if (mount !== null && (await isMounted(room, repository, parseDigest(mount), query.get('from'))))
    return created(ask, repository, parseDigest(mount));
  if (room.store.countUploads() >= room.rules.mostUploads) {
    throw new Refusal(429, 'TOOMANYREQUESTS', `${room.rules.mostUploads} uploads have begun and are not finished`, {
      headers: { 'Retry-After': '60' },
    });
  }
  const text = query.get('digest');
  const digest = text === null || mount !== null ? undefined : parseDigest(text);
  const upload = await room.store.beginUpload(repository, toAlgorithm(digest, query.get('digest-algorithm')));
  if (digest === undefined) return accepted(ask, upload, { 'OCI-Chunk-Min-Length': String(room.rules.pieceBytes) });
  const answer = await room.desk.work(upload.id, (begun, guard) => receiveWhole(ask, { upload: begun, guard, digest }));
  return answer ?? unknownUpload(request);
}

/** All bytes come with the request: who has to begin again begins with nothing. */
async function receiveWhole(ask: Ask, work: { upload: Upload; guard: Guard; digest: Digest }): Promise<RegistryResponse> {
  try {
    await append(ask.request, work.upload, work.guard);
  } catch (error) {
    await work.upload.cancel();
    throw error;
  }
  return finish(ask, work.upload, work.digest);
}

/** Without `from` it may lie in any repository. False: it has to be sent, as a mount is never refused. */
async function isMounted(room: RegistryRoom, repository: string, digest: Digest, from: string | null): Promise<boolean> {
  if (from !== null && !isRepository(from)) return false;
  const found = from === null ? await findBlobAnywhere(room, digest) : await findBlob(room, from, digest);
  if (found === undefined || !room.store.touch(digest)) return false;
  await room.store.claim(repository, digest);
  return true;
}

function toAlgorithm(digest: Digest | undefined, asked: string | null): DigestAlgorithm {
  if (digest !== undefined) return splitDigest(digest).algorithm;
  if (asked === null || Object.hasOwn(digestAlgorithms, asked)) return (asked ?? 'sha256') as DigestAlgorithm;
  const known = Object.keys(digestAlgorithms);
  throw new Refusal(400, 'DIGEST_INVALID', `Digests are made by ${known.join(' or ')} here`, { detail: { algorithm: asked.slice(0, 100), known } });
}

async function say(room: RegistryRoom, ask: Ask, route: KnownUpload): Promise<RegistryResponse> {
  const upload = await room.store.findUpload(route.id);
  if (upload === undefined || upload.repository !== route.repository) return unknownUpload(ask.request);
  return emptyAnswer(204, placeOf(upload), ask.subject);
}

async function cancel(room: RegistryRoom, ask: Ask, route: KnownUpload): Promise<RegistryResponse> {
  const answer = await room.desk.work(route.id, async (upload) => {
    if (upload.repository !== route.repository) return undefined;
    await upload.cancel();
    return emptyAnswer(204, {}, ask.subject);
  });
  return answer ?? unknownUpload(ask.request);
}

/** PATCH adds bytes; PUT may add the last ones, and names the whole. */
async function goOn(room: RegistryRoom, ask: Ask, route: KnownUpload): Promise<RegistryResponse> {
  const text = ask.query.get('digest');
  if (ask.request.method === 'PUT' && text === null) {
    throw new Refusal(400, 'DIGEST_INVALID', 'An upload is finished with ?digest= and the digest of all its bytes');
  }
  const digest = ask.request.method === 'PUT' && text !== null ? parseDigest(text) : undefined;
  await refuseLate(room, ask, route);
  const answer = await room.desk.work(route.id, async (upload, guard) => {
    if (upload.repository !== route.repository) return undefined;
    await append(ask.request, upload, guard);
    return digest === undefined ? accepted(ask, upload, {}) : finish(ask, upload, digest);
  });
  return answer ?? unknownUpload(ask.request);
}

/** A piece that was sent before its client gave up, and comes after the one with which it went on, must not stop that. */
async function refuseLate({ store }: RegistryRoom, { request }: Ask, { id, repository }: KnownUpload): Promise<void> {
  const range = parsePieceRange(request.headers['content-range'] ?? '');
  const upload = range === undefined ? undefined : await store.findUpload(id);
  if (range !== undefined && upload?.repository === repository && range.start < upload.size) throw outOfOrder(upload, range.start);
}

function outOfOrder(upload: Upload, start: number): Refusal {
  return new Refusal(416, 'BLOB_UPLOAD_INVALID', `The next byte is ${upload.size}, not ${start}`, { headers: placeOf(upload) });
}

async function append(request: RegistryRequest, upload: Upload, guard: Guard): Promise<void> {
  const length = parseLength(request.headers['content-length']);
  const field = request.headers['content-range'];
  const stream = guard(request.body);
  if (field === undefined) return length === 0 ? undefined : upload.append(stream, length);
  const range = parsePieceRange(field);
  if (range === undefined) throw new Refusal(400, 'BLOB_UPLOAD_INVALID', 'Content-Range is FIRST-LAST, both included', { headers: placeOf(upload) });
  if (range.start !== upload.size) throw outOfOrder(upload, range.start);
  const promised = range.end - range.start;
  if (length !== undefined && length !== promised) {
    throw new Refusal(400, 'SIZE_INVALID', `Content-Range promises ${promised} bytes, Content-Length ${length}`, { headers: placeOf(upload) });
  }
  await upload.append(atMost(stream, promised), promised);
  if (upload.size !== range.end)
    throw new Refusal(400, 'SIZE_INVALID', `Content-Range promised ${promised} bytes, ${upload.size - range.start} came`);
}

function parseLength(field: string | undefined): number | undefined {
  return field === undefined ? undefined : Number(field);
}

async function* atMost(stream: ByteStream, promised: number): ByteStream {
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > promised) throw new Refusal(400, 'SIZE_INVALID', `Content-Range promised ${promised} bytes, more came`);
    yield chunk;
  }
}

async function finish(ask: Ask, upload: Upload, digest: Digest): Promise<RegistryResponse> {
  const { repository } = upload;
  await upload.finish(digest);
  return created(ask, repository, digest);
}

function created({ subject }: Ask, repository: string, digest: Digest): RegistryResponse {
  return emptyAnswer(201, { Location: `/v2/${repository}/blobs/${digest}`, 'Docker-Content-Digest': digest }, subject);
}

function accepted({ subject }: Ask, upload: Upload, headers: Readonly<Record<string, string>>): RegistryResponse {
  return emptyAnswer(202, { ...placeOf(upload), ...headers }, subject);
}

/** An upload without bytes says `0-0`, as there is no way to say nothing. */
function placeOf({ id, repository, size }: Upload): Readonly<Record<string, string>> {
  return { Location: `/v2/${repository}/blobs/uploads/${id}`, Range: `0-${Math.max(0, size - 1)}`, 'Docker-Upload-UUID': id };
}

function unknownUpload({ target }: RegistryRequest): never {
  const id = target.replace(/\?.*$/, '').split('/').at(-1)?.slice(0, 100);
  throw new Refusal(404, 'BLOB_UPLOAD_UNKNOWN', 'There is no such upload: it was finished, cancelled, or nobody went on with it for too long', {
    detail: { id },
  });
}
