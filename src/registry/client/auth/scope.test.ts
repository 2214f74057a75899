import { describe, expect, it } from 'vitest';
import { coversScopes, mergeScopes, toScopeText } from './scope.js';

describe('scopes', () => {
  it('are written as token services read them', () => {
    expect(toScopeText({ kind: 'repository', name: 'a/b', actions: ['pull', 'push'] })).toBe('repository:a/b:pull,push');
    expect(toScopeText({ kind: 'catalog' })).toBe('registry:catalog:*');
  });

  it('become one a repository, sorted', () => {
    expect(mergeScopes(['repository:b:push,pull', 'repository:a:pull', 'repository:b:pull,delete', '*', 'repository:h:5000/a:pull,', '*'])).toEqual([
      '*',
      'repository:a:pull',
      'repository:b:delete,pull,push',
      'repository:h:5000/a:pull',
    ]);
  });

  it.each([
    [['repository:a:pull,push'], ['repository:a:pull'], true],
    [['repository:a:pull,push', 'repository:b:pull'], ['repository:b:pull'], true],
    [['repository:a:*'], ['repository:a:push'], true],
    [['repository:a:pull'], [], true],
    [['repository:a:pull'], ['repository:a:push'], false],
    [['repository:a:pull'], ['repository:ab:pull'], false],
    [[], ['registry:catalog:*'], false],
  ])('%j covers %j: %s', (have, want, expected) => {
    expect(coversScopes(have, want)).toBe(expected);
  });
});
