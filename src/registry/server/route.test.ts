import { describe, expect, it } from 'vitest';
import { Refusal } from './refusal.js';
import { parseTarget } from './route.js';

const digest = `sha256:${'a'.repeat(64)}`;

describe('an address', () => {
  it.each([
    ['/v2/', { kind: 'ping' }],
    ['/v2', { kind: 'ping' }],
    ['/v2/_catalog?n=5', { kind: 'catalog' }],
    ['/v2/_oci/ext/discover', { kind: 'extensions' }],
    ['/v2/a/b/_oci/ext/discover', { kind: 'extensions', repository: 'a/b' }],
    [`/v2/a/b/blobs/${digest}`, { kind: 'blob', repository: 'a/b', digest }],
    [`/v2/a/blobs/${digest.replace(':', '%3A')}`, { kind: 'blob', repository: 'a', digest }],
    ['/v2/a/blobs/uploads/', { kind: 'uploads', repository: 'a' }],
    ['/v2/a/blobs/uploads', { kind: 'uploads', repository: 'a' }],
    ['/v2/a/blobs/uploads/some-id?_state=x', { kind: 'upload', repository: 'a', id: 'some-id' }],
    ['/v2/a/blobs/uploads/manifests/v1', { kind: 'manifest', repository: 'a/blobs/uploads', reference: 'v1' }],
    ['/v2/a/manifests/tags/list', { kind: 'tags', repository: 'a/manifests' }],
    ['/v2/a/tags/list', { kind: 'tags', repository: 'a' }],
    [`/v2/a/referrers/${digest}`, { kind: 'referrers', repository: 'a', digest }],
  ])('%s is understood', (target, route) => {
    expect(parseTarget(target).route).toEqual(route);
  });

  it.each([
    ['/', 404],
    ['/v1/', 404],
    ['v2/', 404],
    ['/v2/a', 404],
    ['/v2//manifests/v1', 400],
    ['/v2/A/manifests/v1', 400],
    ['/v2/../manifests/v1', 400],
    ['/v2/%2e%2e/manifests/v1', 400],
    ['/v2/a%2fb/manifests/v1', 400],
    ['/v2/a%2Fmanifests/manifests/v1', 400],
    ['/v2/a/./manifests/v1', 400],
    ['/v2/a//b/manifests/v1', 400],
    ['/v2/a\\b/manifests/v1', 400],
    ['/v2/a%00/manifests/v1', 400],
    ['/v2/%zz/manifests/v1', 400],
    [`/v2/${'a'.repeat(256)}/manifests/v1`, 400],
    [`/v2/a/manifests/${'a'.repeat(9000)}`, 414],
  ])('%s is refused with %d', (target, status) => {
    expect(() => parseTarget(target)).toThrow(Refusal);
    expect(() => parseTarget(target)).toThrow(expect.objectContaining({ status }));
  });
});
