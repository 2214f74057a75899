import { describe, expect, it } from 'vitest';
import type { RuntimeOption } from '../core/index.js';
import { judgeOptions, selectOptions } from './judge-options.js';

const options: readonly RuntimeOption[] = [
  { name: 'word', type: 'text', summary: '' },
  { name: 'count', type: 'integer', summary: '' },
  { name: 'part', type: 'float', summary: '' },
  { name: 'flag', type: 'boolean', summary: '' },
  { name: 'model.*', type: 'any', summary: '' },
];
const runtime = { id: 'some', options };

describe('options of a model', () => {
  const right = { word: 'a', count: 2n ** 63n, part: 1n, flag: false, 'model.x': 0.5, 'model.y': 'text' };

  it('of the declared types are fine, and kept', () => {
    expect(judgeOptions({ options: right }, runtime)).toEqual([]);
    expect(selectOptions(right, options)).toEqual(right);
  });

  it.each([
    [{ other: 1 }, 'runtime/unknown-option', 'it has word, count, part, flag, model.*'],
    [{ mode: 1 }, 'runtime/unknown-option', '"mode"'],
    [{ word: 1n }, 'runtime/bad-option', 'expected text, found integer (1)'],
    [{ count: 1.5 }, 'runtime/bad-option', 'expected integer, found float (1.5)'],
    [{ count: 1 }, 'runtime/bad-option', 'expected integer, found float (1.0)'],
    [{ part: 'x' }, 'runtime/bad-option', 'expected float, found text ("x")'],
    [{ flag: 1n }, 'runtime/bad-option', 'expected boolean, found integer (1)'],
    [{ 'model.x': [1] }, 'runtime/bad-option', 'found a list'],
    [{ 'model.x': {} }, 'runtime/bad-option', 'found a table'],
  ])('%o give a warning, and are left out', (wrong, code, message) => {
    expect(judgeOptions({ options: { ...right, ...wrong } }, runtime)).toEqual([
      expect.objectContaining({ level: 'warning', code, message: expect.stringContaining(message), where: Object.keys(wrong)[0] }),
    ]);
    expect(selectOptions(wrong, options)).toEqual({});
  });

  it('of a runtime without any are unknown', () => {
    expect(judgeOptions({ options: { a: 1 } }, { id: 'noop', options: [] })[0]?.message).toContain('it has none');
  });
});
