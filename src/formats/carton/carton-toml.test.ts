import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../core/index.js';
import { parseTypedToml } from '../../text/index.js';
import { describeCartonToml, parseShape } from './carton-toml.js';

function describeText(text: string) {
  return describeCartonToml(parseTypedToml(text, 'carton.toml', defaultLimits));
}

const complete = `
spec_version = 1
model_name = "digits"
short_description = "Reads digits"
model_description = """
Reads **digits**.
"""
license = "MIT"
repository = "https://example.com/repo"
homepage = "https://example.com"
required_platforms = ["x86_64-unknown-linux-gnu"]

[[input]]
name = "x"
dtype = "float32"
shape = ["batch", 64]
description = "Pixels"
internal_name = "in_x:0"

[[output]]
name = "y"
dtype = "int64"
shape = ["batch"]

[[self_test]]
name = "zero"
description = "A zero"
inputs = { x = "@tensor_data/x0" }
expected_out = { y = "@tensor_data/y0" }
rtol = 1e-3
atol = 0

[[example]]
name = "picture"
inputs = { x = "@misc/a/x.png" }
sample_out = { y = "@tensor_data/y0" }

[runner]
runner_name = "python"
required_framework_version = "=3.11"
runner_compat_version = 1

[runner.opts]
threads = 4
scale = 1.0
big = 9223372036854775807
`;

describe('describeCartonToml', () => {
  it('takes every field of version 1', () => {
    expect(describeText(complete)).toEqual({
      modelName: 'digits',
      shortDescription: 'Reads digits',
      modelDescription: 'Reads **digits**.\n',
      license: 'MIT',
      repository: 'https://example.com/repo',
      homepage: 'https://example.com',
      requiredPlatforms: ['x86_64-unknown-linux-gnu'],
      inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 64], description: 'Pixels', internalName: 'in_x:0' }],
      outputs: [{ name: 'y', dtype: 'int64', shape: ['batch'] }],
      selfTests: [{ name: 'zero', description: 'A zero', inputs: new Map([['x', 'x0']]), expected: new Map([['y', 'y0']]), rtol: 0.001, atol: 0 }],
      examples: [
        {
          name: 'picture',
          inputs: new Map([['x', { kind: 'misc', path: 'a/x.png' }]]),
          outputs: new Map([['y', { kind: 'tensor', name: 'y0' }]]),
        },
      ],
      runner: {
        name: 'python',
        requiredFrameworkVersion: '=3.11',
        compatVersion: 1,
        options: { threads: 4n, scale: 1, big: 9223372036854775807n },
      },
      unknown: {},
      unknownFields: new Map(),
    });
  });

  it('leaves out what is malformed and never throws', () => {
    const info = describeText(`
model_name = 3
required_platforms = ["a", 1]
input = [1, { dtype = "float32" }, { name = "x", dtype = "bool", shape = [-1] }, { name = "y", dtype = "nested", shape = 3 }]
output = "none"
self_test = { inputs = {} }
example = [[]]
[runner]
runner_name = "noop"
`);
    expect(info).toEqual({
      requiredPlatforms: ['a'],
      inputs: [{ name: 'x' }, { name: 'y' }],
      outputs: [],
      selfTests: [],
      examples: [],
      unknown: {},
      unknownFields: new Map(),
    });
  });

  it('keeps a text that is no reference as the name of a tensor, so that no value of a test vanishes', () => {
    const info = describeText(
      '[[self_test]]\ninputs = { a = "@misc/a.png", b = "b", c = 3 }\n[[example]]\ninputs = { d = "@other/d", e = { f = 1 } }\n',
    );
    expect(info.selfTests[0]?.inputs).toEqual(
      new Map([
        ['a', '@misc/a.png'],
        ['b', 'b'],
        ['c', '3'],
      ]),
    );
    expect(info.examples[0]?.inputs).toEqual(
      new Map([
        ['d', { kind: 'tensor', name: '@other/d' }],
        ['e', { kind: 'tensor', name: 'a table' }],
      ]),
    );
  });

  it('keeps what it does not know, with its types', () => {
    const info = describeText(
      'spec_version = 1\nfuture = 1.0\n[modelport]\nn = 1\n[[input]]\nname = "x"\nunit = "m"\n[runner]\nrunner_name = "noop"\nextra = [1]\n',
    );
    expect(info.unknown).toEqual({ future: 1, modelport: { n: 1n } });
    expect(info.unknownFields).toEqual(
      new Map([
        ['runner', { extra: [1n] }],
        ['input[0]', { unit: 'm' }],
      ]),
    );
  });
});

describe('parseShape', () => {
  it.each([
    ['"*"', '*'],
    ['"whole"', 'whole'],
    ['[]', []],
    ['["*", "n", 3]', [null, 'n', 3]],
    ['[0]', [0]],
    ['[-1]', undefined],
    ['[1.0]', undefined],
    ['[[1]]', undefined],
    ['[true]', undefined],
    ['3', undefined],
    ['[9007199254740992]', undefined],
  ])('reads %s', (text, shape) => {
    expect(parseShape(parseTypedToml(`shape = ${text}`, 'carton.toml', defaultLimits).value['shape'])).toEqual(shape);
  });
});
