import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Truncation } from './behaviour.js';
import { type StoredBlob } from './blob-storage.js';
import { parseRange } from './byte-range.js';
import { type Exchange } from './exchange.js';

interface Part {
  readonly start: number;
  readonly end: number;
}

/** The bytes of a blob, or the part that was asked for, with the faults that the behaviour wants. */
export async function sendBlob(
  exchange: Exchange,
  digest: string,
  { path, size }: StoredBlob,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { behaviour } = exchange;
  const etag = `"${digest}"`;
  const given = { 'content-type': 'application/octet-stream', etag, ...(behaviour.ignoreRange ? {} : { 'accept-ranges': 'bytes' }), ...headers };
  const condition = exchange.header('if-range');
  const isIgnored = behaviour.ignoreRange || exchange.entry.method === 'HEAD' || (condition !== undefined && condition !== etag);
  const asked = isIgnored ? ({ kind: 'whole' } as const) : parseRange(exchange.header('range'), size);
  if (asked.kind === 'unsatisfiable') {
    return exchange.fail(416, 'RANGE_INVALID', `the blob has ${size} bytes`, { 'content-range': `bytes */${size}` });
  }
  const part = asked.kind === 'part' ? asked : { start: 0, end: size };
  const length = part.end - part.start;
  const range = asked.kind === 'part' ? { 'content-range': `bytes ${part.start}-${part.end - 1}/${size}` } : {};
  const truncation = exchange.entry.method === 'HEAD' ? undefined : strike(behaviour.truncateBlob, digest, ({ times }) => times);
  exchange.begin(range['content-range'] === undefined ? 200 : 206, { ...given, ...range, ...toLength(length, truncation) });
  if (exchange.entry.method === 'HEAD') return void exchange.response.end();
  const isCorrupt = strike(behaviour.corruptBlob, digest, (times) => times) !== undefined;
  await sendPart(exchange, path, part, isCorrupt, truncation);
}

function strike<T>(faults: Map<string, T>, digest: string, timesOf: (fault: T) => string): T | undefined {
  const fault = faults.get(digest);
  if (fault !== undefined && timesOf(fault) === 'once') faults.delete(digest);
  return fault;
}

function toLength(length: number, truncation: Truncation | undefined): Readonly<Record<string, string | number>> {
  if (truncation === undefined || truncation.framing === 'length') return { 'content-length': length };
  if (truncation.framing === 'shorter') return { 'content-length': Math.min(length, truncation.after) };
  return truncation.framing === 'chunked' ? { 'transfer-encoding': 'chunked' } : { connection: 'close' };
}

async function sendPart(exchange: Exchange, path: string, part: Part, isCorrupt: boolean, truncation: Truncation | undefined): Promise<void> {
  const { response } = exchange;
  const end = truncation === undefined ? part.end : Math.min(part.end, part.start + truncation.after);
  // Without a length and without chunks only the end of the connection says where the body ends.
  if (truncation?.framing === 'close') response.removeHeader('transfer-encoding');
  const flipAt = isCorrupt ? (end - part.start) >> 1 : undefined;
  const breaks = truncation !== undefined && (truncation.framing === 'length' || truncation.framing === 'chunked');
  const bytes = readPart(exchange, path, { start: part.start, end }, flipAt);
  await pipeline(bytes, response, { end: !breaks }).catch(() => {});
  if (breaks) await breakOff(exchange);
}

/** Only when all that was written has left, or fewer bytes than planned would arrive. */
async function breakOff({ response }: Exchange): Promise<void> {
  const { socket } = response;
  response.flushHeaders();
  if (socket !== null && !socket.destroyed) await new Promise<void>((resolve) => socket.write('', () => resolve()));
  response.destroy();
}

async function* readPart(exchange: Exchange, path: string, { start, end }: Part, flipAt: number | undefined): AsyncGenerator<Buffer> {
  if (end <= start) return;
  let offset = 0;
  for await (const read of createReadStream(path, { start, end: end - 1, highWaterMark: 256 * 1024 })) {
    const chunk = read as Buffer;
    if (flipAt !== undefined && flipAt >= offset && flipAt < offset + chunk.length) {
      chunk.writeUInt8(chunk.readUInt8(flipAt - offset) ^ 1, flipAt - offset);
    }
    offset += chunk.length;
    exchange.entry.responseBytes += chunk.length;
    yield chunk;
  }
}
