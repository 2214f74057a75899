import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileContent, KnownDigest, TarContent } from '../core/index.js';
import { openDigestCache } from './digest-cache.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'digest-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const known: KnownDigest = { digest: `sha256:${'a'.repeat(64)}`, size: 3 };

/** A cache in a world where all files are old. */
function openCache() {
  return openDigestCache(join(folder, 'cache/digests.jsonl'), () => Date.now() + 60_000);
}

function write(name: string, text: string): FileContent {
  const path = join(folder, name);
  writeFileSync(path, text);
  return { kind: 'file', path, size: Buffer.byteLength(text) };
}

function toTar(
  members: readonly { name: string; content: FileContent; mode?: number; mtime?: number }[],
  compression: TarContent['compression'] = 'none',
): TarContent {
  return { kind: 'tar', compression, members: members.map((member) => ({ mode: 0o644, mtime: 0, ...member })) };
}

describe('openDigestCache', () => {
  it('remembers a file, also for the next process', async () => {
    const file = write('a', 'abc');
    const cache = openCache();
    const identity = cache.identify(file) as string;
    expect(cache.find(identity)).toBeUndefined();
    await cache.remember(identity, file, { ...known, diffId: known.digest });
    expect(cache.find(identity)).toEqual({ ...known, diffId: known.digest });
    expect(openCache().find(openCache().identify(file) as string)).toEqual({ ...known, diffId: known.digest });
  });

  it.each([
    ['rewritten', (path: string) => writeFileSync(path, 'abd')],
    ['given other times', (path: string) => utimesSync(path, 1, 1)],
    ['replaced by another of the same times', (path: string) => replaceKeepingTimes(path)],
  ])('does not know a file that was %s', async (_what, change) => {
    const file = write('a', 'abc');
    const cache = openCache();
    const identity = cache.identify(file) as string;
    await cache.remember(identity, file, known);
    change(file.path);
    expect(cache.identify(file)).not.toBe(identity);
  });

  it('does not keep what changed while it was read', async () => {
    const file = write('a', 'abc');
    const cache = openCache();
    const identity = cache.identify(file) as string;
    write('a', 'abd');
    utimesSync(file.path, 5, 5);
    await cache.remember(identity, file, known);
    expect(cache.find(identity)).toBeUndefined();
  });

  it('does not trust a file that has only just changed, is of another size, absent or no file', () => {
    const file = write('a', 'abc');
    const { ctimeMs } = statSync(file.path);
    const at = (now: number) => openDigestCache(join(folder, 'c'), () => now).identify(file);
    expect(at(ctimeMs + 49)).toBeUndefined();
    expect(at(ctimeMs - 1000)).toBeUndefined();
    expect(at(ctimeMs + 51)).toBeDefined();
    expect(openCache().identify({ ...file, size: 4 })).toBeUndefined();
    expect(openCache().identify({ ...file, path: join(folder, 'none') })).toBeUndefined();
    expect(openCache().identify({ ...file, path: folder, size: statSync(folder).size })).toBeUndefined();
  });

  it('tells tars apart by names, modes, times, order, files and compression', () => {
    const [first, second] = [write('a', 'abc'), write('b', 'abc')];
    const tars = [
      toTar([{ name: 'x', content: first }]),
      toTar([{ name: 'y', content: first }]),
      toTar([{ name: 'x', content: first, mode: 0o755 }]),
      toTar([{ name: 'x', content: first, mtime: 1 }]),
      toTar([{ name: 'x', content: second }]),
      toTar([{ name: 'x', content: first }], 'gzip'),
      toTar([
        { name: 'x', content: first },
        { name: 'y', content: second },
      ]),
      toTar([
        { name: 'y', content: second },
        { name: 'x', content: first },
      ]),
    ];
    const cache = openCache();
    expect(new Set(tars.map((tar) => cache.identify(tar))).size).toBe(tars.length);
    expect(cache.identify(tars[0] as TarContent)).toBe(cache.identify(toTar([{ name: 'x', content: first }])));
  });

  it('does not know bytes, streams, nor a tar with a stream in it', () => {
    const stream = { kind: 'stream' as const, size: 3, open: () => Promise.reject(new Error('opened')) };
    const cache = openCache();
    expect(cache.identify({ kind: 'bytes', bytes: new Uint8Array() })).toBeUndefined();
    expect(cache.identify(stream)).toBeUndefined();
    expect(cache.identify({ kind: 'tar', compression: 'none', members: [{ name: 'x', mode: 0o644, mtime: 0, content: stream }] })).toBeUndefined();
  });

  it('survives torn and forged lines', async () => {
    const file = write('a', 'abc');
    const path = join(folder, 'cache/digests.jsonl');
    const cache = openCache();
    const identity = cache.identify(file) as string;
    await cache.remember(identity, file, known);
    const line = readFileSync(path, 'utf8');
    appendFileSync(path, line.replace(/a{64}/, 'b'.repeat(64)));
    appendFileSync(path, `\n\0\n${line.slice(0, 40)}`);
    const other = write('b', 'xyz');
    const next = openCache();
    expect(next.find(identity)).toEqual(known);
    const otherIdentity = next.identify(other) as string;
    await next.remember(otherIdentity, other, known);
    await next.remember(otherIdentity, other, known);
    expect(openCache().find(identity)).toEqual(known);
    expect(openCache().find(otherIdentity)).toEqual(known);
  });

  it('forgets the older half when it has grown large', async () => {
    const file = write('a', 'abc');
    const path = join(folder, 'cache/digests.jsonl');
    const cache = openCache();
    await cache.remember(cache.identify(file) as string, file, known);
    const filler = `${'x'.repeat(1023)}\n`.repeat(1024);
    for (let count = 0; count < 9; count++) appendFileSync(path, filler);
    const other = write('b', 'xyz');
    const identity = cache.identify(other) as string;
    await cache.remember(identity, other, known);
    expect(statSync(path).size).toBeLessThan(1000);
    expect(openCache().find(identity)).toEqual(known);
  });

  it('never fails because it cannot be written', async () => {
    const file = write('a', 'abc');
    const cache = openDigestCache(join(file.path, 'not/a/folder'), () => Date.now() + 60_000);
    const identity = cache.identify(file) as string;
    await cache.remember(identity, file, known);
    expect(cache.find(identity)).toEqual(known);
  });
});

function replaceKeepingTimes(path: string): void {
  const { atime, mtime } = statSync(path);
  writeFileSync(`${path}.new`, 'abd');
  utimesSync(`${path}.new`, atime, mtime);
  renameSync(`${path}.new`, path);
}
