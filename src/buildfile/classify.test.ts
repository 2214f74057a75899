import { describe, expect, it } from 'vitest';
import { roles } from '../core/index.js';
import { classify, weightsFloorBytes } from './classify.js';

const table: Readonly<Record<string, readonly string[]>> = {
  weights: [
    'model.safetensors',
    'model-00001-of-00002.safetensors',
    'nested/deep/MODEL.GGUF',
    'model.onnx',
    'model.onnx_data',
    'model.onnx.data',
    'pytorch_model.bin',
    'pytorch_model-00001-of-00003.bin',
    'model.pt',
    'x.ckpt',
    'x.h5',
    'x.keras',
    'x.tflite',
    'saved_model.pb',
    'variables/variables.data-00000-of-00001',
    'variables/variables.index',
    'openvino_model.xml',
    'arrays.npz',
    'model.joblib',
    'model.pkl',
    'x.engine',
    'x.mlmodel',
    'net.mlpackage/Manifest.json',
    'flax_model.msgpack',
    'booster.model',
    'consolidated.00.pth',
    'model~with+odd (1) name.gguf',
  ],
  config: [
    'config.json',
    'generation_config.json',
    'preprocessor_config.json',
    'quantize_config.json',
    'params.json',
    'adapter_config.json',
    'modules.json',
    'model.safetensors.index.json',
    'pytorch_model.bin.index.json',
    'chat_template.jinja',
    'chat_template.json',
    'MLmodel',
    'configuration.yaml',
    'hparams.toml',
    'labels.txt',
  ],
  tokenizer: [
    'tokenizer.json',
    'tokenizer.model',
    'tokenizer_config.json',
    'vocab.txt',
    'vocab.json',
    'merges.txt',
    'special_tokens_map.json',
    'added_tokens.json',
    'spiece.model',
    'sentencepiece.bpe.model',
    'tekken.json',
    'qwen.tiktoken',
    'tokenizer.model.v3',
  ],
  doc: [
    'README.md',
    'README',
    'LICENSE',
    'LICENSE.txt',
    'LICENCE-MODEL',
    'NOTICE.md',
    'docs/guide.rst',
    'CITATION.cff',
    'paper.pdf',
    'figures/plot.PNG',
    'notes.txt',
    'data/README.md',
  ],
  dataset: ['train.parquet', 'train-00000-of-00001.parquet', 'x.arrow', 'x.csv', 'x.jsonl', 'data/anything.json', 'datasets/x.bin'],
  test: ['tests/input.npy', 'test/model.onnx', 'samples.json', 'sample_input.json', 'self_tests/x.json', 'test_data.npz'],
  environment: [
    'requirements.txt',
    'requirements-dev.txt',
    'environment.yml',
    'conda.yaml',
    'python_env.yaml',
    'pyproject.toml',
    'Dockerfile',
    'Dockerfile.cuda',
    'poetry.lock',
    'Pipfile',
    'Pipfile.lock',
    'package.json',
  ],
  code: ['predict.py', 'src/index.ts', 'run.sh', 'notebook.ipynb', 'kernel.cu', 'ops.so', 'data/loader.py', 'modeling_llama.py'],
  other: ['unknown', 'small.bin', 'archive.zip', 'x.dat'],
};

describe('classify', () => {
  it.each(roles.flatMap((role) => (table[role] ?? []).map((path) => [path, role])))('%s is %s', (path, role) => {
    expect(classify(path, 1000, 0o644)).toEqual({ role, guessed: true });
  });

  it('goes by size where the name says nothing', () => {
    expect(classify('blob', weightsFloorBytes, 0o644).role).toBe('other');
    expect(classify('blob', weightsFloorBytes + 1, 0o644).role).toBe('weights');
    expect(classify('layer.bin', 2 ** 20, 0o644).role).toBe('weights');
  });

  it('takes a program without extension for code', () => {
    expect(classify('serve', 1000, 0o755).role).toBe('code');
  });
});
