import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toPage } from './pages.js';
import { Refusal } from './refusal.js';

const page = (sorted: readonly string[], query: string, most = 1000) => toPage(sorted, (entry) => entry, new URLSearchParams(query), '/list', most);

describe('a page', () => {
  it('begins after the last entry, which need not be there', () => {
    expect(page(['a', 'c', 'e'], 'last=a').entries).toEqual(['c', 'e']);
    expect(page(['a', 'c', 'e'], 'last=b').entries).toEqual(['c', 'e']);
    expect(page(['a', 'c', 'e'], 'last=z')).toEqual({ entries: [], headers: {} });
  });

  it('of no entries leads nowhere', () => {
    expect(page(['a'], 'n=0')).toEqual({ entries: [], headers: {} });
  });

  it('keeps what else was asked for in its link', () => {
    const { headers } = page(['a', 'b'], 'n=1&artifactType=x%2Fy');
    expect(headers['Link']).toBe('</list?n=1&artifactType=x%2Fy&last=a>; rel="next"');
  });

  it.each(['-1', '1.5', 'many', '1e3', '9'.repeat(20)])('of %s entries is refused', (count) => {
    expect(() => page(['a'], `n=${count}`)).toThrow(Refusal);
  });

  it('follows page, and all together are the list', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 40 });
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 10 }), (unsorted, size) => {
        const sorted = unsorted.sort();
        const seen: string[] = [];
        for (let query: string | undefined = `n=${size}`; query !== undefined;) {
          const { entries, headers } = page(sorted, query, 7);
          seen.push(...entries);
          query = /\?(.*)>/.exec(headers['Link'] ?? '')?.[1];
        }
        expect(seen).toEqual(sorted);
      }),
    );
  });
});
