import { describe, expect, it } from 'vitest';
import { rules } from './rules.js';

describe('rules', () => {
  it('are numbered without a gap, those of the specification first', () => {
    const specified = rules.filter(({ clause }) => clause.document !== 'practice').map((_, at) => `MP-${String(at + 1).padStart(2, '0')}`);
    const advice = rules.filter(({ clause }) => clause.document === 'practice').map((_, at) => `MP-A${at + 1}`);
    expect(rules.map(({ id }) => id)).toEqual([...specified, ...advice]);
  });

  it('have a name of their own each', () => {
    expect(new Set(rules.map(({ slug }) => slug)).size).toBe(rules.length);
  });

  it('have the level of their words', () => {
    const words = rules.filter(({ clause, id }) => clause.document !== 'practice' && id !== 'MP-55');
    const wrong = words.filter(({ level, clause: { quote } }) =>
      /\bMUST\b|REQUIRED/.test(quote) ? level !== 'error' : /\bSHOULD\b|recommended/.test(quote) && level !== 'warning',
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });
});
