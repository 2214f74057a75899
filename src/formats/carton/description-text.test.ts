import { describe, expect, it } from 'vitest';
import { part } from '../../../test/support/parts.js';
import { moveTargets } from './description-text.js';

const parts = [
  part('docs/a.png', 'doc'),
  part('a.png', 'doc'),
  part('my picture.png', 'doc'),
  part('misc/b.png', 'doc'),
  part('main.py', 'code'),
  part('model.onnx', 'weights'),
];
const move = (text: string, path = 'README.md') => {
  const { text: moved, misc, findings } = moveTargets({ text, path }, parts);
  return { moved, misc: misc.map((each) => each.path), findings: findings.map(({ where }) => where) };
};

describe('moveTargets', () => {
  it.each([
    ['![a](a.png)', '![a](@misc/a.png)', ['a.png']],
    ['![a](./docs/../a.png "Title")', '![a](@misc/a.png "Title")', ['a.png']],
    ['![a](/docs/a.png)', '![a](@misc/docs/a.png)', ['docs/a.png']],
    ['[a](a.png?raw=true#x)', '[a](@misc/a.png)', ['a.png']],
    ['[a](my%20picture.png) [b](<my picture.png>)', '[a](<@misc/my picture.png>) [b](<@misc/my picture.png>)', ['my picture.png']],
    ['[a]: a.png\n[![x](a.png)](main.py)', '[a]: @misc/a.png\n[![x](@misc/a.png)](@misc/main.py)', ['a.png', 'main.py']],
    ['[a](\n  a.png\n)', '[a](\n  @misc/a.png\n)', ['a.png']],
    ['![b](misc/b.png)', '![b](@misc/b.png)', ['misc/b.png']],
  ])('%j becomes %j', (text, moved, misc) => {
    expect(move(text)).toEqual({ moved, misc, findings: [] });
  });

  it.each([
    '[a](https://example.com/a.png)',
    '[a](#part)',
    '[a](@misc/x.png)',
    '`![a](a.png)`',
    '```\n![a](a.png)\n```',
    '[a](mailto:a@example.com)',
    '<img src="a.png">',
  ])('%j stays', (text) => {
    expect(move(text)).toEqual({ moved: text, misc: [], findings: [] });
  });

  it('starts where the text lies', () => {
    expect(move('![a](a.png) ![b](../a.png)', 'docs/README.md')).toMatchObject({ moved: '![a](@misc/docs/a.png) ![b](@misc/a.png)' });
  });

  it('says what is not there, leads out, or is the model itself', () => {
    const text = '[a](none.png)\n\n[b](../a.png)\n[c](model.onnx)';
    expect(move(text)).toEqual({ moved: text, misc: [], findings: ['README.md:1', 'README.md:3', 'README.md:4'] });
  });
});
