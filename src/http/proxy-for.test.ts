import { describe, expect, it } from 'vitest';
import { proxyFor } from './proxy-for.js';

const find = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.href;

describe('proxyFor', () => {
  it.each([
    ['https://hub.test/', { HTTPS_PROXY: 'http://gate.test:3128' }, 'http://gate.test:3128/'],
    ['https://hub.test/', { https_proxy: 'gate.test:3128', HTTPS_PROXY: 'http://other.test' }, 'http://gate.test:3128/'],
    ['http://hub.test/', { HTTP_PROXY: 'http://gate.test', HTTPS_PROXY: 'http://other.test' }, 'http://gate.test/'],
    ['http://hub.test/', { HTTPS_PROXY: 'http://gate.test' }, undefined],
    ['http://hub.test/', { all_proxy: 'https://gate.test' }, 'https://gate.test/'],
    ['https://hub.test/', { HTTPS_PROXY: 'http://gate.test', ALL_PROXY: 'http://other.test' }, 'http://gate.test/'],
    ['https://hub.test/', {}, undefined],
  ])('%s with %o → %s', (url, env, proxy) => {
    expect(find(url, env)).toBe(proxy);
  });

  it.each(['localhost', 'x.localhost', '127.0.0.1', '127.8.9.1', '[::1]', '2130706433'])('never asks %s through a proxy', (host) => {
    expect(find(`http://${host}:5000/`, { HTTP_PROXY: 'http://gate.test' })).toBeUndefined();
  });

  it.each([
    ['*', true],
    ['hub.test', true],
    ['HUB.test', true],
    ['test', true],
    ['.hub.test', true],
    ['*.test', true],
    ['hub.test:8080', true],
    ['hub.test:80', false],
    ['a.test, hub.test', true],
    ['a.test b.test', false],
    ['ub.test', false],
    ['a.hub.test', false],
  ])('NO_PROXY=%s excepts http://hub.test:8080: %s', (list, isExcepted) => {
    expect(find('http://hub.test:8080/', { HTTP_PROXY: 'gate.test', NO_PROXY: list }) === undefined).toBe(isExcepted);
  });

  it.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['fd00::/8', '[fd12::1]', true],
    ['fd12::1', '[fd12::1]', true],
    ['[fd12::1]:8080', '[fd12::1]', true],
    ['[fd12::1]:80', '[fd12::1]', false],
    ['10.0.0.0/99', '10.1.2.3', false],
    ['10.0.0.0/8', '[fd12::1]', false],
    ['10.0.0.0/8', 'hub.test', false],
  ])('NO_PROXY=%s excepts %s: %s', (list, host, isExcepted) => {
    expect(find(`http://${host}:8080/`, { HTTP_PROXY: 'gate.test', no_proxy: list }) === undefined).toBe(isExcepted);
  });

  it.each(['socks5://user:hunter2@gate.test', 'http://', 'http://user:hunter2%@gate.test', '://hunter2'])(
    'refuses %s without showing it',
    (value) => {
      const error = (() => {
        try {
          return find('https://hub.test/', { HTTPS_PROXY: value });
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error).toMatchObject({ code: 'registry/unreachable', hint: expect.stringContaining('HTTPS_PROXY') });
      expect(String(error)).not.toContain('hunter2');
    },
  );
});
