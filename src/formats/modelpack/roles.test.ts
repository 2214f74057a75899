import { describe, expect, it } from 'vitest';
import { kindByRole, toKind, toRole } from './roles.js';
import { kinds } from './spec.js';

describe('toRole', () => {
  it.each([
    ['weight', 'model.safetensors', 'weights'],
    ['weight', 'model.json', 'weights'],
    ['weight', 'model.safetensors.index.json', 'config'],
    ['weight.config', 'model-00002-of-00003.safetensors', 'weights'],
    ['weight.config', 'config.json', 'config'],
    ['weight.config', 'tok/tokenizer.model', 'tokenizer'],
    ['weight.config', 'special_tokens_map.json', 'tokenizer'],
    ['doc', 'config.json', 'doc'],
    ['code', 'run.py', 'code'],
    ['code', 'requirements.txt', 'environment'],
    ['code', 'adapter.safetensors', 'weights'],
    ['dataset', 'train.csv', 'dataset'],
    ['dataset', 'tests/x.npy', 'test'],
    [undefined, 'a/model.onnx', 'weights'],
    [undefined, 'a/pytorch_model-00001-of-00002.bin', 'weights'],
    [undefined, 'LICENSE', 'doc'],
    [undefined, 'data.csv', 'dataset'],
    [undefined, 'generation_config.json', 'config'],
    [undefined, 'merges.txt', 'tokenizer'],
    [undefined, 'blob', 'other'],
  ] as const)('takes %s %s as %s', (kind, path, role) => {
    expect(toRole(kind, path)).toBe(role);
  });
});

describe('toKind', () => {
  it('gives every role one of the kinds', () => {
    for (const role of Object.keys(kindByRole) as (keyof typeof kindByRole)[]) expect(kinds).toContain(toKind(role));
  });
});
