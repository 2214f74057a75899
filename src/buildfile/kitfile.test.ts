import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError, type ToolkitError } from '../core/index.js';
import { parseKitfile } from './kitfile.js';

const parse = (text: string) => parseKitfile(text, 'Kitfile', defaultLimits);

async function refusal(text: string): Promise<ToolkitError> {
  try {
    await parse(text);
  } catch (error) {
    if (isToolkitError(error)) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const full = `manifestVersion: "1.0"
package:
  name: demo
  version: 1.0
  description: A demo
  license: Apache-2.0
  authors: [Ann, Bob]
model:
  name: tiny
  path: ./model.gguf
  license: MIT
  framework: llama.cpp
  format: gguf
  parts:
    - path: "lora [1].gguf"
      type: lora
  parameters:
    seed: 3
code:
  - path: src/
    description: training
datasets:
  - name: train
    path: data/train.csv
docs:
  - path: README.md
prompts:
  - path: prompt.txt
`;

describe('parseKitfile', () => {
  it('reads every section', async () => {
    const { description } = await parse(full);
    expect(description).toMatchObject({
      origin: 'Kitfile',
      identity: { name: 'demo', version: '1', description: 'A demo', licenses: ['Apache-2.0', 'MIT'], authors: ['Ann', 'Bob'] },
      weights: { format: 'gguf' },
      run: { runtime: 'llama.cpp' },
      files: {
        byRole: {
          code: ['src/'],
          dataset: ['data/train.csv'],
          doc: ['README.md'],
          other: ['prompt.txt'],
          weights: ['lora \\[1\\].gguf', './model.gguf'],
        },
        onlyNamed: true,
      },
    });
    expect(Object.keys(description.files.byRole).at(-1)).toBe('weights');
  });

  it('notes what has no place, with its place in the file', async () => {
    const { findings } = await parse(full);
    expect(findings.map((finding) => [finding.level, finding.message.split(' ')[0], finding.where])).toEqual([
      ['note', 'model.name', 'Kitfile:9:3'],
      ['note', 'model.parameters', 'Kitfile:17:3'],
      ['note', 'model.parts.0.type', 'Kitfile:16:7'],
      ['note', 'code.0.description', 'Kitfile:21:5'],
      ['note', 'datasets.0.name', 'Kitfile:23:5'],
    ]);
  });

  it('does not follow a base kit', async () => {
    const { description, findings } = await parse('model:\n  path: registry.example.com/org/base:v1\n');
    expect(description.files.byRole).toEqual({});
    expect(findings).toMatchObject([{ level: 'warning', code: 'buildfile/base-kit', where: 'Kitfile:2:3' }]);
  });

  it('takes the whole folder', async () => {
    expect((await parse('model: {path: .}')).description.files.byRole).toEqual({ weights: ['.'] });
  });

  it('finds where a path was written', async () => {
    expect((await parse('docs:\n- path: a.md\n- path: b.md')).findGlobPlace('b.md')).toBe('Kitfile:3:3');
  });

  it.each(['', '# nothing', '{}'])('is empty for %j', async (text) => {
    expect((await parse(text)).description.files.byRole).toEqual({});
  });

  it.each([
    ['model:\n  paht: x', 'buildfile/invalid', '2:3', 'paht'],
    ['modle: {}', 'buildfile/invalid', '1:1', 'modle'],
    ['code:\n  - description: x', 'buildfile/invalid', '2:5', 'the key "path" is missing'],
    ['code: src', 'buildfile/invalid', '1:1', 'expected a list'],
    ['docs:\n  - path: /etc/passwd', 'buildfile/invalid', '2:5', 'absolute'],
    ['docs:\n  - path: ../x', 'buildfile/invalid', '2:5', '..'],
    ['docs:\n  - path: a.md\n  - path: ./a.md', 'buildfile/invalid', '3:5', 'Kitfile:2:5'],
    ['model:\n  path: a\ncode:\n  - path: a/', 'buildfile/invalid', '2:3', 'Kitfile:4:5'],
    ['- a', 'buildfile/invalid', undefined, 'expected a table'],
    ['a: 1\na: 2', 'buildfile/syntax', '2:1', 'twice'],
    ['a: [1', 'buildfile/syntax', '1:6', 'YAML'],
    ['a: !!js/function x', 'buildfile/syntax', '1:4', 'tag'],
    ['a: 1\n---\nb: 2', 'buildfile/syntax', '2:1', 'more than one document'],
    ['? [a]\n: 1', 'buildfile/syntax', '1:3', 'a key is not text'],
    ['\ufeffa: 1', 'buildfile/syntax', '1:1', 'byte-order mark'],
  ])('refuses %j', async (text, code, place, words) => {
    const error = await refusal(text);
    expect(error).toMatchObject({ code, where: place === undefined ? 'Kitfile' : `Kitfile:${place}` });
    expect(error.message).toContain(words);
  });

  it.each([
    ['deep brackets', `a: ${'['.repeat(100_000)}`],
    ['deep maps', Array.from({ length: 70 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    [
      'an alias bomb',
      `a: &a [x, x, x, x, x, x, x, x]\n${Array.from('bcdefgh')
        .map((key, index) => `${key}: &${key} [${`*${'abcdefgh'.charAt(index)}, `.repeat(8)}]`)
        .join('\n')}`,
    ],
    ['an alias of itself', 'a: &a [*a]'],
    ['a merge key', 'base: &b {path: x}\ndocs: [{<<: *b}]'],
  ])('refuses %s', async (_, text) => {
    expect((await refusal(text)).code).toMatch(/^buildfile\//);
  });
});
