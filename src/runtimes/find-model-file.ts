import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createError } from '../core/index.js';

/** `model` with this extension in the folder, which packages have, else the only file that ends so. Throws `runtime/failed`. */
export async function findModelFile(folder: string, location: string, extension: '.onnx' | '.pt'): Promise<string> {
  const names = await listNames(folder);
  const found = names.filter((name) => name.endsWith(extension)).sort();
  const [chosen, ...others] = found.includes(`model${extension}`) ? [`model${extension}`] : found;
  if (chosen !== undefined && others.length === 0) return join(folder, chosen);
  const reason =
    found.length === 0
      ? `there is no ${extension} file`
      : `there are ${found.length} ${extension} files (${found.map((name) => JSON.stringify(name)).join(', ')})`;
  throw createError('runtime/failed', {
    message: `Cannot load ${JSON.stringify(location)}: ${reason} in the model's folder`,
    hint: `Name it model${extension}`,
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
