import { describe, expect, it } from 'vitest';
import { isLoopback } from './loopback.js';
import { parseListen } from './parse-listen.js';

describe('parseListen', () => {
  it.each([
    ['127.0.0.1:5000', '127.0.0.1', 5000],
    ['0.0.0.0:0', '0.0.0.0', 0],
    ['localhost:65535', 'localhost', 65_535],
    ['my-host.example:80', 'my-host.example', 80],
    [':5000', '127.0.0.1', 5000],
    ['5000', '127.0.0.1', 5000],
    ['[::1]:0', '::1', 0],
    ['[::]:5000', '::', 5000],
  ])('%s', (text, host, port) => {
    expect(parseListen(text)).toEqual({ host, port });
  });

  it.each([
    '',
    ':',
    'localhost',
    'localhost:',
    '::1:5000',
    '[::1]',
    '[127.0.0.1]:1',
    '[]:1',
    '256.1.1.1:1',
    '1.2.3:1',
    'a b:1',
    'http://a:1',
    '-a:1',
    'a:65536',
    'a:-1',
    'a:1x',
    '[fe80::1%eth0',
  ])('refuses %j', (text) => {
    expect(() => parseListen(text)).toThrow(
      expect.objectContaining({
        code: 'ops/bad-option',
        message: `Cannot listen on ${JSON.stringify(text)}: expected HOST:PORT with a port of at most 65535`,
      }),
    );
  });
});

describe('isLoopback', () => {
  it.each(['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1', 'localhost', 'LOCALHOST', 'a.localhost'])('%s is this machine', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '127.0.0.1.example', 'example.com', 'notlocalhost', '::ffff:10.0.0.1', ''])(
    '%s is not',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});
