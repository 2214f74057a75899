import { isSoundDigest } from './digests.js';
import { type Exchange } from './exchange.js';
import { isAllowed } from './registry-auth.js';
import { type RegistryRoom, toDigestHeader } from './registry-room.js';
import { toUrl } from './to-url.js';
import { stateOf, toUploadHeaders } from './upload-sessions.js';
import { type Upload } from './upload-storage.js';

const largeChunk = 4 * 1024 * 1024;

/** POST: mounts a blob, takes one whole, or begins an upload. */
export async function beginUpload(exchange: Exchange, room: RegistryRoom, repository: string): Promise<void> {
  const { behaviour, entry } = exchange;
  const algorithm = entry.query.get('digest-algorithm');
  if (algorithm !== null && !behaviour.digestAlgorithms.includes(algorithm)) {
    return exchange.fail(400, 'UNSUPPORTED', `no digests by ${algorithm} here`);
  }
  const mount = entry.query.get('mount');
  if (mount !== null && mayMount(exchange, room, mount)) {
    room.blobs.mark(repository, mount);
    return answerStored(exchange, repository, mount);
  }
  const upload = room.uploads.begin(repository);
  const digest = behaviour.monolithicPost ? entry.query.get('digest') : null;
  if (digest !== null) return finish(exchange, room, upload, digest);
  const least = behaviour.chunkMinLength === undefined ? {} : { 'oci-chunk-min-length': behaviour.chunkMinLength };
  exchange.answer(202, { ...toUploadHeaders(exchange, upload), ...least });
}

function mayMount(exchange: Exchange, room: RegistryRoom, digest: string): boolean {
  if (!exchange.behaviour.acceptsMount || !isSoundDigest(digest)) return false;
  const from = exchange.entry.query.get('from');
  const sources = room.blobs.holdersOf(digest).filter((name) => from === null || name === from);
  return sources.some((name) => isAllowed(exchange, room.auth, { type: 'repository', name, actions: ['pull'] }));
}

/** GET, PATCH, PUT and DELETE of an upload. */
export async function answerUpload(exchange: Exchange, room: RegistryRoom, repository: string, id: string): Promise<void> {
  const { behaviour, entry } = exchange;
  const found = room.uploads.find(repository, id);
  if (found === undefined || (behaviour.locationWithQuery && !hasState(entry.query, id))) {
    return exchange.fail(404, 'BLOB_UPLOAD_UNKNOWN', 'blob upload unknown to registry');
  }
  const upload = room.uploads.takeOver(found);
  if (entry.method === 'GET') return exchange.answer(204, toUploadHeaders(exchange, upload));
  if (entry.method === 'PATCH') return patch(exchange, room, upload);
  if (entry.method === 'PUT') return finish(exchange, room, upload, entry.query.get('digest') ?? '');
  room.uploads.remove(upload);
  exchange.answer(204);
}

function hasState(query: URLSearchParams, id: string): boolean {
  return query.get('_state') === stateOf(id) && query.get('keep') === 'a/b';
}

async function patch(exchange: Exchange, room: RegistryRoom, upload: Upload): Promise<void> {
  const { behaviour } = exchange;
  const refused = behaviour.chunked === 'refuse-416' || (behaviour.chunked === 'refuse-above-4MiB' && announcedLength(exchange) > largeChunk);
  if (refused) return exchange.fail(416, 'BLOB_UPLOAD_INVALID', 'such chunks are not taken here', toUploadHeaders(exchange, upload));
  const isChunk = exchange.header('content-range') !== undefined;
  if (isChunk && room.uploads.hadShortChunk(upload)) return exchange.fail(400, 'SIZE_INVALID', 'a chunk before this one was too short');
  const grown = await takeChunk(exchange, room, upload);
  if (grown === undefined) return;
  if (behaviour.chunked === 'refuse-above-4MiB' && grown.size - upload.size > largeChunk) {
    room.uploads.cutBack(upload);
    return exchange.fail(416, 'BLOB_UPLOAD_INVALID', 'such chunks are not taken here', toUploadHeaders(exchange, upload));
  }
  if (isChunk && grown.size - upload.size < (behaviour.chunkMinLength ?? 0)) room.uploads.markShort(upload);
  const isFirst = room.uploads.isFirstPatch(upload);
  exchange.answer(isFirst && behaviour.firstPatchAnswers201 ? 201 : 202, toUploadHeaders(exchange, grown));
}

/** 0 when the body comes in HTTP chunks: those are judged when they are there. */
function announcedLength(exchange: Exchange): number {
  return Number(exchange.header('content-length') ?? 0);
}

/** The upload with the body at its end; undefined when that could not be, an answer having gone out if anybody is there to get it. */
async function takeChunk(exchange: Exchange, room: RegistryRoom, upload: Upload): Promise<Upload | undefined> {
  const header = exchange.behaviour.checksContentRange ? exchange.header('content-range') : undefined;
  const [, first, last] = /^(\d+)-(\d+)$/.exec(header ?? '') ?? [];
  if (header !== undefined && first === undefined) return refuseChunk(exchange, upload, 400, `"${header}" is no range`);
  if (header !== undefined && Number(first) !== upload.size) return refuseChunk(exchange, upload, 416, `the next byte is ${upload.size}`);
  const expected = header === undefined ? undefined : Number(last) - Number(first) + 1;
  const announced = exchange.header('content-length');
  if (expected !== undefined && announced !== undefined && Number(announced) !== expected) {
    return refuseChunk(exchange, upload, 400, `the range has ${expected} bytes, the body ${announced}`);
  }
  if (!(await room.uploads.fill(exchange, upload))) {
    if (exchange.behaviour.brokenUploads === 'lost') room.uploads.remove(upload);
    return undefined;
  }
  const grown = room.uploads.find(upload.repository, upload.id);
  if (grown === undefined) return refuseChunk(exchange, upload, 404, 'the upload was cancelled');
  if (expected === undefined || grown.size - upload.size === expected) return grown;
  room.uploads.cutBack(upload);
  return refuseChunk(exchange, upload, 400, `the range has ${expected} bytes, the body ${grown.size - upload.size}`);
}

function refuseChunk(exchange: Exchange, upload: Upload, status: number, message: string): undefined {
  exchange.fail(status, status === 400 ? 'SIZE_INVALID' : 'BLOB_UPLOAD_INVALID', message, toUploadHeaders(exchange, upload));
}

/** Closes an upload; one whose bytes do not fit the digest is gone, as it is with Docker's registry. */
async function finish(exchange: Exchange, room: RegistryRoom, upload: Upload, digest: string): Promise<void> {
  const isKnown = isSoundDigest(digest) && exchange.behaviour.digestAlgorithms.includes(digest.split(':')[0] ?? '');
  if (!isKnown) return exchange.fail(400, 'DIGEST_INVALID', 'the digest is malformed or of an algorithm that is not known here');
  const grown = await takeChunk(exchange, room, upload);
  if (grown === undefined) return;
  if (await room.blobs.adopt(grown.repository, digest, grown.path)) return answerStored(exchange, grown.repository, digest);
  room.uploads.remove(grown);
  exchange.fail(400, 'DIGEST_INVALID', 'provided digest did not match uploaded content');
}

function answerStored(exchange: Exchange, repository: string, digest: string): void {
  const path = `/v2/${repository}/blobs/${digest}`;
  const location = exchange.behaviour.relativeLocation ? path : toUrl(exchange, path);
  exchange.answer(201, { location, ...toDigestHeader(exchange, digest) });
}
