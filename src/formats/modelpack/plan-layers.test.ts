import { describe, expect, it } from 'vitest';
import { part } from '../../../test/support/parts.js';
import type { Finding } from '../../core/index.js';
import { parseLayerEncodings, planLayers } from './plan-layers.js';
import type { Vintage } from './spec.js';

const model = [
  part('model.safetensors', 'weights'),
  part('config.json', 'config'),
  part('README.md', 'doc'),
  part('run.py', 'code'),
  part('data.csv', 'dataset'),
];

function plan(vintage: Vintage, words: readonly string[] = [], parts = model) {
  const findings: Finding[] = [];
  const layers = planLayers(parts, vintage, parseLayerEncodings(words), findings);
  return { layers: layers.map(({ kind, encoding, filepath }) => `${kind} ${encoding} ${filepath}`), findings, planned: layers };
}

describe('planLayers', () => {
  it('writes one raw layer a file as cncf, weights first', () => {
    expect(plan('cncf').layers).toEqual([
      'weight raw model.safetensors',
      'weight.config raw config.json',
      'doc raw README.md',
      'code raw run.py',
      'dataset raw data.csv',
    ]);
  });

  it.each(['cnai', 'draft-2024'] as const)('writes tar layers as %s', (vintage) => {
    expect(new Set(plan(vintage).layers.map((layer) => layer.split(' ')[1]))).toEqual(new Set(['tar']));
  });

  it('keeps what cnai has no raw type for in tar, and says so once a kind', () => {
    const { layers, findings } = plan('cnai', ['raw']);
    expect(layers.filter((layer) => layer.includes(' raw '))).toEqual(['weight raw model.safetensors']);
    expect(findings.map((finding) => finding.code)).toEqual(Array(4).fill('modelpack/encoding-kept'));
  });

  it('never compresses the weights of the draft', () => {
    const { layers, findings } = plan('draft-2024', ['tar+gzip']);
    expect(layers[0]).toBe('weight tar model.safetensors');
    expect(layers[1]).toBe('weight.config tar+gzip config.json');
    expect(findings).toHaveLength(1);
  });

  it.each([
    ['draft-2024', 'raw'],
    ['draft-2024', 'tar+zstd'],
    ['draft-2024', 'weights=tar+gzip'],
    ['cnai', 'doc=raw'],
  ] as const)('refuses %s with %s', (vintage, word) => {
    expect(() => plan(vintage, [word])).toThrow(expect.objectContaining({ code: 'modelpack/cannot-write' }));
  });

  it('lets many small files of a kind share a layer, large and shown ones not', () => {
    const many = Array.from({ length: 300 }, (_, index) => part(`src/deep/f${index}.py`, 'code'));
    const large = part('src/large.bin', 'code', 'x', { size: 5 * 1024 * 1024 });
    const { layers, findings, planned } = plan('cncf', [], [...many, large, part('README.md', 'doc')]);
    expect(layers).toEqual(['doc raw README.md', 'code tar src/deep', 'code raw src/large.bin']);
    expect(planned[1]?.parts.map((each) => each.path)).toEqual(many.map((each) => each.path).toSorted());
    expect(findings.map((finding) => finding.code)).toEqual(['modelpack/grouped-layer']);
  });

  it('keeps one layer a file when raw was asked for', () => {
    const many = Array.from({ length: 300 }, (_, index) => part(`f${index}.py`, 'code'));
    expect(plan('cncf', ['raw'], many).layers).toHaveLength(300);
  });

  it('calls a group that shares no folder by its kind', () => {
    const many = Array.from({ length: 300 }, (_, index) => part(`d${index}/f.py`, 'code'));
    expect(plan('cncf', [], many).layers).toEqual(['code tar code']);
  });
});

describe('parseLayerEncodings', () => {
  it('takes a default and roles', () => {
    expect(parseLayerEncodings(['tar', 'doc=tar+gzip'])).toEqual({ all: 'tar', byRole: { doc: 'tar+gzip' } });
  });

  it.each(['tgz', 'weight=raw', 'doc='])('refuses %j', (word) => {
    expect(() => parseLayerEncodings([word])).toThrow(expect.objectContaining({ code: 'ops/bad-option' }));
  });
});
