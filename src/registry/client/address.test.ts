import { describe, expect, it } from 'vitest';
import { toLocation, toRegistryAddress } from './address.js';
import { findQuirks } from './quirks.js';

describe('the address of a registry', () => {
  it.each([
    ['r.test', 'https:', 'r.test'],
    ['r.test:5000', 'https:', 'r.test:5000'],
    ['localhost:5000', 'http:', 'localhost:5000'],
    ['127.0.0.1:5000', 'http:', '127.0.0.1:5000'],
    ['[::1]:5000', 'http:', '[::1]:5000'],
    ['docker.io', 'https:', 'registry-1.docker.io'],
  ])('of %s begins with %s and leads to %s', (host, scheme, at) => {
    expect(toRegistryAddress(host, undefined).origin).toBe(`${scheme}//${at}`);
  });

  it.each(['1127.0.0.1', 'r.test:99999'])('%s is refused', (host) => {
    expect(() => toRegistryAddress(host, undefined)).toThrow('no address can be made of it');
  });

  it('is without TLS where that was asked for', () => {
    expect(toRegistryAddress('r.test', true).origin).toBe('http://r.test');
  });

  it('is with TLS on this machine too where that was asked for', () => {
    expect(toRegistryAddress('localhost:5000', false).origin).toBe('https://localhost:5000');
  });

  it.each(['127.0.0.1.r.test', 'localhost.r.test', 'r.localhost.test'])('%s is not this machine', (host) => {
    expect(toRegistryAddress(host, undefined).origin).toBe(`https://${host}`);
  });
});

describe('a location', () => {
  const address = toRegistryAddress('r.test:5000', false);
  const requested = 'https://r.test:5000/v2/a/blobs/uploads/';

  it.each([
    ['/v2/up?a=b%2Fc', 'https://r.test:5000/v2/up?a=b%2Fc'],
    ['id?x', 'https://r.test:5000/v2/a/blobs/uploads/id?x'],
    ['https://r.test:5000/up', 'https://r.test:5000/up'],
    ['https://r.test/up', 'https://r.test:5000/up'],
    ['http://r.test/up', 'https://r.test:5000/up'],
    ['http://r.test:8080/up', 'https://r.test:5000/up'],
    ['//r.test/up', 'https://r.test:5000/up'],
    ['https://r.test:6000/up', 'https://r.test:6000/up'],
    ['https://other.test/up?sig=x', 'https://other.test/up?sig=x'],
    ['https://r.test.other.test/up', 'https://r.test.other.test/up'],
    ['ftp://r.test/up', 'ftp://r.test/up'],
  ])('%s leads to %s', (location, found) => {
    expect(toLocation(location, requested, address)).toBe(found);
  });
});

describe('what is known of registries', () => {
  it.each([
    ['ghcr.io', { upload: 'monolithic' }],
    ['gcr.io', { upload: 'monolithic' }],
    ['eu.gcr.io', { upload: 'monolithic' }],
    ['europe-docker.pkg.dev', { upload: 'monolithic' }],
    ['123456789012.dkr.ecr.eu-west-1.amazonaws.com', { upload: 'chunked', refusalHint: expect.stringContaining('create-repository') as string }],
    ['quay.io', { maxBlobBytes: 20_000_000_000 }],
    ['team.jfrog.io', { keepsUploads: false }],
    ['docker.io', { apiHost: 'registry-1.docker.io', defaultNamespace: 'library' }],
  ])('holds for %s', (host, quirks) => {
    expect(findQuirks(host)).toMatchObject(quirks);
  });

  it.each(['ghcr.io.test', 'my-ghcr.io', 'xgcr.io', 'gcr.io.test', 'quay.io:5000', 'jfrog.io.test'])('does not hold for %s', (host) => {
    expect(findQuirks(host)).toEqual(findQuirks('r.test'));
  });
});
