import { randomFillSync } from 'node:crypto';
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MiB = 1 << 20;

/** A model of `count` weight files, `bytes` each and all different, with a config beside them. `sparse`: a random beginning, then zeros that take no space. */
export function writeShards(folder: string, count: number, bytes: number, how: 'random' | 'sparse' = 'random'): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.json'), '{"model_type":"llama"}');
  for (let at = 1; at <= count; at++) writeShard(join(folder, `model-0000${at}-of-0000${count}.safetensors`), at, bytes, how);
}

function writeShard(file: string, at: number, bytes: number, how: 'random' | 'sparse'): void {
  const space = bytes - 1024;
  const header = JSON.stringify({ [`layer.${at}`]: { dtype: 'U8', shape: [space], data_offsets: [0, space] } }).padEnd(1016, ' ');
  const start = Buffer.alloc(8);
  start.writeBigUInt64LE(1016n);
  const handle = openSync(file, 'wx');
  try {
    writeSync(handle, Buffer.concat([start, Buffer.from(header)]));
    const noise = Buffer.alloc(MiB);
    for (let done = 1024; done < (how === 'random' ? bytes : 2 * MiB); done += MiB)
      writeSync(handle, randomFillSync(noise), 0, Math.min(MiB, bytes - done));
    ftruncateSync(handle, bytes);
  } finally {
    closeSync(handle);
  }
}
