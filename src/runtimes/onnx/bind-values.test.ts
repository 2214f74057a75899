import { describe, expect, it } from 'vitest';
import { bindValues } from './bind-values.js';
import type { EngineValue } from './engine.js';

const tensor = (name: string, type = 'float32'): EngineValue => ({ name, isTensor: true, type, shape: [] });
const list = (name: string): EngineValue => ({ name, isTensor: false });

describe('bindValues', () => {
  it('takes what the graph has, where nothing is declared', () => {
    expect(bindValues('input', [], [tensor('a'), tensor('b', 'int64')])).toEqual([
      { name: 'a', graphName: 'a', dtype: 'float32' },
      { name: 'b', graphName: 'b', dtype: 'int64' },
    ]);
  });

  it('keeps the declared order and leaves out what no output declares', () => {
    const bound = bindValues('output', [{ name: 'y', internalName: 'c' }, { name: 'a' }], [tensor('a'), tensor('b'), tensor('c')]);
    expect(bound.map(({ name, graphName }) => [name, graphName])).toEqual([
      ['y', 'c'],
      ['a', 'a'],
    ]);
  });

  it('leaves out outputs that are no tensors, unless they are declared', () => {
    expect(bindValues('output', [], [tensor('label', 'int64'), list('probabilities')]).map(({ name }) => name)).toEqual(['label']);
    expect(() => bindValues('output', [{ name: 'probabilities' }], [list('probabilities')])).toThrow('"probabilities" of the graph is no tensor');
  });

  it.each([
    { what: 'a name that the graph lacks', declared: [{ name: 'z' }], values: [tensor('a')], words: 'no input for the declared input "z"' },
    { what: 'an internal name', declared: [{ name: 'z', internalName: 'q' }], values: [tensor('a')], words: '"z" (in the graph "q")' },
    {
      what: 'another dtype',
      declared: [{ name: 'a', dtype: 'bool' }],
      values: [tensor('a')],
      words: 'the declared input "a" is bool, and float32 in the graph',
    },
    {
      what: 'two names for one',
      declared: [{ name: 'a' }, { name: 'b', internalName: 'a' }],
      values: [tensor('a')],
      words: 'two declared inputs mean the same one of the graph',
    },
    {
      what: 'an input that nothing feeds',
      declared: [{ name: 'a' }],
      values: [tensor('a'), tensor('b')],
      words: 'the graph needs the input "b", which is not declared',
    },
    { what: 'elements that cannot be handed over', declared: [], values: [tensor('a', 'uint4')], words: '"a" of the graph is uint4' },
    { what: 'an input that is no tensor', declared: [], values: [list('a')], words: '"a" of the graph is no tensor' },
  ] as const)('refuses $what', ({ declared, values, words }) => {
    expect(() => bindValues('input', declared, values)).toThrow(
      expect.objectContaining({ reason: 'model', message: expect.stringContaining(words) }),
    );
  });

  it('refuses a graph whose outputs are no tensors', () => {
    expect(() => bindValues('output', [], [list('a')])).toThrow('no output of the graph is a tensor');
  });

  it('says what the graph has, and of very much only the beginning', () => {
    const hint = 'the graph\'s inputs are "a\\u001b" (float32), "b" (no tensor); correct the package, or give the name in the graph as internal_name';
    expect(() => bindValues('input', [{ name: 'z' }], [tensor('a\u001b'), list('b')])).toThrow(expect.objectContaining({ hint }));
    const many = Array.from({ length: 1000 }, (_, index) => tensor(`t${index}`));
    expect(() => bindValues('input', [{ name: 'z' }], many)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/"t19" \(float32\) and 980 more;/) }),
    );
  });
});
