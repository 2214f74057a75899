import { describe, expect, it } from 'vitest';
import { defaultLimits, type Digest } from '../../core/index.js';
import { parseTypedToml } from '../../text/index.js';
import { parseLinks, writeLinks } from './links.js';

const one = 'e550f6224a5133f597d823ab4590f369e0b20e3c6446488225fc6f7a372b9fe2';
const two = '0'.repeat(64);

function parse(text: string) {
  return parseLinks(parseTypedToml(text, 'LINKS', defaultLimits));
}

describe('parseLinks', () => {
  it('gives the URLs of each hash in their order', () => {
    const { links, problems } = parse(`version = 1\n[urls]\n${one} = ["https://a/f", "https://b/f"]\n`);
    expect(problems).toEqual([]);
    expect([...links]).toEqual([[`sha256:${one}`, ['https://a/f', 'https://b/f']]]);
  });

  it('takes a hash in both cases for one', () => {
    const { links } = parse(`version = 1\n[urls]\n${one} = ["https://a/f"]\n${one.toUpperCase()} = ["https://b/f"]\n`);
    expect([...links.values()]).toEqual([['https://a/f', 'https://b/f']]);
  });

  it.each([
    ['version = 2\n[urls]\n', 'LINKS:1:1 Cannot use LINKS: expected version = 1, found "2"'],
    ['[urls]\n', 'LINKS Cannot use LINKS: expected version = 1, found none'],
    ['version = 1\n', 'LINKS Cannot use LINKS: expected a table [urls], found none'],
    ['version = 1\n[urls]\nabc = ["https://a/f"]\n', 'LINKS:3:1 Cannot use LINKS: "abc" is no SHA-256 of 64 hex digits'],
    [`version = 1\n[urls]\n${two} = "https://a/f"\n`, `LINKS:3:1 Cannot use LINKS: expected a list of URLs in quotes for ${two}`],
    [`version = 1\n[urls]\n${two} = ["https://a/f", 3]\n`, `LINKS:3:1 Cannot use LINKS: expected a list of URLs in quotes for ${two}`],
  ])('says what is wrong with %j and leaves it out', (text, problem) => {
    const { links, problems } = parse(text);
    expect(problems.map(({ where, message }) => `${where} ${message}`)).toEqual([problem]);
    expect(links.size).toBe(0);
  });
});

describe('writeLinks', () => {
  it('sorts by hash and is read back', () => {
    const text = writeLinks(
      new Map<Digest, readonly string[]>([
        [`sha256:${one}`, ['https://a/f', 'https://b/"f']],
        [`sha256:${two}`, ['https://c/g']],
      ]),
    );
    expect(text.indexOf(two)).toBeLessThan(text.indexOf(one));
    const { links, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(links).toEqual(
      new Map([
        [`sha256:${two}`, ['https://c/g']],
        [`sha256:${one}`, ['https://a/f', 'https://b/"f']],
      ]),
    );
  });
});
