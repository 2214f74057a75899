import { describe, expect, it } from 'vitest';
import { LineSplitter, logBytes, LogTail } from './log-tail.js';

describe('LogTail', () => {
  it('keeps the end, in memory that does not grow', () => {
    const tail = new LogTail();
    for (let n = 0; n < 3000; n++) tail.add(Buffer.from(`line ${n} ${'x'.repeat(100)}\n`));
    expect(tail.text()).toMatch(/line 2999 x+\n$/);
    expect(tail.text().length).toBe(logBytes);
    tail.add(Buffer.alloc(10 * logBytes, 'y'));
    expect(tail.text()).toBe('y'.repeat(logBytes));
  });

  it('gives the last lines that say something', () => {
    const tail = new LogTail();
    tail.add(Buffer.from(`one\r\ntwo\n\n   \n${'z'.repeat(400)}\n`));
    expect(tail.lastLines(2)).toEqual(['two', 'z'.repeat(300)]);
    expect(new LogTail().lastLines(2)).toEqual([]);
  });
});

describe('LineSplitter', () => {
  it('joins pieces, characters too, and cuts what has no end', () => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    const text = Buffer.from('grüße\r\nzwei\nrest');
    for (const byte of text) splitter.add(Buffer.of(byte));
    expect(lines).toEqual(['grüße', 'zwei']);
    splitter.add(Buffer.alloc(2 * logBytes, 'x'));
    splitter.end();
    splitter.end();
    expect(lines.slice(2)).toEqual([`rest${'x'.repeat(2 * logBytes)}`]);
  });
});
