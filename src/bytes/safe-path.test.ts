import fc from 'fast-check';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError } from '../core/index.js';
import { assertSafePath, judgeLayerPath, judgePath, normalizeEntryName, portabilityOf } from './safe-path.js';

const judge = (path: string) => judgePath(path, defaultLimits);

describe('judgePath', () => {
  it.each(['a', 'a/b/c.txt', 'a..b', '..foo', 'foo..', '...', '.hidden', 'a b', 'ü/日本', 'a~b', 'con', 'a:b/c'.slice(2), '\u{1f600}'])(
    'takes %j',
    (path) => {
      expect(judge(path)).toBeUndefined();
    },
  );

  it.each([
    ['', /empty/],
    ['.', /dot/],
    ['./a', /dot/],
    ['a/.', /dot/],
    ['..', /"\.\."/],
    ['../../x', /"\.\."/],
    ['a/../../x', /"\.\."/],
    ['a/..', /"\.\."/],
    ['/etc/x', /absolute/],
    ['//x', /absolute/],
    ['C:\\x', /drive/],
    ['C:x', /drive/],
    ['c:/x', /drive/],
    ['\\\\srv\\x', /backslash/],
    ['\\\\?\\x', /backslash/],
    ['..\\x', /backslash/],
    ['a//b', /two slashes/],
    ['a/', /two slashes/],
    ['a\0b', /NUL/],
    ['a\nb', /control/],
    ['a\r', /control/],
    ['\x1b[31m', /control/],
    ['a\x7f', /control/],
    ['a\ud800', /UTF-8/],
    ['\udc00a', /UTF-8/],
    ['a\ufffdb', /UTF-8/],
    ['a'.repeat(256), /255 bytes/],
    ['ü'.repeat(128), /255 bytes/],
    [`${'a/'.repeat(128)}a`, /128 folders/],
    ['a'.repeat(5000), /4096 bytes/],
  ])('refuses %j', (path, reason) => {
    expect(judge(path)).toMatch(reason);
  });

  it('lets nothing through that leaves the root or changes when it is normalised', () => {
    const parts = fc.array(fc.constantFrom('..', '.', '', 'a', 'a..b', '..a', 'C:', '\\', '/', '\0'), { maxLength: 6 });
    fc.assert(
      fc.property(parts, (list) => {
        const path = list.join('/');
        if (judge(path) !== undefined) return;
        expect(posix.normalize(path)).toBe(path);
        expect(posix.resolve('/base', path).startsWith('/base/')).toBe(true);
      }),
    );
  });
});

describe('judgeLayerPath', () => {
  it('takes what a Linux file system can hold', () => {
    expect(judgeLayerPath('systemd/a\\x2db.slice', defaultLimits)).toBeUndefined();
  });

  it.each(['../x', 'a/../b', 'a\0', '', 'a//b'])('refuses %j', (path) => {
    expect(judgeLayerPath(path, defaultLimits)).toBeDefined();
  });
});

describe('portabilityOf', () => {
  it.each(['con', 'NUL.txt', 'a/Aux', 'com1', 'lpt9.log', 'a.', 'a ', 'a./b', 'a:b', 'what?', 'PROGRA~1', 'conin$'])('warns of %j', (path) => {
    expect(portabilityOf(path)).toBeDefined();
  });

  it.each(['console', 'a/com', 'com10', 'nul1', 'a.b', '.a', 'model~', 'a long name~1'])('is content with %j', (path) => {
    expect(portabilityOf(path)).toBeUndefined();
  });
});

describe('assertSafePath', () => {
  it('names the path and what holds it, with controls spelled out', () => {
    try {
      assertSafePath('../\x1b[2J', 'layer \u202e1', defaultLimits);
      expect.unreachable();
    } catch (error) {
      if (!isToolkitError(error, 'bytes/unsafe-path')) throw error;
      expect(error.message).toBe('Cannot use the path "../\\u{1b}[2J" of layer \\u{202e}1: it holds a control character');
    }
  });
});

describe('normalizeEntryName', () => {
  it.each([
    ['./a/b', 'a/b'],
    ['././a', 'a'],
    ['a/', 'a'],
    ['./', ''],
    ['.', ''],
    ['.a', '.a'],
    ['../a', '../a'],
    ['/a', '/a'],
    ['a//', 'a/'],
    ['./..', '..'],
  ])('%j is %j', (name, path) => {
    expect(normalizeEntryName(name)).toBe(path);
  });
});
