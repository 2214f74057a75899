import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStream } from '../../../test/support/memory-io.js';
import { plainStyle, styleFor } from '../terminal.js';
import { renderMarkdown } from './markdown.js';

const narrow = styleFor(createMemoryStream({ columns: 40 }), { NO_COLOR: '1' });
const show = (text: string, style = plainStyle) => renderMarkdown(text, style).lines;

describe('renderMarkdown', () => {
  it('shows blocks one after the other', () => {
    const text = [
      '# Digits #',
      'Reads *handwritten* digits,',
      'line by line.',
      '',
      'Uses',
      '====',
      '- one',
      '  and more',
      '- two',
      '  1. inner',
      '',
      '> said so',
      '> twice',
      '',
      '```python',
      'x  =  1',
      '',
      '# no title',
      '```',
      '    code',
      '---',
      '| a | b |',
      '|---|---|',
    ].join('\n');
    expect(show(text)).toEqual([
      'Digits',
      '',
      'Reads handwritten digits, line by line.',
      '',
      'Uses',
      '',
      '- one and more',
      '- two',
      '  1. inner',
      '',
      '| said so twice',
      '',
      '  x  =  1',
      '',
      '  # no title',
      '',
      '  code',
      '',
      '--------------------',
      '',
      '| a | b |',
      '|---|---|',
    ]);
  });

  it.each([
    ['**bold** and __bold__, *it* and _it_', 'bold and bold, it and it'],
    ['snake_case_name and 2*3*4', 'snake_case_name and 2*3*4'],
    ['`a *b*` and ``a ` b``', 'a *b* and a ` b'],
    ['[the **paper**](https://example.com/p "title")', 'the paper (https://example.com/p)'],
    ['<https://example.com>', 'https://example.com'],
    ['[https://example.com](https://example.com)', 'https://example.com'],
    [
      '[paper][1], [Named][], [lost][x]\n\n[1]: https://example.com/1\n[named]: <https://example.com/2>',
      'paper (https://example.com/1), Named (https://example.com/2), lost',
    ],
    ['![a cat](@misc/cat.png) ![](x.png)', '[image: a cat] [image]'],
    ['[![badge](https://b.example/x.svg)](https://example.com)', '[image: badge] (https://example.com)'],
    ['<b onclick="x">html</b> <!-- note -->', '<b onclick="x">html</b> <!-- note -->'],
    ['1 \\* 2 \\[no link\\](x)', '1 * 2 [no link](x)'],
    ['a [ b ] ( c ) ** d', 'a [ b ] ( c ) ** d'],
  ])('shows %s', (text, shown) => {
    expect(show(text)[0]).toBe(shown);
  });

  it('paints where colours are on', () => {
    const style = styleFor(createMemoryStream({ columns: 40 }), {});
    expect(show('# T\n**b** `c`', style)).toEqual([style.color.bold('T'), '', `${style.color.bold('b')} ${style.color.cyan('c')}`]);
  });

  it('wraps words to the width, below the indent', () => {
    const { lines } = renderMarkdown(`- ${'word '.repeat(20)}\n\n${'x'.repeat(60)} end`, narrow, '  ');
    expect(lines[0]).toBe(`  - ${'word '.repeat(7).trim()}`);
    expect(lines[1]).toBe(`    ${'word '.repeat(7).trim()}`);
    expect(lines.slice(-2)).toEqual([`  ${'x'.repeat(60)}`, '  end']);
    expect(lines.filter((line) => !line.includes('xxx')).every((line) => line.length <= 40)).toBe(true);
  });

  it('ends after 40 lines, and says so', () => {
    const long = renderMarkdown('- item\n'.repeat(41), plainStyle);
    expect(long).toMatchObject({ isCut: true });
    expect(long.lines).toHaveLength(40);
    expect(renderMarkdown('- item\n'.repeat(40), plainStyle)).toMatchObject({ isCut: false });
    expect(renderMarkdown('x'.repeat(20_000), plainStyle)).toMatchObject({ isCut: true });
  });

  it('is quick with what is made to be slow', () => {
    const nasty = ['`', '[', '![', '*', '**a ', '_a', '[a](', '# ', ' #', '<https:', '[![a](b', '- ', '> ', '\\', '~~~\n', '|', '    ', '[a]: '];
    const start = performance.now();
    for (const piece of nasty) expect(renderMarkdown(piece.repeat(Math.ceil(16_384 / piece.length)), narrow).lines.length).toBeLessThanOrEqual(40);
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it('takes any text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('#', '-', '*', '`', '[', '](', ')', '!', '\n', '  ', '>', 'a', '1.', '_', '|', '<'), { maxLength: 60 }),
        (pieces) => {
          const { lines } = renderMarkdown(pieces.join(''), narrow);
          expect(lines.every((line) => !line.includes('\n'))).toBe(true);
        },
      ),
    );
  });
});
