import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../core/index.js';
import { parseMlmodel } from './mlmodel.js';
import { parseCartonHints, parseMlarchiveHints } from './package-hints.js';

it('reads a carton.toml', () => {
  const hints = parseCartonHints(
    `spec_version = 1
model_name = "m"
model_description = "d"
[[input]]
name = "x"
dtype = "float32"
shape = ["batch", "*", 3]
internal_name = "x:0"
[[output]]
name = "y"
dtype = "string"
shape = "same"
[runner]
runner_name = "torchscript"
required_framework_version = "=1.12.1"
`,
    'carton.toml',
    defaultLimits,
  );
  expect(hints).toMatchObject({
    identity: { name: 'm', description: 'd' },
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', null, 3], internalName: 'x:0' }],
    outputs: [{ name: 'y', dtype: 'string', shape: '*' }],
    run: { runtime: 'torchscript', version: '=1.12.1' },
    findings: [],
  });
});

describe('parseMlarchiveHints', () => {
  it.each([
    ['the first generation', { models: [{ name: 'm', version: '1', description: null, framework: 'pytorch' }] }],
    ['the second generation', { schema: 'v2024.1', name: 'm', version: '1', models: [{ name: 'sub' }] }],
  ])('reads %s', (_, manifest) => {
    expect(parseMlarchiveHints(JSON.stringify(manifest), 'manifest.json', defaultLimits).identity).toEqual({ name: 'm', version: '1' });
  });
});

it('reads an MLmodel', async () => {
  const hints = await parseMlmodel(
    `flavors:
  python_function: {loader_module: mlflow.sklearn}
  sklearn: {pickled_model: model.pkl}
signature:
  inputs: '[{"name": "x", "type": "tensor", "tensor-spec": {"dtype": "float32", "shape": [-1, 4]}}]'
  outputs: '[{"type": "double"}]'
utc_time_created: '2026-01-31 12:00:00.123456'
`,
    'MLmodel',
    defaultLimits,
  );
  expect(hints).toMatchObject({
    identity: { createdAt: '2026-01-31T12:00:00.123456Z' },
    weights: { format: 'sklearn' },
    inputs: [{ name: 'x', dtype: 'float32', shape: [null, 4] }],
    outputs: [{ name: 'output', dtype: 'float64' }],
    findings: [],
  });
});

it('says that a broken file is not used', async () => {
  const broken = { findings: [{ level: 'warning', code: 'buildfile/unreadable' }] };
  expect(parseCartonHints('a = ', 'carton.toml', defaultLimits)).toMatchObject(broken);
  expect(parseMlarchiveHints('{', 'manifest.json', defaultLimits)).toMatchObject(broken);
  expect(await parseMlmodel('a: [', 'MLmodel', defaultLimits)).toMatchObject(broken);
  expect(await parseMlmodel("signature: {inputs: '['}", 'MLmodel', defaultLimits)).toMatchObject(broken);
});
