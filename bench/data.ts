import { createCipheriv, createHash } from 'node:crypto';
import { closeSync, createReadStream, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';

export interface Data {
  readonly dir: string;
  /** Paths of all files, the large ones first. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** A file as a registry knows it. */
export interface FileBlob {
  readonly digest: string;
  readonly file: string;
  /** Its path in the folder. */
  readonly name: string;
}

const chunkBytes = 4 * 1024 * 1024;
const shardCount = 4;
const tensorsPerShard = 8;
/** Two bytes an element (BF16). */
const columns = 1024;

/** Bytes that no compressor shortens, equal for equal seeds, at the speed of AES. At most `chunkBytes` a call. */
function createNoise(seed: string): (length: number) => Buffer {
  const key = createHash('sha256').update(seed).digest().subarray(0, 16);
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  const zeros = Buffer.alloc(chunkBytes);
  return (length) => cipher.update(zeros.subarray(0, length));
}

/** A language model as it is published: four shards with their index, configs, tokenizer, documents. `weightBytes` is met to some kilobytes. */
export async function writeModel(dir: string, weightBytes: number, signal: AbortSignal): Promise<Data> {
  mkdirSync(dir);
  const rows = Math.max(1, Math.floor(weightBytes / shardCount / tensorsPerShard / columns / 2));
  const weightMap: Record<string, string> = {};
  const files: string[] = [];
  let bytes = 0;
  for (let shard = 0; shard < shardCount; shard++) {
    const name = `model-${toNumber(shard + 1)}-of-${toNumber(shardCount)}.safetensors`;
    const tensors = Array.from({ length: tensorsPerShard }, (_, at) => `model.layers.${shard * tensorsPerShard + at}.mlp.down_proj.weight`);
    for (const tensor of tensors) weightMap[tensor] = name;
    bytes += await writeShard(join(dir, name), tensors, rows, signal);
    files.push(join(dir, name));
  }
  const totalSize = shardCount * tensorsPerShard * rows * columns * 2;
  for (const [name, text] of Object.entries(describeModel(rows, totalSize, weightMap))) {
    writeFileSync(join(dir, name), text);
    files.push(join(dir, name));
    bytes += Buffer.byteLength(text);
  }
  return { dir, files, bytes };
}

/** A model of one file. */
export async function writeOneShard(dir: string, weightBytes: number, signal: AbortSignal): Promise<Data> {
  mkdirSync(dir);
  const file = join(dir, 'model.safetensors');
  const rows = Math.max(1, Math.floor(weightBytes / tensorsPerShard / columns / 2));
  const tensors = Array.from({ length: tensorsPerShard }, (_, at) => `model.layers.${at}.mlp.up_proj.weight`);
  return { dir, files: [file], bytes: await writeShard(file, tensors, rows, signal) };
}

/** In the order of the files. */
export async function listBlobs({ dir, files }: Data, signal: AbortSignal): Promise<FileBlob[]> {
  const blobs: FileBlob[] = [];
  for (const file of files) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(file, { highWaterMark: chunkBytes }), hash, { signal });
    blobs.push({ digest: `sha256:${hash.digest('hex')}`, file, name: relative(dir, file) });
  }
  return blobs;
}

function toNumber(value: number): string {
  return String(value).padStart(5, '0');
}

async function writeShard(file: string, tensors: readonly string[], rows: number, signal: AbortSignal): Promise<number> {
  const tensorBytes = rows * columns * 2;
  const entries = tensors.map((name, at) => [
    name,
    { dtype: 'BF16', shape: [rows, columns], data_offsets: [at * tensorBytes, (at + 1) * tensorBytes] },
  ]);
  const json = JSON.stringify(Object.fromEntries([['__metadata__', { format: 'pt' }], ...entries]));
  const header = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const noise = createNoise(tensors.join());
  const fd = openSync(file, 'wx');
  try {
    writeSync(fd, Buffer.concat([length, header]));
    for (let left = tensors.length * tensorBytes; left > 0; left -= chunkBytes) {
      await setImmediate(undefined, { signal });
      writeSync(fd, noise(Math.min(left, chunkBytes)));
    }
  } finally {
    closeSync(fd);
  }
  return 8 + header.length + tensors.length * tensorBytes;
}

function describeModel(rows: number, totalSize: number, weightMap: Readonly<Record<string, string>>): Record<string, string> {
  const vocabulary = Object.fromEntries(Array.from({ length: 32_000 }, (_, at) => [`piece${at}`, at]));
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  return {
    'model.safetensors.index.json': json({ metadata: { total_size: totalSize }, weight_map: weightMap }),
    'config.json': json({
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      hidden_size: columns,
      intermediate_size: rows,
      num_hidden_layers: shardCount * tensorsPerShard,
      torch_dtype: 'bfloat16',
      vocab_size: 32_000,
    }),
    'generation_config.json': json({ max_new_tokens: 256 }),
    'tokenizer.json': json({ version: '1.0', model: { type: 'BPE', vocab: vocabulary, merges: [] } }),
    'tokenizer_config.json': json({ tokenizer_class: 'LlamaTokenizer' }),
    'README.md': '---\nlicense: apache-2.0\n---\n# A model for measuring\n\nIts weights are noise.\n',
    LICENSE: 'Apache License, Version 2.0\n',
  };
}

/** Files of 1 - 20 KiB, spread over a hundred folders. */
export async function writeManyFiles(dir: string, count: number, signal: AbortSignal): Promise<Data> {
  const noise = createNoise('many');
  const files: string[] = [];
  let bytes = 0;
  for (let at = 0; at < count; at++) {
    if (at % 256 === 0) await setImmediate(undefined, { signal });
    const folder = join(dir, `part-${String(at % 100).padStart(2, '0')}`);
    if (at < 100) mkdirSync(folder, { recursive: true });
    const length = 1024 + (noise(4).readUInt32LE() % (19 * 1024 + 1));
    const file = join(folder, `${String(at).padStart(6, '0')}.txt`);
    writeFileSync(file, noise(length));
    files.push(file);
    bytes += length;
  }
  return { dir, files, bytes };
}
