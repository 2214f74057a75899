import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../core/index.js';
import { parseReadme } from './front-matter.js';

const parse = (text: string) => parseReadme(text, 'README.md', defaultLimits);

describe('parseReadme', () => {
  it('reads a model card', async () => {
    const hints = await parse(`---
license: apache-2.0
language:
- en
- en-GB
- multilingual
datasets: [squad, "wiki"]
base_model: org/base
tags: [a, b]
library_name: transformers
pipeline_tag: text-generation
model_name: Tiny
---

# **Tiny** \`Demo\` #

![badge](x.png)

<p align="center">html</p>

Tiny is a [small](https://example.org) model
of *language*, made as an example.

## Use
`);
    expect(hints).toMatchObject({
      identity: {
        name: 'Tiny',
        title: 'Tiny Demo',
        description: 'Tiny is a small model of language, made as an example.',
        licenses: ['Apache-2.0'],
        datasets: ['squad', 'wiki'],
      },
      capabilities: { inputTypes: ['text'], outputTypes: ['text'], languages: ['en'] },
      findings: [],
    });
  });

  it('needs no front matter', async () => {
    const hints = await parse('```sh\n# not a title\n```\n\nA model that sorts apples by colour.');
    expect(hints.identity).toEqual({ description: 'A model that sorts apples by colour.' });
    expect(hints.capabilities).toEqual({});
  });

  it('knows a licence by its own name', async () => {
    expect((await parse('---\nlicense: other\nlicense_name: My Model License\n---\n')).identity.licenses).toEqual(['LicenseRef-my-model-license']);
    expect((await parse('---\nlicense: [mit, llama3.1]\n---\n')).identity.licenses).toEqual(['MIT', 'LicenseRef-llama3.1']);
  });

  it('cuts a long paragraph between words', async () => {
    const { description } = (await parse(`word ${'another '.repeat(200)}`)).identity;
    expect(description).toMatch(/another…$/);
    expect(description?.length).toBeLessThanOrEqual(402);
  });

  it('reports broken front matter and goes on', async () => {
    const hints = await parse('---\na: [\n---\n# Title\n');
    expect(hints.identity.title).toBe('Title');
    expect(hints.findings).toMatchObject([{ level: 'warning', code: 'buildfile/unreadable' }]);
  });

  it('takes any text in little time', async () => {
    const start = performance.now();
    for (const piece of ['<!--', '```\n', '![', '[', '*', '---\n', '<', '|\n']) await parse(piece.repeat(65_536));
    expect(performance.now() - start).toBeLessThan(3000);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        expect((await parse(`---\n${text}`)).inputs).toEqual([]);
      }),
    );
  });
});
