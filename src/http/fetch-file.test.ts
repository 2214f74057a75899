import { describe, expect, it } from 'vitest';
import { serveFile, type ServedFile } from '../../test/support/file-server.js';
import { closing, createBenchClient, pattern, readAll } from '../../test/support/http-bench.js';
import { fetchFile } from './fetch-file.js';

const size = 6 * 1024 * 1024 + 7;
const half = size >> 1;
const bytes = pattern(size);
const retry = { attempts: 3, first: 0, longest: 0, longestAsked: 1000 };
const fetch = (url: string) => fetchFile(url, { client: createBenchClient(), retry });

/** Breaks off in the midst of its first answers. */
const breaking = async (given: Partial<ServedFile>, times = 1) => {
  const server = await serveFile(bytes, given);
  server.intercept = (_, response, turn) => {
    if (turn > times) return false;
    const { etag, encoding } = server.file;
    const headers = { ...(etag === undefined ? {} : { etag }), ...(encoding === undefined ? {} : { 'content-encoding': encoding }) };
    response.writeHead(200, given.chunked === true ? headers : { ...headers, 'content-length': size });
    response.write(bytes.subarray(0, half), () => response.socket?.resetAndDestroy());
    return true;
  };
  return server;
};

describe('a whole file', () => {
  it('comes with what is said about it', async () => {
    const server = await serveFile(bytes, { encoding: 'br' });
    const file = await fetch(`${server.url}/a/b?signature=hunter2`);
    expect(file).toMatchObject({ size, encoding: 'br', shown: `${server.url}/a/b` });
    expect((await readAll(file.body)).equals(bytes)).toBe(true);
    expect(server.requests).toEqual([{ path: '/a/b?signature=hunter2', range: undefined, ifRange: undefined }]);
  });

  it('comes without a length', async () => {
    const server = await serveFile(bytes, { chunked: true });
    const file = await fetch(server.url);
    expect([file.size, file.encoding]).toEqual([undefined, '']);
    expect((await readAll(file.body)).equals(bytes)).toBe(true);
  });

  it('may be given up', async () => {
    const server = await serveFile(bytes);
    let closed: Promise<void> | undefined;
    server.intercept = (request) => {
      closed = closing(request.socket);
      return false;
    };
    (await fetch(server.url)).drop();
    await closed;
    expect(server.requests).toHaveLength(1);
  });
});

describe('a whole file that breaks off', () => {
  it.each<[string, Partial<ServedFile>]>([
    ['parts', {}],
    ['parts of what is encoded', { encoding: 'gzip' }],
    ['all of it once more', { ranges: 'whole' }],
    ['parts, without a length before', { chunked: true }],
    ['parts, without a validator', { etag: undefined }],
  ])('is completed by %s', async (_, given) => {
    // An answer without a length is asked for once more, in another way.
    const server = await breaking(given, given.chunked === true ? 2 : 1);
    expect((await readAll((await fetch(server.url)).body)).equals(bytes)).toBe(true);
    const [last] = server.requests.slice(-1);
    expect(last?.range).toMatch(/^bytes=\d+-$/);
    expect(last?.ifRange).toBe('etag' in given ? undefined : '"first"');
  });

  it.each<[string, Partial<ServedFile>, string]>([
    ['it became another', { etag: '"second"' }, 'http/changed'],
    ['it became another size', { bytes: bytes.subarray(1), etag: undefined }, 'http/changed'],
    ['it is shorter', { bytes: bytes.subarray(0, 10) }, 'http/changed'],
    ['it is encoded otherwise', { encoding: 'br' }, 'http/no-ranges'],
  ])('is given up when %s', async (_, change, code) => {
    const server = await breaking({});
    const { body } = await fetch(server.url);
    Object.assign(server.file, change);
    await expect(readAll(body)).rejects.toMatchObject({ code });
  });

  it('is given up when the server gives another part', async () => {
    const server = await breaking({});
    const { body } = await fetch(server.url);
    server.intercept = (_, response) => {
      response.writeHead(206, { 'content-range': `bytes 0-9/${size}` }).end('0123456789');
      return true;
    };
    await expect(readAll(body)).rejects.toMatchObject({ code: 'http/no-ranges', message: expect.stringContaining('found 0 to 9') });
  });

  it('is given up when the server is gone', async () => {
    const server = await breaking({}, Infinity);
    await expect(readAll((await fetch(server.url)).body)).rejects.toMatchObject({ code: 'http/unreachable-file' });
  });
});
