import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryIo, createMemoryStream } from '../../test/support/memory-io.js';
import { createProgress } from './progress.js';
import { plainStyle } from './terminal.js';

const asIs = (text: string) => text;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('lines', () => {
  it('tell the begin and the end of long work only', () => {
    const io = createMemoryIo();
    const progress = createProgress(io, 'auto', plainStyle, asIs);
    const short = progress.start('pack', 'config.json', 10);
    short.advance(10);
    short.done();
    const long = progress.start('pack', 'model.bin', 2_000_000);
    const unknown = progress.start('read', 'layer');
    vi.advanceTimersByTime(1500);
    long.advance(2_000_000);
    long.done();
    unknown.done('failed');
    progress.close();
    expect(io.stderr.text()).toBe('pack model.bin (2 MB)\nread layer\npack model.bin: done, 2 MB in 1.5 s\nread layer: failed, 0 B in 1.5 s\n');
    expect(io.stdout.text()).toBe('');
  });

  it('stop with close', () => {
    const io = createMemoryIo();
    const progress = createProgress(io, 'plain', plainStyle, asIs);
    progress.start('pack', 'model.bin');
    progress.close();
    vi.advanceTimersByTime(10_000);
    expect(io.stderr.text()).toBe('');
  });
});

describe('events', () => {
  it('are one JSON line each, at most ten a second', () => {
    const io = createMemoryIo();
    const item = createProgress(io, 'json', plainStyle, asIs).start('copy', 'sha256:1\u009b', 100);
    for (let count = 0; count < 50; count++) {
      vi.advanceTimersByTime(10);
      item.advance(2);
    }
    item.done('skipped');
    const events = io.stderr.text().trimEnd().split('\n');
    expect(io.stderr.text()).not.toContain('\u009b');
    const parsed = events.map((line) => JSON.parse(line) as { event: string; bytes: number });
    expect(parsed[0]).toEqual({ event: 'start', task: 'copy', item: 'sha256:1\u009b', bytes: 0, total: 100 });
    expect(parsed.at(-1)).toEqual({ event: 'done', task: 'copy', item: 'sha256:1\u009b', bytes: 100, total: 100, outcome: 'skipped' });
    expect(parsed.slice(1, -1).map(({ bytes }) => bytes)).toEqual([20, 40, 60, 80, 100]);
  });
});

describe('nothing', () => {
  it('is what --no-progress shows', () => {
    const io = createMemoryIo({ stderr: createMemoryStream({}) });
    const progress = createProgress(io, false, plainStyle, asIs);
    progress.start('pack', 'a').done();
    vi.advanceTimersByTime(5000);
    progress.close();
    expect(io.stderr.text()).toBe('');
  });
});

describe('bars', () => {
  it('are drawn at a terminal, on standard error, and vanish', async () => {
    const io = createMemoryIo({ stderr: createMemoryStream({}) });
    const progress = createProgress(io, 'auto', plainStyle, asIs);
    const item = progress.start('pack', 'model.bin', 100);
    item.advance(50);
    await vi.advanceTimersByTimeAsync(250);
    expect(io.stderr.text()).toBe('');
    await vi.advanceTimersByTimeAsync(200);
    await vi.waitFor(() => expect(io.stderr.text()).toContain('pack model.bin'));
    expect(io.stderr.text()).toContain('50%');
    item.done();
    progress.close();
    const drawn = io.stderr.text();
    expect(drawn.endsWith('\u001b[2K\u001b[G\u001b[?2026l')).toBe(true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(io.stderr.text()).toBe(drawn);
    expect(io.stdout.text()).toBe('');
  });

  it('are lines where the terminal cannot move its cursor', () => {
    const io = createMemoryIo({ stderr: createMemoryStream({}), env: { TERM: 'dumb' } });
    const progress = createProgress(io, 'auto', plainStyle, asIs);
    progress.start('pack', 'model.bin');
    vi.advanceTimersByTime(1500);
    progress.close();
    expect(io.stderr.text()).toBe('pack model.bin\n');
  });
});
