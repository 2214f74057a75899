import { describe, expect, it } from 'vitest';
import { rules } from './rules.js';

describe('rules', () => {
  it('are numbered without a gap, those of the specification first', () => {
    const specified = rules.filter(({ clause }) => clause.document !== 'practice').map((_, at) => `CT-${String(at + 1).padStart(2, '0')}`);
    const advice = rules.filter(({ clause }) => clause.document === 'practice').map((_, at) => `CT-A${at + 1}`);
    expect(rules.map(({ id }) => id)).toEqual([...specified, ...advice]);
  });

  it('have a name of their own each', () => {
    expect(new Set(rules.map(({ slug }) => slug)).size).toBe(rules.length);
  });

  it('say why, where a must is no error', () => {
    const softened = rules.filter((rule) => 'check' in rule && /\bmust\b|\bMUST\b/.test(rule.clause.quote) && rule.level !== 'error');
    expect(softened.filter(({ title }) => !title.includes('(a warning, because'))).toEqual([]);
  });
});
