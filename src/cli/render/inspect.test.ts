import { describe, expect, it } from 'vitest';
import type { InspectResult } from '../../ops/index.js';
import { plainStyle, styleFor } from '../terminal.js';
import { createMemoryStream } from '../../../test/support/memory-io.js';
import { renderInspect } from './inspect.js';

const digest = `sha256:${'3f'.repeat(32)}` as const;
const result: InspectResult = {
  format: 'modelpack',
  vintage: 'cncf',
  location: 'demo/digits:v1',
  from: 'store',
  digest,
  modelHash: null,
  identity: { name: 'digits', version: '1.0', title: 'Digits', licenses: ['Apache-2.0', 'MIT'], description: 'Reads digits\\u{a}and more' },
  weights: { format: 'safetensors', architecture: 'mlp', parameters: 4810, paramSize: '4.8K', precision: 'float32', tensors: 4 },
  capabilities: { inputTypes: ['image'], reasoning: false },
  parts: [
    { role: 'weights', path: 'model.safetensors', size: 19_600, digest },
    { role: 'doc', path: 'README.md', size: 812, digest: null },
  ],
  io: {
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 64, null] }],
    outputs: [{ name: 'y', shape: '*', description: 'scores' }],
    selfTests: 1,
    examples: 2,
  },
  run: { runtime: 'onnx', version: '1', environment: { A: '1' }, timeout: 5, resources: { cpu: 1 } },
  encrypted: false,
  extra: {},
  findings: [
    { level: 'warning', code: 'modelpack/old', rule: 'MP-12', message: 'An old annotation', where: 'annotations', hint: 'Pack it again' },
    { level: 'error', code: 'modelpack/size', message: 'A size is wrong' },
  ],
  mountable: [{ runtime: 'podman', yes: false, reason: 'it mounts images only' }],
  tensors: [{ name: 'w1', dtype: 'float32', shape: [64, 64], bytes: 16_384, file: 'model.safetensors' }],
};

describe('renderInspect', () => {
  it('says what the package is, the most telling first', () => {
    expect(renderInspect(result, plainStyle).out).toEqual([
      'Digits 1.0 · modelpack cncf',
      '  location      demo/digits:v1 (store)',
      `  digest        ${digest}`,
      '  name          digits',
      '  licenses      Apache-2.0, MIT',
      '  description   Reads digits and more',
      '  capabilities  input types image, reasoning false',
      '',
      'Weights',
      '  format        safetensors',
      '  architecture  mlp',
      '  parameters    4,810 (4.8K)',
      '  precision     float32',
      '  tensors       4',
      '',
      'Files (2, 20.4 kB)',
      '  ROLE        SIZE  DIGEST        PATH',
      '  weights  19.6 kB  3f3f3f3f3f3f  model.safetensors',
      '  doc        812 B  -             README.md',
      '',
      'Inputs and outputs',
      '  in   x  float32  [batch, 64, ?]',
      '  out  y  ?        any rank        scores',
      '  1 self test, 2 examples',
      '',
      'Run',
      '  runtime      onnx 1',
      '  timeout      5 s',
      '  environment  A=1',
      '  resources    cpu=1',
      '',
      'Mountable',
      '  podman  no  it mounts images only',
      '',
      'Tensors (1)',
      '  NAME  DTYPE    SHAPE        SIZE  FILE',
      '  w1    float32  [64, 64]  16.4 kB  model.safetensors',
      '',
      'Findings',
      '  error modelpack/size: A size is wrong',
      '  warning MP-12: An old annotation',
      '    where: annotations',
      '    hint: Pack it again',
    ]);
  });

  it('shows a description that no line holds', () => {
    const identity = { description: '# Digits\\u{a}\\u{d}\\u{a}Reads **digits**. <b>\\u{202e}</b>\\u{a}- [paper](https://example.com)' };
    const { out } = renderInspect({ ...result, identity }, plainStyle);
    expect(out).toContain('  description   Digits');
    const at = out.indexOf('Description');
    expect(out.slice(at, at + 6)).toEqual(['Description', '  Digits', '', '  Reads digits. <b>\\u{202e}</b>', '', '  - paper (https://example.com)']);
    const short = { ...result, identity, extra: { shortDescription: 'In short' } };
    expect(renderInspect(short, plainStyle).out).toEqual(expect.arrayContaining(['  description   In short', 'Description']));
  });

  it('ends a long description, and says where the rest is', () => {
    const { out } = renderInspect({ ...result, identity: { description: '- item\\u{a}'.repeat(60) } }, plainStyle);
    const at = out.indexOf('Description');
    expect(out.slice(at + 40, at + 43)).toEqual(['  - item', '  … `modelport inspect demo/digits:v1 --json` has all of it', '']);
  });

  it('says whether it fits this machine', () => {
    const required = ['aarch64-apple-darwin', 'x86_64-unknown-linux-gnu'];
    const show = (host: string | null, fits: boolean) => renderInspect({ ...result, platform: { required, host, fits } }, plainStyle).out;
    expect(show('x86_64-unknown-linux-gnu', true)).toContain(`  platforms     ${required.join(', ')} (this is x86_64-unknown-linux-gnu)`);
    expect(show('riscv64gc-unknown-linux-gnu', false)).toContain(
      `  platforms     ${required.join(', ')} (this is riscv64gc-unknown-linux-gnu, which does not fit)`,
    );
    expect(show(null, false)).toContain(`  platforms     ${required.join(', ')} (this machine has no name for its platform)`);
  });

  it('folds a long list of files', () => {
    const parts = Array.from({ length: 20_000 }, (_, at) => ({ role: 'doc', path: `doc/${at}.md`, size: 1, digest: null }) as const);
    const { out } = renderInspect({ ...result, location: 'my model', parts }, plainStyle);
    expect(out).toContain("  … and 19,970 more, see `modelport ls 'my model'`");
    expect(out.length).toBeLessThan(80);
  });

  it('leaves out what is not known', () => {
    const bare = {
      ...result,
      identity: {},
      weights: {},
      capabilities: {},
      parts: [],
      io: { inputs: [], outputs: [], selfTests: 0, examples: 0 },
      run: {},
      findings: [],
      mountable: [],
      tensors: [],
    };
    expect(renderInspect({ ...bare, digest: null }, plainStyle).out).toEqual([
      'demo/digits:v1 · modelpack cncf',
      '  location  demo/digits:v1 (store)',
    ]);
  });

  it('stays inside a terminal', () => {
    const style = styleFor(createMemoryStream({ columns: 60 }), { NO_COLOR: '1' });
    const parts = [{ role: 'weights', path: `${'deep/'.repeat(30)}model.safetensors`, size: 1, digest }] as const;
    const { out } = renderInspect({ ...result, digest: null, identity: { description: 'long '.repeat(50) }, parts }, style);
    expect(Math.max(...out.map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});
