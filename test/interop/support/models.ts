import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeTensors } from '../../support/weight-files.js';
import { root } from './modelport.js';

export const models = ['digits', 'varied'] as const;

export type Model = (typeof models)[number];

/** Makes the folder of a model, with modes that no umask of the checkout has touched. */
export function makeModel(model: Model, folder: string): void {
  mkdirSync(folder);
  if (model === 'digits') copyDigits(folder);
  else writeVaried(folder);
}

function copyDigits(folder: string): void {
  const example = join(root, 'examples/digits');
  for (const name of readdirSync(example)) {
    if (name === 'modelport.toml') continue;
    copyFileSync(join(example, name), join(folder, name));
    chmodSync(join(folder, name), name.endsWith('.py') ? 0o755 : 0o644);
  }
}

/** Enough small files of one kind for a layer that holds many. */
const manyFiles = 300;

/** Two shards, names that need pax headers, an empty file, twins, a program, and many small files. */
function writeVaried(folder: string): void {
  const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'] as const;
  const files: Record<string, string | Uint8Array> = {
    'config.json': JSON.stringify({ model_type: 'llama', architectures: ['LlamaForCausalLM'], torch_dtype: 'float32' }),
    [shards[0]]: makeTensors({ 'layer.0.weight': ['F32', [256, 512], 524_288] }),
    [shards[1]]: makeTensors({ 'layer.1.weight': ['F32', [128, 512], 262_144] }),
    'model.safetensors.index.json': JSON.stringify({
      metadata: { total_size: 786_432 },
      weight_map: { 'layer.0.weight': shards[0], 'layer.1.weight': shards[1] },
    }),
    'README.md': '# Varied\n',
    LICENSE: 'Apache-2.0\n',
    'docs/empty.md': '',
    'docs/twin a.md': 'the same\n',
    'docs/twin b.md': 'the same\n',
    'docs/größe/数字 Σ.md': 'names beyond ASCII\n',
    [`docs/${'folder-'.repeat(17)}/${'a'.repeat(150)}.md`]: 'a name longer than any ustar header holds\n',
    'tools/run.sh': '#!/bin/sh\necho run\n',
  };
  for (let at = 0; at < manyFiles; at++) files[`src/part-${String(at).padStart(3, '0')}.py`] = `value = ${at}\n`;
  for (const [path, content] of Object.entries(files)) writeModelFile(join(folder, path), content);
}

function writeModelFile(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, file.endsWith('.sh') ? 0o755 : 0o644);
}
