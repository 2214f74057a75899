import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createBench,
  createFolder,
  descriptorOf,
  patternBytes,
  quick,
  readAll,
  startBench,
  startProxy,
  startRegistry,
  toFile,
  toStream,
} from '../../../test/support/client-bench.js';
import { bundleProgram } from '../../../test/support/run-program.js';
import { withLock } from '../../bytes/index.js';
import type { BlobContent, ByteStream, DigestCache } from '../../core/index.js';
import { openUploadJournal } from './upload-journal.js';

const KiB = 1024;
const pieceBytes = 256 * KiB;
const bytes = patternBytes(5 * pieceBytes + 1000);
const blob = descriptorOf(bytes);
const quirks = { chunkBytes: pieceBytes };

/** Remembers what a file is by its path, and no digests: what is sent is hashed on the way. */
const byPath: DigestCache = {
  identify: (content) => (content.kind === 'file' ? content.path : undefined),
  find: () => undefined,
  remember: async () => {},
};

describe('an upload that is cut', () => {
  it.each([1, 1000, pieceBytes - 1, pieceBytes, pieceBytes + 40_000, 3 * pieceBytes + 7, bytes.length - 10])(
    'behind byte %d goes on with what the registry has',
    async (after) => {
      const registry = await startRegistry();
      const proxy = await startProxy(registry, { kind: 'faults', up: { kind: 'cut', after, how: 'reset', times: 1 } });
      const { open, counters } = createBench(proxy.host, { quirks });
      expect(await open().put(toFile(bytes))).toEqual({ digest: blob.digest, size: blob.size, fresh: true });
      expect(Buffer.from(registry.readBlob(blob.digest)).equals(bytes)).toBe(true);
      expect(proxy.struck).toBe(1);
      expect(counters.hashed).toBe(blob.size);
      expect(registry.log.reduce((sum, { requestBytes }) => sum + requestBytes, 0)).toBeLessThanOrEqual(blob.size + pieceBytes);
    },
  );

  it.each([100_000, 700_000])('again and again, every %d bytes, comes to its end', async (after) => {
    const registry = await startRegistry();
    const proxy = await startProxy(registry, { kind: 'faults', up: { kind: 'cut', after, how: 'close' } });
    const { open, counters } = createBench(proxy.host, { quirks });
    expect(await open().put(toStream(bytes), { expected: blob })).toMatchObject({ digest: blob.digest });
    expect(proxy.struck).toBeGreaterThan(0);
    expect(counters.hashed).toBe(0);
    expect(Buffer.from(registry.readBlob(blob.digest)).equals(bytes)).toBe(true);
  });

  it('without bringing anything is given up', async () => {
    const registry = await startRegistry();
    const proxy = await startProxy(registry);
    registry.behaviour.failStatus = ({ method }) => {
      if (method !== 'PATCH') return undefined;
      proxy.breakAll();
      return 500;
    };
    const { open } = createBench(proxy.host, { quirks });
    await expect(open().put(toStream(bytes))).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect(registry.count('PATCH')).toBeLessThanOrEqual(quick.attempts);
  });

  it('of unknown length is sent from its beginning', async () => {
    const registry = await startRegistry();
    const proxy = await startProxy(registry, { kind: 'faults', up: { kind: 'cut', after: 300_000, how: 'reset', times: 1 } });
    const { open, counters } = createBench(proxy.host);
    const content = toStream(bytes, { size: false });
    expect(await open().put(content)).toMatchObject({ digest: blob.digest, size: blob.size });
    expect([content.opened, counters.hashed]).toEqual([2, blob.size]);
  });

  it('in one request is sent once more, and moves the bar once', async () => {
    const registry = await startRegistry();
    const proxy = await startProxy(registry, { kind: 'faults', up: { kind: 'cut', after: 300_000, how: 'reset', times: 1 } });
    const { open } = createBench(proxy.host);
    let shown = 0;
    const progress = { advance: (count: number) => (shown += count), done: () => {} };
    expect(await open().put(toFile(bytes), { expected: blob, progress })).toMatchObject({ fresh: true });
    expect([proxy.struck, shown]).toEqual([1, blob.size]);
  });

  it('by a restart of the registry goes on', async () => {
    const registry = await startRegistry();
    const { open } = createBench(registry.host, { quirks, retry: { ...quick, attempts: 200 } });
    let patches = 0;
    let restarted: Promise<void> | undefined;
    registry.behaviour.failStatus = ({ method }) => {
      if (method === 'PATCH' && ++patches === 3) restarted = registry.restart();
      return undefined;
    };
    expect(await open().put(toFile(bytes))).toMatchObject({ digest: blob.digest });
    await restarted;
    expect(restarted).toBeDefined();
    expect(Buffer.from(registry.readBlob(blob.digest)).equals(bytes)).toBe(true);
    expect(registry.count('POST')).toBe(1);
  });

  it('while its source is slow does not mix up its bytes', async () => {
    const registry = await startRegistry();
    const proxy = await startProxy(registry);
    let waits = 0;
    const slow: BlobContent = {
      kind: 'stream',
      size: bytes.length,
      open: async () =>
        (async function* (): ByteStream {
          for (let at = 0; at < bytes.length; at += 50_000) {
            if (at === 200_000 && ++waits === 1) {
              // The registry has all that was sent, and the connection ends while the source is still asked for more.
              while (registry.uploads()[0]?.size !== at) await new Promise((resolve) => setImmediate(resolve));
              proxy.breakAll();
              while (registry.log.every(({ method, complete }) => method !== 'GET' || !complete))
                await new Promise((resolve) => setImmediate(resolve));
            }
            yield bytes.subarray(at, at + 50_000);
          }
        })(),
    };
    const { open, counters } = createBench(proxy.host, { quirks });
    expect(await open().put(slow)).toMatchObject({ digest: blob.digest });
    expect(counters.hashed).toBe(blob.size);
  });
});

describe('an upload that a run left', () => {
  /** A run that ends after `patches` pieces. */
  const start = async (content: BlobContent, known: boolean, patches = 3) => {
    const registry = await startRegistry();
    const folder = createFolder();
    const options = { quirks, digests: byPath };
    const put = (journal = openUploadJournal(folder)) => {
      const bench = createBench(registry.host, { ...options, journal });
      return { ...bench, stored: bench.open().put(content, known ? { expected: blob } : {}) };
    };
    let seen = 0;
    registry.behaviour.failStatus = ({ method }) => (method === 'PATCH' && ++seen > patches ? 403 : undefined);
    await expect(put().stored).rejects.toMatchObject({ code: 'registry/denied' });
    registry.behaviour.failStatus = undefined;
    const before = registry.log.length;
    const entries = () => readdirSync(folder).filter((name) => name.endsWith('.json'));
    return { registry, folder, put, entries, since: () => registry.log.slice(before) };
  };
  const sentBytes = (log: readonly { requestBytes: number }[]) => log.reduce((sum, { requestBytes }) => sum + requestBytes, 0);

  it('of known digest is gone on with by the next, which sends what is missing and hashes nothing', async () => {
    const { put, since, entries } = await start(toFile(bytes), true);
    expect(entries().length).toBe(1);
    const { stored, counters } = put();
    expect(await stored).toMatchObject({ digest: blob.digest, fresh: true });
    expect(sentBytes(since())).toBe(blob.size - 3 * pieceBytes);
    expect(counters).toMatchObject({ hashed: 0, resumed: 0, read: blob.size - 3 * pieceBytes });
    expect(entries()).toEqual([]);
  });

  it('of unknown digest is gone on with, what was sent being hashed once more', async () => {
    const { put, since } = await start(toFile(bytes), false);
    const { stored, counters } = put();
    expect(await stored).toMatchObject({ digest: blob.digest });
    expect(sentBytes(since())).toBe(blob.size - 3 * pieceBytes);
    expect(counters).toMatchObject({ hashed: blob.size, resumed: 3 * pieceBytes, read: blob.size });
  });

  it('is begun anew when the registry has thrown it away', async () => {
    const { put, registry, since } = await start(toFile(bytes), true);
    registry.behaviour.failStatus = ({ method }) => (method === 'GET' ? 404 : undefined);
    await put().stored;
    expect(sentBytes(since())).toBe(blob.size);
  });

  it('is begun anew when what the registry has is wrong', async () => {
    const { put, registry, since, entries } = await start(toFile(bytes), true);
    const [upload] = registry.uploads();
    writeFileSync(upload?.path ?? '', Buffer.alloc(upload?.size ?? 0));
    expect(await put().stored).toMatchObject({ digest: blob.digest });
    expect(sentBytes(since())).toBe(2 * blob.size - 3 * pieceBytes);
    expect(Buffer.from(registry.readBlob(blob.digest)).equals(bytes)).toBe(true);
    expect(entries()).toEqual([]);
  });

  it('goes on where the registry says it is, not where the journal does', async () => {
    const { put, registry, since } = await start(toFile(bytes), true);
    const [upload] = registry.uploads();
    writeFileSync(upload?.path ?? '', bytes.subarray(0, 1000));
    await put().stored;
    expect(sentBytes(since())).toBe(blob.size - 1000);
  });

  it.each([
    ['no JSON', 'x'],
    ['something else', '[]'],
    ['no address', '{"location":"file:///etc/passwd","offset":5}'],
    ['no offset', '{"location":"http://127.0.0.1/","offset":-1}'],
    ['a place where nobody is', '{"location":"http://127.0.0.1:1/v2/x","offset":5}'],
    ['too much', ' '.repeat(100_000)],
  ])('is forgotten when its entry holds %s', async (_what, text) => {
    const { put, folder, entries, since } = await start(toFile(bytes), true);
    writeFileSync(join(folder, entries()[0] ?? ''), text);
    expect(await put().stored).toMatchObject({ digest: blob.digest });
    expect(sentBytes(since())).toBe(blob.size);
    expect(entries()).toEqual([]);
  });

  it('is left alone while another process has it', async () => {
    const { put, folder, entries, since } = await start(toFile(bytes), true);
    const [name = ''] = entries();
    await withLock(join(folder, `${name}.lock`), async () => {
      expect(await put().stored).toMatchObject({ digest: blob.digest });
    });
    expect(sentBytes(since())).toBe(blob.size);
    expect(entries()).toEqual([name]);
  });

  it('is nobody else’s to read', async () => {
    const { folder, entries } = await start(toFile(bytes), true);
    const path = join(folder, entries()[0] ?? '');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ offset: 3 * pieceBytes });
  });

  it('is not written down for a registry that keeps none', async () => {
    const folder = createFolder();
    const { registry, open } = await startBench({}, { quirks: { ...quirks, keepsUploads: false }, journal: openUploadJournal(folder) });
    let patches = 0;
    registry.behaviour.failStatus = ({ method }) => (method === 'PATCH' && ++patches > 2 ? 403 : undefined);
    await expect(open().put(toFile(bytes), { expected: blob })).rejects.toMatchObject({ code: 'registry/denied' });
    expect(readdirSync(folder).filter((name) => name.endsWith('.json'))).toEqual([]);
  });
});

describe('a process that is killed in the midst of an upload', () => {
  it('leaves an upload that this one goes on with', async () => {
    const registry = await startRegistry();
    const folder = createFolder();
    const content = toFile(bytes);
    const path = content.kind === 'file' ? content.path : '';
    const program = bundleProgram('push-program', createFolder());
    const killed = new AbortController();
    registry.behaviour.failStatus = ({ method }) => {
      if (method === 'PATCH' && registry.count('PATCH') === 4) killed.abort();
      return undefined;
    };
    const args = [registry.host, folder, path, blob.digest, String(blob.size), String(pieceBytes)];
    const child = spawn(process.execPath, [program, ...args], { stdio: 'ignore', signal: killed.signal, killSignal: 'SIGKILL' });
    child.on('error', () => {});
    await new Promise((resolve) => child.once('close', resolve));
    expect(child.signalCode).toBe('SIGKILL');
    registry.behaviour.failStatus = undefined;
    const before = registry.log.length;
    const { open } = createBench(registry.host, { quirks, journal: openUploadJournal(folder) });
    expect(await open().put(content, { expected: blob })).toMatchObject({ digest: blob.digest, fresh: true });
    const sent = registry.log.slice(before).reduce((sum, { requestBytes }) => sum + requestBytes, 0);
    expect(sent).toBeLessThanOrEqual(blob.size - 3 * pieceBytes);
    expect((await readAll(open().open(blob))).equals(bytes)).toBe(true);
  });
});
