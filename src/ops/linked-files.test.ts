import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeBytes } from '../../test/support/distant-blob.js';
import { serveFile } from '../../test/support/file-server.js';
import { certificate, readAll } from '../../test/support/http-bench.js';
import { collect, compress, digestOf, fromBytes } from '../bytes/index.js';
import { createCounters, defaultLimits, type LinkedPart } from '../core/index.js';
import { createContext, type OpsContext } from './context.js';
import { checkLinks, openLinked } from './linked-files.js';

const size = 2_000_000;
const bytes = makeBytes(size);
const digest = digestOf(bytes);

const contexts: OpsContext[] = [];
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});
const makeHome = () => {
  const home = mkdtempSync(join(tmpdir(), 'linked-files-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
};
const createBench = (given: Partial<OpsContext> = {}): OpsContext => {
  const context = createContext({ home: given.home ?? makeHome(), env: {}, counters: createCounters(), ...given });
  contexts.push(context);
  return context;
};
const link = (...urls: string[]): LinkedPart => ({ role: 'weights', path: 'model/weights.bin', digest, urls });
const listCached = ({ home }: OpsContext) =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name);
const freePort = async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? address?.port : 0;
};

describe('a linked file', () => {
  it('is fetched once, proven, and kept', async () => {
    const server = await serveFile(bytes);
    const context = createBench();
    const told: string[] = [];
    const progress = {
      start: (task: string, item: string) => {
        told.push(`${task} ${item}`);
        return { advance: (count: number) => void told.push(String(count)), done: (outcome = 'done') => void told.push(outcome) };
      },
    };
    const file = await openLinked(link(server.url), { ...context, progress });
    expect(file.size).toBe(size);
    expect(readFileSync(file.path).equals(bytes)).toBe(true);
    expect((await readAll(await file.open())).equals(bytes)).toBe(true);
    expect((await readAll(await file.open({ start: 10, end: 20 }))).equals(bytes.subarray(10, 20))).toBe(true);
    expect([told[0], told.at(-1), told.slice(1, -1).reduce((sum, count) => sum + Number(count), 0)]).toEqual([
      'fetch model/weights.bin',
      'done',
      size,
    ]);
    expect(context.counters).toMatchObject({ requests: 1, received: size, hashed: size, written: size });
    const again = await openLinked(link(), createBench({ home: context.home, network: { offline: true } }));
    expect([again.path, server.requests.length]).toEqual([file.path, 1]);
  });

  it('is hashed again on use, and fetched anew when it is damaged', async () => {
    const server = await serveFile(bytes);
    const context = createBench();
    const { path } = await openLinked(link(server.url), context);
    await openLinked(link(server.url), context);
    expect([server.requests.length, context.counters.hashed]).toEqual([1, 2 * size]);
    chmodSync(path, 0o644);
    writeFileSync(path, Buffer.from(bytes).fill(0, 1000, 1001));
    await expect(openLinked(link(), createBench({ home: context.home, network: { offline: true } }))).rejects.toMatchObject({ code: 'http/offline' });
    await openLinked(link(server.url), context);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, () => Uint8Array | Promise<Uint8Array>]>([
    ['gzip', () => gzipSync(bytes, { level: 1 })],
    ['deflate', () => deflateSync(bytes, { level: 1 })],
    ['br', () => brotliCompressSync(bytes, { params: { 1: 0 } })],
    ['zstd', () => collect(compress(fromBytes(bytes), 'zstd'), 1e9, 'zstd')],
  ])('may be encoded as %s', async (encoding, encode) => {
    const server = await serveFile(Buffer.from(await encode()), { encoding });
    const { path } = await openLinked(link(server.url), createBench());
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it('comes from the first URL that gives it', async () => {
    const other = await serveFile(makeBytes(size, 'other'));
    const odd = await serveFile(bytes, { encoding: 'aws-chunked' });
    const broken = await serveFile(bytes.subarray(0, 1000), { encoding: 'gzip' });
    const missing = await serveFile(bytes);
    missing.intercept = (_, response) => {
      response.writeHead(404, { 'content-length': 0 }).end();
      return true;
    };
    const right = await serveFile(bytes);
    const never = await serveFile(bytes);
    const context = createBench();
    const bad = ['file:///etc/hostname', 'http://u:hunter2@127.0.0.1/', 'http://hub.test/', `http://127.0.0.1:${await freePort()}/`, 'no URL'];
    const served = [other, odd, broken, missing].map(({ url }) => `${url}/f?token=hunter2`);
    const { path } = await openLinked(link(...bad, ...served, right.url, never.url), context);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect([other, odd, broken, missing, right, never].map(({ requests }) => requests.length)).toEqual([1, 1, 1, 1, 1, 0]);
    expect(listCached(context)).toEqual([digest.slice(7)]);
    const failed = openLinked(link(...bad, ...served), createBench());
    await expect(failed).rejects.toMatchObject({
      code: 'http/link-failed',
      where: 'model/weights.bin',
      message: expect.not.stringContaining('hunter2'),
    });
    const message = await failed.catch((error: Error) => error.message);
    for (const reason of [
      `${digest})`,
      'the scheme "file:"',
      'a user or a password',
      'http://hub.test/: it is http',
      'nothing listens there',
      'it is not a URL',
      `${other.url}/f: expected ${digest}, found sha256:`,
      `${odd.url}/f: expected the Content-Encoding`,
      `${broken.url}/f: `,
      `${missing.url}/f: there is no such file (it answered 404)`,
    ])
      expect(message).toContain(reason);
    await expect(openLinked(link(), createBench())).rejects.toThrow('there is no URL for it');
  });

  it('may not be too large, and nothing is left of it', async () => {
    const zeros = await serveFile(gzipSync(Buffer.alloc(size)), { encoding: 'gzip' });
    const plain = await serveFile(bytes);
    const context = createBench();
    const opened = openLinked(link(plain.url, zeros.url), context, { maxBytes: size - 1 });
    await expect(opened).rejects.toMatchObject({
      code: 'http/link-failed',
      message: expect.stringMatching(/larger than 1999999.*limit of 1999999/s),
    });
    expect(listCached(context)).toEqual([]);
    await openLinked(link(plain.url), context);
    await expect(openLinked(link(plain.url), context, { maxBytes: size - 1 })).rejects.toMatchObject({ code: 'bytes/limit' });
  });

  it('is fetched once for several who want it', async () => {
    const server = await serveFile(bytes);
    const home = makeHome();
    const found = await Promise.all([1, 2, 3].map(() => openLinked(link(server.url), createBench({ home }))));
    expect(new Set(found.map(({ path }) => path)).size).toBe(1);
    expect(server.requests).toHaveLength(1);
  });

  it('makes room for itself', async () => {
    const home = makeHome();
    const limits = { ...defaultLimits, linkCacheBytes: size };
    const old = makeBytes(1000, 'old');
    const first = await serveFile(old);
    const second = await serveFile(bytes);
    await openLinked({ ...link(first.url), digest: digestOf(old) }, createBench({ home, limits }));
    const context = createBench({ home, limits });
    await openLinked(link(second.url), context);
    expect(listCached(context)).toEqual([digest.slice(7)]);
  });

  it('is not fetched without the network', async () => {
    const server = await serveFile(bytes);
    const context = createBench({ network: { offline: true } });
    const opened = openLinked(link(server.url), context);
    await expect(opened).rejects.toMatchObject({ code: 'http/offline', message: expect.stringContaining('"model/weights.bin"') });
    await expect(checkLinks([link(server.url)], context)).rejects.toMatchObject({ code: 'http/offline' });
    expect(server.requests).toEqual([]);
  });

  it('is not fetched any more when the work is cancelled', async () => {
    const control = new AbortController();
    const server = await serveFile(bytes);
    server.intercept = () => {
      control.abort();
      return true;
    };
    const opened = openLinked(link(server.url, server.url), createBench({ signal: control.signal }));
    await expect(opened).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(server.requests).toHaveLength(1);
  });

  it('comes over TLS that is trusted', async () => {
    const server = await serveFile(bytes, {}, true);
    const home = makeHome();
    await expect(openLinked(link(server.url), createBench({ home }))).rejects.toThrow(/link-failed|cannot trust the certificate/);
    writeFileSync(join(home, 'ca.pem'), certificate.ca);
    const { path } = await openLinked(link(server.url), createBench({ home, cwd: home, network: { caFile: 'ca.pem' } }));
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });
});

describe('checked links', () => {
  it('say what each URL really gives, and keep nothing', async () => {
    const right = await serveFile(gzipSync(bytes, { level: 1 }), { encoding: 'gzip' });
    const wrong = await serveFile(makeBytes(10, 'other'));
    const damaged = await serveFile(gzipSync(bytes, { level: 1 }).subarray(0, 100_000), { encoding: 'gzip' });
    const context = createBench();
    const found = await checkLinks([link(`${right.url}/a?token=hunter2`, 'ftp://hub.test/b'), link(wrong.url, damaged.url)], context);
    const path = 'model/weights.bin';
    expect(found).toEqual([
      { path, url: `${right.url}/a`, ok: true, bytes: size, encoding: 'gzip' },
      { path, url: 'ftp://hub.test/b', ok: false, reason: 'it is of the scheme "ftp:"', bytes: 0 },
      {
        path,
        url: `${wrong.url}/`,
        ok: false,
        reason: expect.stringContaining(`expected ${digest}, found sha256:`),
        bytes: 10,
        encoding: 'identity',
      },
      { path, url: `${damaged.url}/`, ok: false, reason: expect.stringContaining('unexpected end'), bytes: expect.any(Number), encoding: 'gzip' },
    ]);
    expect(listCached(context)).toEqual([]);
    expect(await checkLinks([], context)).toEqual([]);
  });
});
