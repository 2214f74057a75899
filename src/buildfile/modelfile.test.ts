import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, type Description, isToolkitError, type ToolkitError } from '../core/index.js';
import { parseModelfile } from './modelfile.js';

const parse = (text: string) => parseModelfile(text, 'Modelfile', defaultLimits);
const read = (text: string): Description => parse(text).description;

function refusal(text: string): ToolkitError {
  try {
    read(text);
  } catch (error) {
    if (isToolkitError(error)) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('parseModelfile', () => {
  it('reads every word', () => {
    const { description, findings } = parse(`# a model
NAME tiny-demo
ARCH transformer
FAMILY llama3
FORMAT safetensors
PARAMSIZE 0.6B
PRECISION bfloat16
QUANTIZATION awq

CONFIG config.json
CONFIG generation_config.json
MODEL *.safetensors
CODE src/*.py
DATASET data/train.csv
DOC README.md
`);
    expect(findings).toEqual([]);
    expect(description).toMatchObject({
      origin: 'Modelfile',
      identity: { name: 'tiny-demo', family: 'llama3' },
      weights: { architecture: 'transformer', format: 'safetensors', paramSize: '0.6B', precision: 'bfloat16', quantization: 'awq' },
      files: {
        byRole: {
          config: ['config.json', 'generation_config.json'],
          weights: ['*.safetensors'],
          code: ['src/*.py'],
          dataset: ['data/train.csv'],
          doc: ['README.md'],
        },
        ignore: [],
        onlyNamed: true,
      },
    });
  });

  it.each([
    ['model a.bin', ['a.bin']],
    ['  Model   a.bin  ', ['a.bin']],
    ['MODEL "with blank.bin"', ['with blank.bin']],
    ["MODEL 'with blank.bin'", ['with blank.bin']],
    ['MODEL path with blanks/a.bin', ['path with blanks/a.bin']],
    ['MODEL with\\ blank.bin', ['with blank.bin']],
    ['MODEL "say \\"x\\".bin"', ['say "x".bin']],
    ["MODEL it's.bin", ["it's.bin"]],
    ['MODEL ./a.bin', ['./a.bin']],
    ['MODEL a#b.bin', ['a#b.bin']],
    ['MODEL a\\*b.bin', ['a\\*b.bin']],
    ['MODEL **.bin', ['*.bin']],
    ['MODEL model-[0-9].bin', ['model-[0-9].bin']],
    ['MODEL a.bin\r\nMODEL b.bin\r\n', ['a.bin', 'b.bin']],
    ['MODEL a.bin\nMODEL a.bin', ['a.bin']],
    ['MODEL моде́ль.bin', ['моде́ль.bin']],
  ])('%j names %j', (text, globs) => {
    expect(read(text).files.byRole).toEqual({ weights: globs });
  });

  it('is empty for comments and blank lines', () => {
    expect(read('\n  # MODEL x\n\t\n#').files.byRole).toEqual({});
  });

  it('takes a tab with a note', () => {
    const { description, findings } = parse('NAME\tx');
    expect(description.identity.name).toBe('x');
    expect(findings).toMatchObject([{ level: 'note', code: 'buildfile/tab', where: 'Modelfile:1:1' }]);
  });

  it('takes an odd PARAMSIZE with a warning', () => {
    expect(parse('PARAMSIZE 16').findings).toMatchObject([{ level: 'warning', code: 'buildfile/param-size', where: 'Modelfile:1:11' }]);
  });

  it.each([
    ['NAME a\nMODELS x', 'buildfile/syntax', '2:1', 'MODELS', 'Did you mean "MODEL"?'],
    ['  FROM llama3', 'buildfile/syntax', '1:3', 'FROM', 'This looks like a Modelfile of Ollama: write a modelport.toml, which is read instead'],
    ['VERSION 1', 'buildfile/syntax', '1:1', 'VERSION', undefined],
    ['MODEL', 'buildfile/syntax', '1:1', 'nothing follows', undefined],
    ['MODEL   ', 'buildfile/syntax', '1:1', 'nothing follows', undefined],
    ['NAME a\nNAME b', 'buildfile/invalid', '2:1', 'it is "a" already', undefined],
    ['NAME ""', 'buildfile/invalid', '1:6', 'empty', undefined],
    ['DOC "open.md', 'buildfile/invalid', '1:5', 'quote', undefined],
    ['DOC  [a', 'buildfile/invalid', '1:6', ']', undefined],
    ['DOC ../secret', 'buildfile/invalid', '1:5', 'leads out', undefined],
    ['DOC /etc/passwd', 'buildfile/invalid', '1:5', 'relative', undefined],
    ['\ufeffNAME x', 'buildfile/syntax', '1:1', 'byte-order mark', undefined],
  ])('refuses %j', (text, code, place, words, hint) => {
    const error = refusal(text);
    expect(error).toMatchObject({ code, where: `Modelfile:${place}` });
    expect(error.message).toContain(words);
    if (hint !== undefined) expect(error.hint).toBe(hint);
  });

  it('tells all unknown words at once', () => {
    expect(refusal('A x\nNAME y\nB z').findings.map((finding) => finding.where)).toEqual(['Modelfile:1:1', 'Modelfile:3:1']);
  });

  it('finds where a pattern was written', () => {
    expect(parse('NAME x\nMODEL  "a b.bin"').findGlobPlace('a b.bin')).toBe('Modelfile:2:8');
  });

  it('reads or refuses anything, and never otherwise', () => {
    const word = fc.constantFrom(
      'MODEL',
      'name',
      'DOC',
      'PARAMSIZE',
      '#',
      'X',
      '"',
      "'",
      '\\',
      ' ',
      '\t',
      '\n',
      '\r',
      '*',
      '[',
      ']',
      '..',
      '/',
      'a',
      '\0',
      '😀',
      '\ud800',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(word, { maxLength: 30 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (modelfile) => {
        try {
          expect(read(modelfile).files.onlyNamed).toBe(true);
        } catch (error) {
          if (!isToolkitError(error)) throw error;
          expect(error.code).toMatch(/^buildfile\/(?:syntax|invalid)$/);
          expect(error.where).toMatch(/^Modelfile:\d+:\d+$/);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
