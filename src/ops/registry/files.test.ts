/** The files beside a server: where it listens, who may enter, what was asked, and the folder itself. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkbench, type Workbench } from '../../../test/support/workbench.js';
import type { Finding } from '../../core/index.js';
import { openLogFile } from './log-file.js';
import { createPortFile } from './port-file.js';
import { withServerLock, withTemporaryFolder } from './served-folder.js';
import { readTlsFiles } from './tls-files.js';
import { watchText } from './watched-text.js';

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.close());

describe('a port file', () => {
  it('holds the address while there is one, and nothing that was there before', () => {
    writeFileSync(bench.path('port'), '127.0.0.1:1');
    const file = createPortFile(bench.path('port'));
    expect(existsSync(bench.path('port'))).toBe(false);
    file.write('127.0.0.1:2');
    expect(readFileSync(bench.path('port'), 'utf8')).toBe('127.0.0.1:2');
    const listening = process.listenerCount('exit');
    file.remove();
    expect([readdirSync(bench.base), process.listenerCount('exit')]).toEqual([[], listening - 1]);
    file.remove();
  });

  it('is written into a folder that is there', () => {
    expect(() => createPortFile(bench.path('none/port')).write('x')).toThrow(expect.objectContaining({ code: 'bytes/not-found' }));
  });
});

describe('a watched text', () => {
  it('is what the file says now', () => {
    const path = bench.path('users');
    writeFileSync(path, 'a');
    const read = watchText(path, bench.context());
    expect([read(), read()]).toEqual(['a', 'a']);
    writeFileSync(path, 'bb');
    expect(read()).toBe('bb');
    rmSync(path);
    expect(read).toThrow(expect.objectContaining({ code: 'bytes/not-found' }));
    writeFileSync(path, 'c');
    expect(read()).toBe('c');
  });

  it('is not read when it is too large', () => {
    writeFileSync(bench.path('users'), 'x'.repeat(2000));
    const context = bench.context();
    const read = watchText(bench.path('users'), { limits: { ...context.limits, personFileBytes: 1999 } });
    expect(read).toThrow(expect.objectContaining({ code: 'bytes/limit' }));
  });
});

describe('a log', () => {
  it('goes to the end of its file', async () => {
    writeFileSync(bench.path('log'), 'before\n');
    const { stream, close } = await openLogFile('log', bench.context());
    stream.write('after\n');
    await close();
    expect(readFileSync(bench.path('log'), 'utf8')).toBe('before\nafter\n');
  });

  it('that cannot be written stops no server later, and the server at its start', async () => {
    const told: Finding[] = [];
    const context = bench.context({ announce: (findings) => void told.push(...findings) });
    await expect(openLogFile('none/log', context)).rejects.toMatchObject({ code: 'bytes/not-found' });
    const { stream, close } = await openLogFile('log', context);
    stream.emit('error', Object.assign(new Error('write'), { code: 'ENOSPC' }));
    await close();
    expect(told).toMatchObject([{ code: 'registry/access-log', message: expect.stringContaining('the disk is full; requests are served') }]);
  });
});

describe('a temporary folder', () => {
  it('lies below TMPDIR and is gone afterwards, also after a failure', async () => {
    const context = bench.context({ env: { TMPDIR: bench.base } });
    const use = async (path: string) => {
      mkdirSync(`${path}/blobs`);
      expect(path.startsWith(bench.base)).toBe(true);
      throw new Error('no');
    };
    const before = process.listenerCount('exit');
    await expect(withTemporaryFolder(context, use)).rejects.toThrow('no');
    expect([readdirSync(bench.base), process.listenerCount('exit')]).toEqual([[], before]);
  });

  it('needs a place', async () => {
    const context = bench.context({ env: { TMPDIR: bench.path('none') } });
    await expect(withTemporaryFolder(context, async () => {})).rejects.toMatchObject({ code: 'bytes/not-found' });
  });
});

describe('the lock of a server', () => {
  it('keeps a second one away, in plain words, and leaves nothing', async () => {
    const layout = bench.path('layout');
    const second = () => withServerLock(layout, async () => 'in');
    await withServerLock(layout, async () => {
      await expect(second()).rejects.toMatchObject({
        code: 'store/locked',
        message: `Cannot serve "${layout}": another server has it already (process ${process.pid})`,
        hint: expect.stringContaining('--read-only'),
      });
    });
    expect(await second()).toBe('in');
    expect(readdirSync(layout)).toEqual([]);
  });

  it('says what to do about a folder that cannot be written', async () => {
    writeFileSync(bench.path('layout'), 'a file');
    await expect(withServerLock(bench.path('layout'), async () => {})).rejects.toMatchObject({
      message: expect.stringContaining('to be written'),
      hint: 'Add --read-only to serve what is there as it is',
    });
  });

  it('does not speak for what goes wrong inside', async () => {
    const failure = new Error('inside');
    await expect(withServerLock(bench.path('layout'), () => Promise.reject(failure))).rejects.toBe(failure);
  });
});

it('certificates that cannot be read are named', () => {
  expect(readTlsFiles({}, bench.context())).toBeUndefined();
  expect(() => readTlsFiles({ tlsCert: 'c.pem', tlsKey: 'k.pem' }, bench.context())).toThrow(
    expect.objectContaining({ code: 'bytes/not-found', where: bench.path('c.pem') }),
  );
});
