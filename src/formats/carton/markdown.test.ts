import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanMarkdown } from './markdown.js';

const targetsOf = (text: string) => scanMarkdown(text).targets.map(({ kind, target }) => `${kind} ${target}`);
const htmlOf = (text: string) => scanMarkdown(text).html.map((each) => each.text);

describe('scanMarkdown', () => {
  it.each([
    ['[a](https://example.com)', ['link https://example.com']],
    ['![a](@misc/a.png)', ['image @misc/a.png']],
    ['![a](@misc/a.png "Title") and [b](<@misc/with blank.png>)', ['image @misc/a.png', 'link @misc/with blank.png']],
    ['[![alt](@misc/i.png)](https://example.com)', ['image @misc/i.png', 'link https://example.com']],
    ['[a [b] c](https://example.com/(x))', ['link https://example.com/(x)']],
    ["[a](\n  https://example.com\n  'two\nlines')", ['link https://example.com']],
    ['<https://example.com/x?y> <someone@example.com>', ['link https://example.com/x?y', 'link mailto:someone@example.com']],
    ['[a][one] and [one]\n\n[one]: ./a.md "Title"\n  [two]: <b c.md>', ['link ./a.md', 'link b c.md']],
    ['[a]()', ['link ']],
    ['[a](x\\_y&amp;z)', ['link x_y&z']],
    ['- item\n\n    [a](in-a-list)', ['link in-a-list']],
    ['a `[no](code)` [yes](b)', ['link b']],
    ['`` ` [no](code) `` ` [yes](b)', ['link b']],
    ['```\n[no](fence)\n~~~\n```\n[yes](b)', ['link b']],
    ['~~~ md\n[no](fence)\n```\n~~~~\n[yes](b)', ['link b']],
    ['text\n\n    [no](indented)\n    [no](two)\n\n[yes](b)', ['link b']],
    ['\\[no](a) \\![link](b) [no] (c) ](d)', ['link b']],
    ['[no](a b) [x](<a>b) [', []],
  ])('%j leads to %j', (text, expected) => {
    expect(targetsOf(text)).toEqual(expected);
  });

  it.each([
    ['a <b>bold</b> word', ['<b>', '</b>']],
    ['<img src="x.png" />', ['<img src="x.png" />']],
    ['<div\nclass="x">', ['<div\nclass="x">']],
    ['<!-- a <b> comment --> <i>', ['<!--', '<i>']],
    ['<!DOCTYPE html> <?php ?>', ['<!D', '<?']],
    ['1 < 2 and 3 > 2, a<b, <3>, < b>', []],
    ['`<b>` and \\<b>\n\n    <b>\n\n```\n<b>\n```', []],
    ['<https://example.com>', []],
  ])('%j holds the HTML %j', (text, expected) => {
    expect(htmlOf(text)).toEqual(expected);
  });

  it('counts lines', () => {
    expect(scanMarkdown('a\r\n```\n\n```\n[x](y)\n\n<b>')).toEqual({
      targets: [{ kind: 'link', target: 'y', line: 5 }],
      html: [{ text: '<b>', line: 7 }],
    });
  });

  it('takes any text', () => {
    const soup = fc.string({
      unit: fc.constantFrom('[', ']', '(', ')', '<', '>', '`', '\\', '!', '"', "'", '\n', ' ', 'a', ':', '-', '~', '@', '/'),
      maxLength: 200,
    });
    fc.assert(
      fc.property(soup, (text) => {
        const lines = text.split('\n').length;
        for (const { line } of [...scanMarkdown(text).targets, ...scanMarkdown(text).html]) expect(line <= lines && line > 0).toBe(true);
      }),
    );
  });

  it.each(['[', '](', '[](', '[](a (', '[](<', '`', '<a ', '[a](a "', '![', '\\', '<!--', '((', '[](((((', "[](a '", '[]((a', '<a@'])(
    'is not slowed down by many %j',
    (unit) => {
      const started = performance.now();
      scanMarkdown(unit.repeat(200_000 / unit.length));
      scanMarkdown(Array.from({ length: 600 }, (_, at) => '`'.repeat(at)).join(' '));
      expect(performance.now() - started).toBeLessThan(2000);
    },
  );
});
