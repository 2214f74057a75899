import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../core/index.js';
import { judgeLayerLink, judgeLink, seenFrom } from './link-target.js';

function judge(path: string, target: string, others: Record<string, string> = {}): string | undefined {
  const links = new Map(Object.entries({ ...others, [path]: target }));
  return judgeLink(path, target, (at) => links.get(at), defaultLimits);
}

describe('judgeLink', () => {
  it.each([
    ['l', 'a'],
    ['a/b/l', '../../c'],
    ['a/l', '.'],
    ['l', 'missing/file'],
    ['l', 'a/../b'],
    ['a/b/l', '..'],
  ])('lets %s point to %s', (path, target) => {
    expect(judge(path, target)).toBeUndefined();
  });

  it.each([
    ['l', '/etc/passwd', /absolute/],
    ['l', 'C:\\x', /absolute/],
    ['l', '..', /leads out/],
    ['a/l', '../../x', /leads out/],
    ['a/l', '../b/../../x', /leads out/],
    ['l', '', /empty/],
    ['l', 'a\0', /NUL/],
    ['l', '..\\x', /backslash/],
    ['l', 'l', /loop/],
    ['l', 'a/'.repeat(200), /deep/],
    ['l', 'a'.repeat(5000), /longer/],
  ])('refuses that %s points to %j', (path, target, reason) => {
    expect(judge(path, target)).toMatch(reason);
  });

  it('walks through other links as the system does', () => {
    expect(judge('l', 'k/../x', { k: 'a/b' })).toBeUndefined();
    expect(judge('a/b/l', '../up/../x', { 'a/up': '..' })).toMatch(/leads out/);
    expect(judge('l', 'k/x', { k: '/etc' })).toMatch(/through a link/);
    expect(judge('l', 'k', { k: 'l' })).toMatch(/loop/);
  });

  it('refuses a chain of a thousand', () => {
    const links = new Map(Array.from({ length: 1000 }, (_, index) => [`l${index}`, `l${index + 1}`]));
    expect(judgeLink('l0', 'l1', (at) => links.get(at), defaultLimits)).toMatch(/chain/);
  });
});

describe('judgeLayerLink', () => {
  it('only asks whether the link stays inside', () => {
    const none = () => undefined;
    expect(judgeLayerLink('a/l', '../b\\c', none, defaultLimits)).toBeUndefined();
    expect(judgeLayerLink('a/l', '../../b', none, defaultLimits)).toMatch(/leads out/);
    expect(judgeLayerLink('l', '', none, defaultLimits)).toMatch(/empty/);
  });
});

describe('seenFrom', () => {
  it.each([
    ['l', 'usr/lib', 'usr/lib'],
    ['a/b/l', 'usr/lib', '../../usr/lib'],
    ['l', '', '.'],
    ['a/l', '', '../'],
  ])('%s to %j is %s', (path, target, seen) => {
    expect(seenFrom(path, target)).toBe(seen);
  });
});
