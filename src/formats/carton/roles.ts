import type { Part } from '../../core/index.js';
import { miscFolder, modelFolder, tensorFolder } from './spec.js';

/** What the python runner keeps beside the model: lock file and wheels. */
const environmentFolder = `${modelFolder}.carton/`;

/** First match wins. */
const byName: readonly (readonly [RegExp, Part['role']])[] = [
  [/\.(safetensors|gguf|ggml|onnx|pt|pth|pt2|ptl|ot|tflite|h5|keras|msgpack|pb|wasm|npz|bin|pkl|joblib)$|\.onnx[._]data$/i, 'weights'],
  [
    /^(tokenizer.*|.*tokenizer\.(json|model)|vocab.*\.(json|txt)|merges\.txt|special_tokens_map\.json|added_tokens\.json|.*\.model|chat_template.*)$/i,
    'tokenizer',
  ],
  [/^(requirements.*\.txt|environment\.ya?ml|conda\.ya?ml|pyproject\.toml|.*\.lock|pipfile|.*\.whl)$/i, 'environment'],
  [/^(readme|licen[cs]e|notice|copying|changelog|model_?card)([._-].*)?$|\.(md|rst|pdf)$/i, 'doc'],
  [/\.(py|ipynb|sh|js|ts|c|cc|cpp|cu|h|rs|go|java|jl|r)$/i, 'code'],
  [/\.(csv|tsv|parquet|arrow|jsonl|npy|tfrecord)$/i, 'dataset'],
  [/\.(json|ya?ml|toml|ini|cfg|jinja)$/i, 'config'],
];

/** By the folder of a member; below model/ the format says nothing, so that there its name decides. */
export function roleOf(path: string): Pick<Part, 'role' | 'guessed'> {
  if (path.startsWith(environmentFolder)) return { role: 'environment' };
  if (path.startsWith(tensorFolder)) return { role: 'test' };
  if (path.startsWith(miscFolder)) return { role: 'doc' };
  if (!path.startsWith(modelFolder)) return { role: 'config' };
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { role: byName.find(([grammar]) => grammar.test(name))?.[1] ?? 'other', guessed: true };
}
