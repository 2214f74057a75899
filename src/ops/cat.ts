import { fromBytes } from '../bytes/index.js';
import { readNamedTensor } from '../formats/index.js';
import { type ByteStream, createError, type ModelPackage, type PackageSource, type Part, type Tensor } from '../core/index.js';
import { sampleFolders } from './complete-samples.js';
import type { OpsContext } from './context.js';
import { openLinked } from './linked-files.js';
import { openVerified } from './open-part.js';
import { overlayLinked } from './overlay-linked.js';
import { openPackage } from './package.js';
import { encodeTensorFile } from './run/tensor-files.js';

export interface CatOptions {
  readonly location: string;
  readonly path: string;
}

/**
 * One file of a package. The stream is verified: its end throws when the bytes are not what the package promises. Of a carton `@misc/FILE` and
 * `@tensor_data/NAME` too, a tensor as .npy, or as JSON where NumPy has no portable file for it; what is linked is fetched first.
 */
export async function cat(options: CatOptions, context: OpsContext): Promise<{ readonly size: number; open(): Promise<ByteStream> }> {
  const { pkg, source } = await openPackage(options.location, context);
  const tensor = /^@tensor_data\/(.+)$/.exec(options.path)?.[1];
  if (tensor !== undefined && source.kind !== 'folder' && pkg.format === 'carton')
    return toFile(encodeTensorFile(await readTensor(source, pkg, tensor, context)).bytes);
  const path = options.path.replace(/^@misc\//, 'misc/');
  const linked = pkg.linked?.find((each) => each.path === path);
  if (linked !== undefined) {
    const file = await openLinked(linked, context);
    return { size: file.size, open: () => file.open() };
  }
  const part = findPart(pkg, path);
  return { size: part.size, open: () => openVerified(part) };
}

async function readTensor(source: PackageSource, { linked = [] }: ModelPackage, name: string, context: OpsContext): Promise<Tensor> {
  const far = linked.filter(({ path }) => path.startsWith(sampleFolders.tensors));
  return readNamedTensor(far.length === 0 ? source : await overlayLinked(source, far, context), name, { limits: context.limits });
}

function toFile(bytes: Uint8Array): { readonly size: number; open(): Promise<ByteStream> } {
  return { size: bytes.byteLength, open: async () => fromBytes(bytes) };
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
