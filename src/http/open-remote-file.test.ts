import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FileServer, serveFile, type ServedFile } from '../../test/support/file-server.js';
import { certificate, createBenchClient, pattern, readAll, serve } from '../../test/support/http-bench.js';
import { createCounters, defaultLimits } from '../core/index.js';
import { openRemoteFile } from './open-remote-file.js';
import type { RemoteFileOptions } from './remote-file.js';

const MiB = 1024 * 1024;
const size = 12 * MiB + 345;
const bytes = pattern(size);
const retry = { attempts: 3, first: 0, longest: 0, longestAsked: 1000 };
const secret = 'signature=hunter2';

const openAt = async (url: string, given: Partial<RemoteFileOptions> = {}) => {
  const client = createBenchClient();
  const file = await openRemoteFile(url, { client, limits: defaultLimits, retry, ...given });
  onTestFinished(() => file.close());
  return { file, counters: client.counters };
};
const bench = async (given: Partial<ServedFile> = {}, options: Partial<RemoteFileOptions> = {}, content = bytes) => {
  const server = await serveFile(content, given);
  return { server, ...(await openAt(`${server.url}/model.carton?${secret}`, options)) };
};
const rangesOf = ({ requests }: FileServer) => requests.map(({ range }) => range);
const expectBytes = (found: Uint8Array, start: number, end: number, of = bytes) =>
  expect(Buffer.from(found).equals(of.subarray(start, end)), `bytes ${start} to ${end}`).toBe(true);
const expectFailure = async (work: Promise<unknown>, code: string, text: string) =>
  expect(work).rejects.toMatchObject({ code, message: expect.stringMatching(new RegExp(`^(?!.*hunter2).*${text}`, 's')) });
const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'remote-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

describe('a file at a server with ranges', () => {
  it('costs one request for its last MiB, and none for what lies there', async () => {
    const { server, file, counters } = await bench();
    expect(file).toMatchObject({ size, ranged: true, url: `${server.url}/model.carton` });
    for (const [offset, length] of [
      [size - 22, 22],
      [size - MiB, MiB],
      [size - 70_000, 50_000],
    ] as const)
      expectBytes(await file.read(offset, length), offset, offset + length);
    expectBytes(await readAll(await file.stream({ start: size - 500_000 })), size - 500_000, size);
    expect(server.requests).toEqual([{ path: `/model.carton?${secret}`, range: 'bytes=-1048576', ifRange: undefined }]);
    expect(counters).toMatchObject({ requests: 1, received: MiB });
  });

  it('reads ahead, and fetches nothing twice', async () => {
    const { server, file, counters } = await bench();
    for (let at = 0; at < 60_000; at += 1000) expectBytes(await file.read(at, 1000), at, at + 1000);
    expect(rangesOf(server)).toEqual(['bytes=-1048576', 'bytes=0-65535']);
    expectBytes(await file.read(65_000, 200_000), 65_000, 265_000);
    expect(rangesOf(server).at(-1)).toBe('bytes=65536-264999');
    expect(server.requests.at(-1)?.ifRange).toBe('"first"');
    expect(counters.received).toBe(MiB + 265_000);
  });

  it('fetches neighbours by one request, and what is on its way once', async () => {
    const { server, file } = await bench();
    await Promise.all([file.read(200_000, 100), file.read(200_050, 100)]);
    await file.read(300_000, 70_000);
    expect(server.requests).toHaveLength(3);
    expectBytes(await file.read(150_000, 300_000), 150_000, 450_000);
    expect(rangesOf(server).slice(3).toSorted()).toEqual(['bytes=150000-299999', 'bytes=370000-449999']);
    await file.read(1_000_000, 70_000);
    await file.read(1_200_000, 70_000);
    expectBytes(await file.read(1_000_000, 300_000), 1_000_000, 1_300_000);
    expect(rangesOf(server).slice(7).toSorted()).toEqual(['bytes=1070000-1199999', 'bytes=1270000-1335535']);
  });

  it('keeps the end of the file however much is read elsewhere', async () => {
    const { server, file } = await bench();
    expectBytes(await file.read(0, 11 * MiB), 0, 11 * MiB);
    for (let at = 0; at < 6 * MiB; at += MiB) await file.read(at, MiB);
    const before = server.requests.length;
    await file.read(size - MiB, MiB);
    expect(server.requests).toHaveLength(before);
  });

  it('streams a range by one bounded request', async () => {
    const { server, file } = await bench();
    expectBytes(await readAll(await file.stream({ start: 5, end: 9 * MiB })), 5, 9 * MiB);
    expect(rangesOf(server)).toEqual(['bytes=-1048576', `bytes=5-${9 * MiB - 1}`]);
    expectBytes(await readAll(await file.stream({ start: 0 })), 0, size);
    expectBytes(await readAll(await file.stream({ start: 7, end: 7 })), 7, 7);
    await expectFailure(file.read(size - 1, 2), 'bytes/size-mismatch', `expected ${size + 1} bytes, found ${size}`);
    await expectFailure(file.stream({ start: 0, end: size + 1 }), 'bytes/size-mismatch', 'expected');
  });

  it.each([0, 1, 1000, MiB, MiB + 1])('may be %d bytes long', async (length) => {
    const small = bytes.subarray(0, length);
    for (const ranges of ['parts', 'whole', 'no-suffix'] as const) {
      const { file } = await bench({ ranges }, {}, small);
      expect(file.size).toBe(length);
      expectBytes(await file.read(0, length), 0, length);
      expectBytes(await readAll(await file.stream({ start: 0 })), 0, length);
    }
  });

  it('is asked again where parts are not counted from the end', async () => {
    const { server, file } = await bench({ ranges: 'no-suffix' });
    expect(file.ranged).toBe(true);
    expectBytes(await file.read(size - 10, 10), size - 10, size);
    expect(rangesOf(server)).toEqual(['bytes=-1048576', `bytes=${size - MiB}-${size - 1}`]);
  });

  it('is followed through redirects, with TLS', async () => {
    const server = await serveFile(bytes, {}, true);
    server.intercept = (request, response) => {
      if (request.url?.startsWith('/moved') === true) return false;
      response.writeHead(302, { location: `/moved?${secret}` }).end();
      return true;
    };
    const client = createBenchClient({ tls: { ca: certificate.ca } });
    const { file } = await openAt(`${server.url}/model`, { client });
    expectBytes(await file.read(0, 100), 0, 100);
    expect(server.requests.map(({ path, range, ifRange }) => [path.slice(0, 6), range, ifRange])).toEqual([
      ['/model', 'bytes=-1048576', undefined],
      ['/moved', 'bytes=-1048576', undefined],
      ['/model', 'bytes=0-65535', '"first"'],
      ['/moved', 'bytes=0-65535', '"first"'],
    ]);
    await expectFailure(openAt(`${server.url}/model`), 'http/unreachable-file', 'cannot trust the certificate');
  });
});

describe('a file that changes', () => {
  it.each([
    ['etag', { etag: '"second"' }, { etag: '"first"' }],
    ['time', { modified: 'Sat, 02 Jan 2027 00:00:00 GMT' }, { etag: undefined, modified: 'Fri, 01 Jan 2027 00:00:00 GMT' }],
    ['size alone', { bytes: bytes.subarray(1) }, { etag: 'W/"weak"' }],
  ] as const)('is noticed by its %s', async (_, change, first) => {
    const { server, file } = await bench(first);
    await file.read(0, 10);
    Object.assign(server.file, change);
    await expectFailure(file.read(MiB, 10), 'http/changed', 'became another file');
    await expectFailure(file.read(MiB, 10), 'http/changed', 'became another file');
    expectBytes(await file.read(0, 10), 0, 10);
  });

  it('is noticed when the server ignores If-Range, and when the file shrank', async () => {
    const { server, file } = await bench();
    server.intercept = (request) => {
      delete request.headers['if-range'];
      return false;
    };
    server.file.etag = '"second"';
    const other = await serveFile(bytes);
    const { file: shrinking } = await openAt(other.url);
    other.intercept = (_, response) => {
      response.writeHead(416).end();
      return true;
    };
    await expectFailure(shrinking.read(0, 10), 'http/changed', 'became another file');
    server.intercept = (_, response) => {
      response.writeHead(206, { etag: '"second"', 'content-range': `bytes 0-65535/${size}` }).end(bytes.subarray(0, 65_536));
      return true;
    };
    await expectFailure(file.read(0, 10), 'http/changed', 'became another file');
  });
});

describe('a server that answers parts wrongly', () => {
  const tail = bytes.subarray(size - MiB);
  const right = `bytes ${size - MiB}-${size - 1}/${size}`;
  const first = { 'content-range': right, etag: '"first"' };

  it.each<[string, Record<string, string>, Buffer, string, string]>([
    ['no Content-Range', {}, tail, 'http/no-ranges', 'found "none"'],
    ['another range', { 'content-range': `bytes 0-${MiB - 1}/${size}` }, tail, 'http/no-ranges', 'expected its last 1048576 bytes'],
    [
      'less than asked for',
      { 'content-range': `bytes ${size - 100}-${size - 1}/${size}` },
      tail.subarray(0, 100),
      'http/no-ranges',
      'expected its last',
    ],
    ['no size', { 'content-range': `bytes ${size - MiB}-${size - 1}/*` }, tail, 'http/no-ranges', 'with the size of the file'],
    ['an impossible range', { 'content-range': `bytes 9-3/${size}` }, tail, 'http/no-ranges', 'expected a Content-Range'],
    ['another unit', { 'content-range': right.replace('bytes', 'lines') }, tail, 'http/no-ranges', 'expected a Content-Range'],
    ['several parts', { ...first, 'content-type': 'multipart/byteranges; boundary=x' }, tail, 'http/no-ranges', 'in several parts'],
    ['an encoding', { ...first, 'content-encoding': 'gzip' }, tail, 'http/no-ranges', 'expected the Content-Encoding ""'],
    ['another length', { ...first, 'content-length': '1048575' }, tail.subarray(1), 'http/no-ranges', 'its answer has 1048575 bytes'],
    ['too few bytes', { ...first, 'transfer-encoding': 'chunked' }, tail.subarray(1), 'bytes/size-mismatch', 'found 1048575'],
    ['too many bytes', { ...first, 'transfer-encoding': 'chunked' }, Buffer.concat([tail, tail]), 'bytes/size-mismatch', 'expected 1048576 bytes'],
  ])('is refused: %s', async (_, headers, body, code, text) => {
    const server = await serve((__, response) => void response.writeHead(206, headers).end(body));
    await expectFailure(openAt(`${server.url}/a?${secret}`), code, text);
  });

  it.each<[string, Record<string, string>, string]>([
    ['another range', { 'content-range': `bytes 1-65536/${size}` }, 'expected the bytes 0 to 65535, found 1 to 65536'],
    ['an encoding', { 'content-range': `bytes 0-65535/${size}`, 'content-encoding': 'br' }, 'Content-Encoding'],
  ])('is refused later too: %s', async (_, headers, text) => {
    const { server, file } = await bench();
    server.intercept = (__, response) => {
      response.writeHead(206, headers).end(bytes.subarray(0, 65_536));
      return true;
    };
    await expectFailure(file.read(0, 10), 'http/no-ranges', text);
    const weak = await bench({ etag: undefined });
    weak.server.file.ranges = 'whole';
    await expectFailure(weak.file.read(0, 10), 'http/no-ranges', 'the last bytes alone');
  });
});

describe('a connection that breaks', () => {
  /** Cuts off every answer after so many bytes, until `times` are over. */
  const breaking = (server: FileServer, count: number, times: number) => {
    let left = times;
    server.intercept = (request, response) => {
      if (left-- <= 0) return false;
      const [, start = '0', end = `${size - 1}`] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      const from = request.headers.range?.startsWith('bytes=-') === true ? size - MiB : Number(start);
      response.writeHead(206, { 'content-range': `bytes ${from}-${end}/${size}`, 'content-length': Number(end) + 1 - from, etag: '"first"' });
      response.write(bytes.subarray(from, from + count), () => response.socket?.resetAndDestroy());
      return true;
    };
  };

  it('goes on at the byte where it broke', async () => {
    const { server, file } = await bench();
    breaking(server, 2 * MiB, 3);
    expectBytes(await readAll(await file.stream({ start: 100, end: 9 * MiB })), 100, 9 * MiB);
    const starts = rangesOf(server).slice(1);
    expect(starts.length).toBeGreaterThan(1);
    expect(starts.every((range) => range?.endsWith(`-${9 * MiB - 1}`) === true)).toBe(true);
    expect(server.requests.slice(1).every(({ ifRange }) => ifRange === '"first"')).toBe(true);
  });

  it('is given up when tries bring next to nothing', async () => {
    const { server, file } = await bench();
    breaking(server, 10, Infinity);
    await expectFailure(readAll(await file.stream({ start: 0, end: 9 * MiB })), 'http/unreachable-file', 'the connection broke off');
    expect(server.requests.length).toBeLessThanOrEqual(1 + retry.attempts);
  });

  it('at the end of the file costs only what is missing', async () => {
    const server = await serveFile(bytes);
    breaking(server, 1000, 1);
    const { file } = await openAt(server.url);
    expectBytes(await file.read(size - MiB, MiB), size - MiB, size);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a server without ranges', () => {
  it('sends all of it once, into a file of its owner that goes in the end', async () => {
    const folder = makeFolder();
    const counters = createCounters();
    const { server, file } = await bench({ ranges: 'whole' }, { tmp: async () => folder, counters });
    expect(file).toMatchObject({ size, ranged: false });
    const [name = ''] = readdirSync(folder);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expectBytes(await file.read(size - 100, 100), size - 100, size);
    expectBytes(await readAll(await file.stream({ start: 5, end: 5 * MiB })), 5, 5 * MiB);
    expectBytes(await readAll(await file.stream({ start: 5 })), 5, size);
    await expectFailure(file.read(size, 1), 'bytes/size-mismatch', 'expected');
    await file.close();
    expect(readdirSync(folder)).toEqual([]);
    expect([server.requests.length, counters.written]).toEqual([1, size]);
  });

  it('is kept in memory when it is small', async () => {
    const { file } = await bench({ ranges: 'whole' }, { tmp: () => Promise.reject(new Error('no folder is needed')) }, bytes.subarray(0, 1000));
    expect(file.ranged).toBe(false);
    expectBytes(await file.read(10, 20), 10, 30);
    await expectFailure(file.read(990, 20), 'bytes/size-mismatch', 'expected 1010 bytes, found 1000');
  });

  it.each<[string, Partial<ServedFile>, number, string]>([
    ['too long', { ranges: 'whole' }, size - 1, `is ${size} bytes, and copies at most ${size - 1}`],
    ['of no known length', { ranges: 'whole', chunked: true }, size, 'without saying how long'],
    ['encoded', { ranges: 'whole', encoding: 'gzip' }, size, 'encoded as "gzip"'],
  ])('is refused when the file is %s', async (_, given, remoteCopyBytes, text) => {
    const folder = makeFolder();
    const limits = { ...defaultLimits, remoteCopyBytes };
    await expectFailure(bench(given, { limits, tmp: async () => folder }), 'http/no-ranges', text);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('goes on after a break by reading past what is there, and leaves nothing when that fails', async () => {
    const folder = makeFolder();
    const server = await serveFile(bytes, { ranges: 'whole' });
    const cut = (times: number) => {
      server.intercept = (_, response) => {
        if (times-- <= 0) return false;
        response.writeHead(200, { 'content-length': size, etag: '"first"' });
        response.write(bytes.subarray(0, 5 * MiB), () => response.socket?.resetAndDestroy());
        return true;
      };
    };
    cut(1);
    const { file } = await openAt(server.url, { tmp: async () => folder });
    expectBytes(await readAll(await file.stream({ start: 0 })), 0, size);
    await file.close();
    cut(Infinity);
    await expectFailure(openAt(server.url, { tmp: async () => folder }), 'http/unreachable-file', 'the connection broke off');
    cut(1);
    const changing = server.intercept;
    server.intercept = (request, response, turn) => {
      const isCut = changing(request, response, turn);
      server.file.etag = '"second"';
      return isCut;
    };
    await expectFailure(openAt(server.url, { tmp: async () => folder }), 'http/changed', 'became another file');
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(folder)).toBe(true);
  });
});

describe('a file that cannot be fetched', () => {
  it.each([
    [401, 'asks for a login', 'signed address'],
    [403, 'does not allow it', 'may be over'],
    [404, 'no such file', 'Check the address'],
    [400, 'answered 400', 'download'],
  ])('says so: %d', async (status, text, hint) => {
    const server = await serve((_, response) => void response.writeHead(status).end('no'));
    const opened = openAt(`${server.url}/a?${secret}`);
    await expectFailure(opened, 'http/unreachable-file', `"${server.url}/a".*${text}`);
    await expect(opened).rejects.toMatchObject({ hint: expect.stringContaining(hint) });
  });

  it('is asked for again when a server is busy, and not for ever', async () => {
    const { file, server } = await (async () => {
      const busy = await serveFile(bytes);
      busy.intercept = (_, response, turn) => {
        if (turn > 2) return false;
        response.writeHead(turn === 1 ? 503 : 429, { 'retry-after': '0' }).end('wait');
        return true;
      };
      return { ...(await openAt(busy.url)), server: busy };
    })();
    expect([file.size, server.requests.length]).toEqual([size, 3]);
    const never = await serve((_, response) => void response.writeHead(503).end());
    await expectFailure(openAt(never.url), 'http/unreachable-file', 'answered 503');
    const later = await serve((_, response) => void response.writeHead(503, { 'retry-after': '3600' }).end());
    await expectFailure(openAt(later.url), 'http/unreachable-file', 'asks to wait 3600 s, at most 1 s');
  });

  it.each([
    ['http://user:hunter2@127.0.0.1/a', 'a user or a password'],
    ['https://hunter2@hub.test/a', 'a user or a password'],
    ['http://hub.test/a', 'it is http'],
    ['ftp://hub.test/a', 'scheme "ftp:"'],
    ['file:///etc/passwd', 'scheme "file:"'],
    ['hub.test/a?hunter2', 'not a URL'],
  ])('is not asked for at %s', async (url, text) => expectFailure(openAt(url), 'http/unreachable-file', text));

  it('is not asked for where a redirect leads to what is not https', async () => {
    const target = await serveFile(bytes);
    const server = await serve((_, response) => void response.writeHead(302, { location: `http://host.test:${new URL(target.url).port}/` }).end());
    const network = { resolve: async () => [{ address: '127.0.0.1', family: 4 }], isPublic: () => false };
    const client = createBenchClient({}, network);
    await expectFailure(openAt(server.url, { client }), 'http/unreachable-file', 'it is http');
    expect((await openAt(server.url, { client, plainHttp: true })).file.size).toBe(size);
  });

  it('is given up when the work is cancelled', async () => {
    const control = new AbortController();
    const server = await serve(() => control.abort());
    await expectFailure(openAt(server.url, { signal: control.signal }), 'core/cancelled', 'cancelled');
    const gone = await serve((_, response) => response.socket?.resetAndDestroy());
    await expectFailure(openAt(gone.url), 'http/unreachable-file', 'the connection broke off');
  });
});
