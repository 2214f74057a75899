import { describe, expect, it } from 'vitest';
import { parseReference, toStoreName, toText } from './reference.js';

const digest = `sha256:${'a'.repeat(64)}` as const;

describe('parseReference', () => {
  it.each([
    ['demo/digits:v1', { repository: 'demo/digits', tag: 'v1' }],
    ['digits', { repository: 'digits', tag: 'latest' }],
    ['localhost/a/b', { host: 'localhost', repository: 'a/b', tag: 'latest' }],
    ['localhost:5000/a:x', { host: 'localhost:5000', repository: 'a', tag: 'x' }],
    ['registry.example.com/team/model:1.0', { host: 'registry.example.com', repository: 'team/model', tag: '1.0' }],
    ['[::1]:5000/a', { host: '[::1]:5000', repository: 'a', tag: 'latest' }],
    [`a/b@${digest}`, { repository: 'a/b', digest }],
    [`a/b:v1@${digest}`, { repository: 'a/b', tag: 'v1', digest }],
    ['a__b/c-d.e--f', { repository: 'a__b/c-d.e--f', tag: 'latest' }],
  ])('reads %s', (text, expected) => {
    expect(parseReference(text)).toEqual(expected);
  });

  it.each([
    ['Demo/digits', 'lower case'],
    ['a//b', 'may hold only'],
    ['a/b:', 'the tag ""'],
    ['a:-x', 'the tag "-x"'],
    [`a:${'x'.repeat(129)}`, 'the tag'],
    ['-a', 'may hold only'],
    ['a.-b/c', 'not a host name'],
    ['', 'the repository is empty'],
    ['a'.repeat(256), 'longer than 255'],
    ['../a', 'not a host name'],
  ])('refuses %j', (text, reason) => {
    expect(() => parseReference(text)).toThrow(
      expect.objectContaining({ code: 'core/bad-reference', message: expect.stringContaining(reason) as string }),
    );
  });

  it.each(['a@sha256:../../etc/x', 'a@sha256:AAAA', 'a@md5:d41d8cd98f00b204e9800998ecf8427e', `a@sha256:${'A'.repeat(64)}`])(
    'refuses the digest of %s',
    (text) => {
      expect(() => parseReference(text)).toThrow(expect.objectContaining({ code: 'core/bad-digest' }));
    },
  );

  it('is written back as it was, its tag filled in', () => {
    expect(toStoreName(parseReference('h.io/a/b'))).toBe('h.io/a/b:latest');
    expect(toText(parseReference(`h.io/a/b:v1@${digest}`))).toBe(`h.io/a/b:v1@${digest}`);
  });
});
