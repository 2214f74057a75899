import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createError } from '../../core/index.js';

/** `model.onnx` in the folder, else the only file that ends in `.onnx`. External data lies beside it and is the engine's to read. Throws `runtime/failed`. */
export async function findModelFile(folder: string, location: string): Promise<string> {
  const names = await listNames(folder);
  const graphs = names.filter((name) => name.endsWith('.onnx')).sort();
  const [chosen, ...others] = graphs.includes('model.onnx') ? ['model.onnx'] : graphs;
  if (chosen !== undefined && others.length === 0) return join(folder, chosen);
  const found =
    graphs.length === 0
      ? 'there is no .onnx file'
      : `there are ${graphs.length} .onnx files (${graphs.map((name) => JSON.stringify(name)).join(', ')})`;
  throw createError('runtime/failed', {
    message: `Cannot load ${JSON.stringify(location)}: ${found} in the model's folder`,
    hint: 'name the graph model.onnx',
    where: folder,
  });
}

async function listNames(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).flatMap((entry) => (entry.isDirectory() ? [] : [entry.name]));
  } catch (cause) {
    throw createError('runtime/failed', { message: `Cannot read the folder of the model: ${String(cause)}`, where: folder, cause });
  }
}
