import type { IncomingMessage, ServerResponse } from 'node:http';
import { serve, serveTls } from './http-bench.js';

export interface ServedFile {
  bytes: Buffer;
  /** `whole`: every answer is a 200 with all of it; `no-suffix`: parts, but none counted from the end. */
  ranges: 'parts' | 'whole' | 'no-suffix';
  etag?: string | undefined;
  modified?: string | undefined;
  /** Sent as Content-Encoding; the bytes are what it says already. */
  encoding?: string | undefined;
  /** Without Content-Length. */
  chunked?: boolean;
}

export interface FileRequest {
  readonly path: string;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

export interface FileServer {
  /** Of the origin; every path is the file. */
  readonly url: string;
  readonly requests: FileRequest[];
  /** May be changed between requests. */
  readonly file: ServedFile;
  /** True when it has answered, or will: asked before the file is; `turn` counts from 1. */
  intercept: (request: IncomingMessage, response: ServerResponse, turn: number) => boolean;
}

/** A server of one file that knows HTTP: parts, If-Range, validators. What it should do wrong is for `intercept`. */
export async function serveFile(bytes: Buffer, given: Partial<ServedFile> = {}, secure = false): Promise<FileServer> {
  const file: ServedFile = { bytes, ranges: 'parts', etag: '"first"', ...given };
  const requests: FileRequest[] = [];
  const server = await (secure ? serveTls : serve)((request, response) => {
    const { range, 'if-range': ifRange } = request.headers;
    requests.push({ path: request.url ?? '', range, ifRange: typeof ifRange === 'string' ? ifRange : undefined });
    if (!made.intercept(request, response, requests.length)) answer(file, range, ifRange, response);
  });
  const made: FileServer = { url: server.url, requests, file, intercept: () => false };
  return made;
}

function answer(file: ServedFile, range: string | undefined, ifRange: unknown, response: ServerResponse): void {
  const { bytes, etag, modified, encoding } = file;
  if (etag !== undefined) response.setHeader('etag', etag);
  if (modified !== undefined) response.setHeader('last-modified', modified);
  if (encoding !== undefined) response.setHeader('content-encoding', encoding);
  if (file.ranges !== 'whole') response.setHeader('accept-ranges', 'bytes');
  const isSame = ifRange === undefined || ifRange === (etag ?? modified);
  const part = file.ranges === 'whole' || !isSame ? undefined : parseRange(range, file);
  if (part === 'none') return void response.writeHead(416, { 'content-range': `bytes */${bytes.byteLength}` }).end();
  const body = part === undefined ? bytes : bytes.subarray(part.start, part.end);
  if (part !== undefined) response.setHeader('content-range', `bytes ${part.start}-${part.end - 1}/${bytes.byteLength}`);
  if (file.chunked !== true) response.setHeader('content-length', body.byteLength);
  response.statusCode = part === undefined ? 200 : 206;
  if (file.chunked === true) response.write(body.subarray(0, 1));
  response.end(file.chunked === true ? body.subarray(1) : body);
}

function parseRange(range: string | undefined, { bytes, ranges }: ServedFile): { start: number; end: number } | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  const size = bytes.byteLength;
  if (first === '' && (last === '' || ranges === 'no-suffix')) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start >= end ? 'none' : { start, end };
}
