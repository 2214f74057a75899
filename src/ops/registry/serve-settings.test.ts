import { describe, expect, it } from 'vitest';
import type { ServeOptions } from './serve-options.js';
import { listDangers, parseServeOptions } from './serve-settings.js';

const everywhere: ServeOptions = { listen: '0.0.0.0:5000' };
const parse = (options: ServeOptions) => parseServeOptions(options);
const dangersOf = (options: ServeOptions) => listDangers(options, parse(options)).map(({ code }) => code);

describe('parseServeOptions', () => {
  it('without options serves this machine, and keeps clean', () => {
    expect(parse({})).toEqual({
      listen: { host: '127.0.0.1', port: 5000 },
      isLocal: true,
      isGuarded: false,
      writes: true,
      upstream: undefined,
      gcIntervalMs: 3_600_000,
      uploadAgeMs: 7 * 86_400_000,
    });
  });

  it.each<[ServeOptions, object]>([
    [{ readOnly: true }, { writes: false }],
    // What it fetches it keeps.
    [
      { readOnly: true, mirror: 'https://ghcr.io' },
      { writes: true, upstream: { host: 'ghcr.io' } },
    ],
    [
      { gcInterval: 'off', uploadTtl: '1d' },
      { gcIntervalMs: undefined, uploadAgeMs: 86_400_000, untaggedAgeMs: undefined },
    ],
    [{ untaggedTtl: '2d' }, { untaggedAgeMs: 172_800_000 }],
    [{ listen: '[::1]:0' }, { listen: { host: '::1', port: 0 }, isLocal: true }],
    [
      { ...everywhere, htpasswd: 'f' },
      { isLocal: false, isGuarded: true },
    ],
    [
      { ...everywhere, tokenFile: 'f' },
      { isLocal: false, isGuarded: true },
    ],
    [
      { ...everywhere, insecureNoAuth: true },
      { isLocal: false, isGuarded: false },
    ],
  ])('%j', (options, settings) => {
    expect(parse(options)).toMatchObject(settings);
  });

  it.each<[why: string, options: ServeOptions, words: string]>([
    ['other machines reach it', everywhere, '--insecure-no-auth'],
    ['a name may be any machine', { listen: 'models.lan:5000' }, '--htpasswd FILE or --token-file FILE'],
    ['logins do not go with no logins', { ...everywhere, insecureNoAuth: true, htpasswd: 'f' }, '--insecure-no-auth'],
    ['nothing is ever deleted', { untaggedTtl: '1d', gcInterval: 'off' }, '--untagged-ttl'],
    ['there is nobody to be anonymous', { anonymousPull: true }, '--anonymous-pull'],
    ['a folder that is named stays', { dir: 'd', tmp: true }, '--dir and --tmp'],
    ['a certificate has a key', { tlsCert: 'f' }, '--tls-cert'],
    ['a key has a certificate', { tlsKey: 'f' }, '--tls-key'],
  ])('%s', (_, options, words) => {
    expect(() => parse(options)).toThrow(expect.objectContaining({ code: 'ops/bad-option', message: expect.stringContaining(words) }));
  });
});

it('what is allowed and dangerous is said', () => {
  expect(dangersOf({})).toEqual([]);
  expect(dangersOf({ ...everywhere, insecureNoAuth: true })).toEqual(['registry/no-auth']);
  expect(dangersOf({ ...everywhere, htpasswd: 'f' })).toEqual(['registry/no-tls']);
  expect(dangersOf({ ...everywhere, htpasswd: 'f', tlsCert: 'c', tlsKey: 'k' })).toEqual([]);
});
