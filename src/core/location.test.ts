import { describe, expect, it } from 'vitest';
import { parseLocation } from './location.js';

const digest = `sha256:${'a'.repeat(64)}`;

describe('parseLocation', () => {
  it.each([
    ['./dir', { kind: 'path', path: './dir' }],
    ['/dir/x.tar', { kind: 'path', path: '/dir/x.tar' }],
    ['..', { kind: 'path', path: '..' }],
    ['~/models', { kind: 'path', path: '~/models' }],
    ['oci:dir', { kind: 'oci', path: 'dir' }],
    ['oci:dir:v1', { kind: 'oci', path: 'dir', tag: 'v1' }],
    ['oci:/a/b:host.io/x:v1', { kind: 'oci', path: '/a/b', tag: 'host.io/x:v1' }],
    [`oci:dir@${digest}`, { kind: 'oci', path: 'dir', digest }],
    [`oci:dir:v1@${digest}`, { kind: 'oci', path: 'dir', tag: 'v1', digest }],
    ['oci-archive:x.tar:demo/x:v1', { kind: 'oci-archive', path: 'x.tar', tag: 'demo/x:v1' }],
    ['docker-archive:x.tar', { kind: 'docker-archive', path: 'x.tar' }],
    ['https://host/x.carton', { kind: 'http', url: 'https://host/x.carton' }],
    ['Some Folder', { kind: 'path', path: 'Some Folder', notName: expect.stringContaining('lower case') as string }],
  ])('reads %s', (text, expected) => {
    expect(parseLocation(text)).toEqual({ text, ...expected });
  });

  it('leaves a name that may be a path open', () => {
    expect(parseLocation('digits')).toMatchObject({ kind: 'path-or-name', path: 'digits', reference: { repository: 'digits', tag: 'latest' } });
  });

  it.each(['', 'oci:', 'oci-archive::v1', 'a\0b'])('refuses %j', (text) => {
    expect(() => parseLocation(text)).toThrow(expect.objectContaining({ code: 'core/bad-location' }));
  });
});
