import type { Role } from '../core/index.js';

export interface Guess {
  readonly role: Role;
  readonly guessed: true;
}

/** Without any other sign, a file larger than this holds weights. (as modctl decides) */
export const weightsFloorBytes = 128 * 1024 * 1024;

/** A `.bin` of this size is more than a table or an index. */
const bigBinBytes = 1024 * 1024;

/** Files that only a framework's own name tells apart; the first that matches decides. */
const byName: readonly (readonly [Role, RegExp])[] = [
  ['config', /\.index\.json$/],
  [
    'environment',
    /^(?:(?:.*[-_.])?requirements.*\.txt|(?:environment|conda|conda_env|python_env)\.ya?ml|pyproject\.toml|setup\.(?:py|cfg)|pipfile|(?:docker|container)file(?:\..*)?|.*\.dockerfile|.*\.lock|package(?:-lock)?\.json|pnpm-lock\.yaml|packages\.txt|apt\.txt|runtime\.txt)$/,
  ],
  [
    'doc',
    /^(?:readme|licen[cs]e|copying|notice|citation|authors|changelog|model[-_]?card|use_policy|security|contributing|code_of_conduct)(?:[-_.].*)?$/,
  ],
  [
    'tokenizer',
    /^(?:tokenizer.*\.(?:json|model|bin)|.*\.tiktoken|vocab(?:ulary)?(?:[-_.].*)?|.*[-_.]vocab(?:\..*)?|merges(?:[-_].*)?\.txt|special_tokens_map\.json|added_tokens\.json|tekken\.json|spiece\.model|source\.spm|target\.spm|.*sentencepiece.*|sentence\.bpe.*|bpe\.codes|.*\.bpe|.*tokenizer\.model.*)$/,
  ],
  [
    'config',
    /^(?:chat_template(?:\..*)?|modules\.json|params\.json|labels?\.txt|classes\.txt|mlmodel|input_example\.json|.*config.*\.(?:json|ya?ml|toml|ini))$/,
  ],
  ['test', /^(?:self[-_]?tests?|samples?|sample[-_](?:in|out|expected).*|test[-_](?:in|out|data|case|sample|vector|expected).*)(?:\..*)?$/],
  ['weights', /^(?:saved_model\.pb|variables\.(?:index|data.*)|.*\.data-\d{5}-of-\d{5}|openvino_(?:.*_)?model\.xml)$/],
];

const shard = /[-_.]\d{5}-of-\d{5}(?:\.|$)/;

const extensions: Readonly<Partial<Record<Role, string>>> = {
  weights:
    'safetensors gguf ggml onnx ort pt pth pt2 pte ptl mar ckpt checkpoint h5 hdf5 keras tflite pb npz npy joblib pkl pickle engine plan trt mlmodel mlpackage msgpack params nemo llamafile caffemodel pdparams pdiparams pdmodel weights model ubj xgb cbm lgb orbax torchscript skops dlc',
  dataset: 'parquet arrow feather csv tsv jsonl ndjson tfrecord lance',
  doc: 'md markdown rst txt adoc html htm pdf tex bib png jpg jpeg gif webp svg bmp',
  code: 'py pyi pyx js mjs cjs ts mts sh bash ps1 bat ipynb c h cc cpp cxx hpp cu cuh go rs java kt swift jl lua r proto so dll dylib whl jar',
  config: 'json yaml yml toml ini cfg conf jinja jinja2 j2 xml modelcard pbtxt',
};

const byExtension: ReadonlyMap<string, Role> = new Map(
  Object.entries(extensions).flatMap(([role, list]) => list.split(' ').map((extension): [string, Role] => [extension, role as Role])),
);

const testFolder = /^(?:tests?|self[-_]?tests?|samples?)$/;
const dataFolder = /^(?:data|datasets?)$/;
const bundleFolder = /\.(?:mlpackage|mlmodelc|saved_model)$/;
const externalData = /\.onnx[._]data(?:[._-].*)?$/;

/**
 * What a file is for, judged by its name alone. `path` is relative with `/`, `size` in bytes, `mode` the permission bits (a program without
 * extension is code). Case does not count.
 */
export function classify(path: string, size: number, mode: number): Guess {
  return { role: guessRole(path.toLowerCase(), size, mode), guessed: true };
}

function guessRole(path: string, size: number, mode: number): Role {
  const folders = path.split('/');
  const name = folders.pop() ?? '';
  const role = byName.find(([, pattern]) => pattern.test(name))?.[0];
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const kind = name.includes('.') ? byExtension.get(extension) : undefined;
  if (folders.some((folder) => testFolder.test(folder))) return 'test';
  if (dataFolder.test(folders[0] ?? '') && role !== 'doc' && kind !== 'code') return 'dataset';
  if (kind === 'dataset' || role !== undefined) return role ?? 'dataset';
  if (shard.test(name) || externalData.test(name) || folders.some((folder) => bundleFolder.test(folder))) return 'weights';
  if (extension === 'bin') return size >= bigBinBytes || /model|weights|ggml|consolidated/.test(name) ? 'weights' : 'other';
  if (kind !== undefined) return kind;
  if (size > weightsFloorBytes) return 'weights';
  return !name.includes('.') && (mode & 0o111) !== 0 ? 'code' : 'other';
}
