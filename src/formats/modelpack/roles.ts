import type { Role } from '../../core/index.js';
import type { Kind } from './spec.js';

/** The kind of layer that a file goes into. */
export const kindByRole = {
  weights: 'weight',
  config: 'weight.config',
  tokenizer: 'weight.config',
  code: 'code',
  environment: 'code',
  other: 'code',
  dataset: 'dataset',
  test: 'dataset',
  doc: 'doc',
} as const satisfies Record<Role, Kind>;

export function toKind(role: Role): Kind {
  return kindByRole[role];
}

const weightsName =
  /\.(safetensors|gguf|ggml|onnx|pt|pth|pt2|ptl|tflite|h5|keras|mlmodel|msgpack|engine|plan|npz)$|\.(safetensors|gguf)\.part\d|^pytorch_model.*\.bin$|^model.*\.bin$|^consolidated\..*\.bin$|\.onnx[._]data$/i;
const tokenizerName =
  /^(tokenizer.*|.*tokenizer\.(json|model)|vocab.*\.(json|txt)|merges\.txt|special_tokens_map\.json|added_tokens\.json|spiece\.model|sentencepiece.*\.model|chat_template.*)$/i;
const configName =
  /\.index\.json$|^(config|generation_config|preprocessor_config|processor_config|adapter_config|quantize_config|model_index|params|hyperparameters)\.(json|ya?ml|toml)$/i;
const documentName = /^(readme|licen[cs]e|notice|copying|changelog|citation|usage|model_?card|authors)([._-].*)?$|\.(md|rst|pdf)$/i;
const environmentName =
  /^(requirements.*\.txt|environment\.ya?ml|conda\.ya?ml|pyproject\.toml|poetry\.lock|uv\.lock|pipfile(\.lock)?|dockerfile.*|containerfile.*)$/i;
const codeName = /\.(py|ipynb|sh|js|ts|c|cc|cpp|cu|h|rs|go|java|jl|r)$/i;
const datasetName = /\.(csv|tsv|parquet|arrow|jsonl|npy|tfrecord)$/i;
const testPath = /^(tests?|self_tests?)\//i;

/** True when the name alone says that a file holds weights. */
export function isWeightsFile(path: string): boolean {
  return weightsName.test(path.slice(path.lastIndexOf('/') + 1));
}

/**
 * Kind and path → role. The kind alone never decides: tools put later shards of weights into `weight.config`, and tokenizers lie among
 * configs. Without a kind the path decides alone.
 */
export function toRole(kind: Kind | undefined, path: string): Role {
  const name = path.slice(path.lastIndexOf('/') + 1);
  switch (kind) {
    case 'weight':
      return tokenizerName.test(name) ? 'tokenizer' : configName.test(name) ? 'config' : 'weights';
    case 'weight.config':
      return weightsName.test(name) ? 'weights' : tokenizerName.test(name) ? 'tokenizer' : 'config';
    case 'code':
      return weightsName.test(name) ? 'weights' : environmentName.test(name) ? 'environment' : 'code';
    case 'dataset':
      return testPath.test(path) ? 'test' : 'dataset';
    case 'doc':
      return 'doc';
    case undefined:
      return guessRole(path, name);
  }
}

function guessRole(path: string, name: string): Role {
  if (testPath.test(path)) return 'test';
  const row = byName.find(([grammar]) => grammar.test(name));
  return row?.[1] ?? 'other';
}

/** First match wins. */
const byName: readonly (readonly [RegExp, Role])[] = [
  [weightsName, 'weights'],
  [tokenizerName, 'tokenizer'],
  [environmentName, 'environment'],
  [documentName, 'doc'],
  [codeName, 'code'],
  [datasetName, 'dataset'],
  [configName, 'config'],
  [/\.(json|ya?ml|toml|ini|cfg|jinja)$/i, 'config'],
];
