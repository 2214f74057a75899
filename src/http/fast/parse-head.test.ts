import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHead } from './parse-head.js';

const ok = 'HTTP/1.1 200 OK';

describe('parseHead', () => {
  it('reads a head', () => {
    expect(parseHead(`${ok}\r\nContent-Length: 5 \r\nX: a\r\nx:\tb\r\nEmpty:`)).toEqual({
      kind: 'final',
      head: { status: 200, headers: { 'content-length': '5', x: 'a, b', empty: '' }, length: 5, isKept: true },
    });
  });

  it.each([
    [`HTTP/1.1 206\r\ncontent-length: 0`, { status: 206, length: 0, isKept: true }],
    [`HTTP/1.1 404 Not Found\r\ncontent-length: 7\r\nconnection: Close`, { status: 404, length: 7, isKept: false }],
    [`${ok}\r\ncontent-length: 3\r\nconnection: upgrade, close`, { length: 3, isKept: false }],
    [`${ok}\r\ncontent-length: 3\r\nconnection: closed`, { length: 3, isKept: true }],
    [`${ok}\r\ncontent-length: 3\r\ncontent-length: 3`, { length: 3 }],
    ['HTTP/1.1 204 No Content', { length: 0 }],
    ['HTTP/1.1 304 Not Modified\r\ncontent-length: 99', { length: 0 }],
    [`${ok}\r\ncontent-length: 999999999999999`, { length: 999_999_999_999_999 }],
  ])('takes %j', (text, head) => {
    expect(parseHead(text)).toMatchObject({ kind: 'final', head });
  });

  it.each(['HTTP/1.1 100 Continue', 'HTTP/1.1 103 Early Hints\r\nlink: x'])('goes on after %j', (text) => {
    expect(parseHead(text)).toEqual({ kind: 'interim' });
  });

  it.each([
    '',
    'HTTP/1.0 200 OK\r\ncontent-length: 5',
    'HTTP/2 200\r\ncontent-length: 5',
    'HTTP/1.1 600 What\r\ncontent-length: 5',
    'HTTP/1.1 20 OK\r\ncontent-length: 5',
    'HTTP/1.1 101 Switching Protocols',
    ` ${ok}\r\ncontent-length: 5`,
    ok,
    `${ok}\ncontent-length: 5`,
    `${ok}\r\ncontent-length: 5\r\ncontent-length: 6`,
    `${ok}\r\ncontent-length: 5, 5`,
    `${ok}\r\ncontent-length: +5`,
    `${ok}\r\ncontent-length: 0x5`,
    `${ok}\r\ncontent-length: -1`,
    `${ok}\r\ncontent-length: 9999999999999999`,
    `${ok}\r\ncontent-length:`,
    `${ok}\r\ncontent-length : 5`,
    `${ok}\r\n content-length: 5`,
    `${ok}\r\ncontent-length: 5\r\nx: a\r\n folded`,
    `${ok}\r\ncontent-length: 5\r\nx: a\nb: c`,
    `${ok}\r\ncontent-length: 5\r\nx: a\0`,
    `${ok}\r\ncontent-length: 5\r\n: a`,
    `${ok}\r\ncontent-length: 5\r\nno colon`,
    `${ok}\r\ncontent-length: 5\r\ntransfer-encoding: chunked`,
    `${ok}\r\ncontent-length: 5\r\ntransfer-encoding: identity`,
  ])('leaves %j to others', (text) => {
    expect(parseHead(text)).toEqual({ kind: 'other' });
  });

  it('never throws, and what it takes has one length', () => {
    const piece = fc.constantFrom(
      'HTTP/1.1 ',
      '200',
      ' OK',
      '\r\n',
      '\n',
      '\r',
      ':',
      ' ',
      'content-length',
      '5',
      '12',
      'transfer-encoding',
      'chunked',
      '\0',
      'x',
      'ÿ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const parsed = parseHead(`${ok}\r\n${pieces.join('')}`);
        if (parsed.kind !== 'final') return;
        expect(parsed.head.length).toBe(Number(parsed.head.headers['content-length']?.split(', ')[0]));
        expect(parsed.head.headers['transfer-encoding']).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => ['final', 'interim', 'other'].includes(parseHead(text).kind)));
  });
});
