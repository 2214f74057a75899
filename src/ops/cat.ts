import { type ByteStream, createError, type ModelPackage, type Part } from '../core/index.js';
import type { OpsContext } from './context.js';
import { openVerified } from './open-part.js';
import { openPackage } from './package.js';

export interface CatOptions {
  readonly location: string;
  readonly path: string;
}

/** One file of a package. The stream is verified: its end throws when the bytes are not what the package promises. */
export async function cat(options: CatOptions, context: OpsContext): Promise<{ readonly size: number; open(): Promise<ByteStream> }> {
  const { pkg } = await openPackage(options.location, context);
  const part = findPart(pkg, options.path);
  return { size: part.size, open: () => openVerified(part) };
}

/** Throws `ops/path-not-found` with the nearest path there is. */
export function findPart(pkg: ModelPackage, path: string): Part {
  const wanted = path.replace(/^\.\//, '');
  const part = pkg.parts.find((each) => each.path === wanted);
  if (part !== undefined) return part;
  const name = wanted.slice(wanted.lastIndexOf('/') + 1).toLowerCase();
  const near = pkg.parts.find((each) => each.path.toLowerCase().endsWith(name)) ?? pkg.parts.find((each) => each.path.toLowerCase().includes(name));
  throw createError('ops/path-not-found', {
    message: `Cannot find the file ${JSON.stringify(path)} in the package`,
    hint: near === undefined ? 'See `modelport ls`' : `Did you mean ${JSON.stringify(near.path)}?`,
    where: path,
  });
}
