import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { toIoError } from '../../bytes/index.js';
import { createError, findDtype, type NamedTensors, type Tensor, type TensorSpec } from '../../core/index.js';
import { orderInputs, parseNpy, parseTensorText, tensorFromBytes } from '../../tensors/index.js';
import { suggest } from '../../text/index.js';
import type { OpsContext } from '../context.js';
import { toAbsolute } from '../paths.js';

export interface InputWords {
  /** `NAME=VALUE` */
  readonly named: readonly string[];
  /** Values alone, in declared order. */
  readonly positional: readonly string[];
}

/**
 * What a person wrote → tensors. A value is `@file.npy`, `@file.json`, `@file.bin` (of the declared dtype and shape) or JSON text. Throws
 * `ops/bad-option` for words that cannot be meant, `tensors/bad-array` for values that are none.
 */
export function readInputs({ named, positional }: InputWords, specs: readonly TensorSpec[], context: OpsContext): NamedTensors {
  if (named.length > 0 && positional.length > 0)
    throw createError('ops/bad-option', {
      message: 'Cannot mix -i NAME=VALUE with bare values: bare values are taken in declared order',
      hint: 'Name all of them, or none',
    });
  if (positional.length > 0)
    return orderInputs(
      positional.map((word, index) => readValue(word, specs[index], specs[index]?.name ?? `value ${index + 1}`, context)),
      specs,
    );
  return new Map(named.map((word) => readNamed(word, specs, context)));
}

function readNamed(word: string, specs: readonly TensorSpec[], context: OpsContext): readonly [string, Tensor] {
  const equals = word.indexOf('=');
  if (equals < 1)
    throw createError('ops/bad-option', { message: `Cannot use the input "${word}": expected NAME=VALUE`, hint: "-i x=@x.npy, or -i 'x=[1,2]'" });
  const name = word.slice(0, equals);
  const spec = specs.find((each) => each.name === name);
  if (spec === undefined && specs.length > 0)
    throw createError('runtime/bad-input', {
      message: `Cannot use the input "${name}": the model declares no such input`,
      hint: suggest(
        name,
        specs.map((each) => each.name),
      ),
      where: name,
    });
  return [name, readValue(word.slice(equals + 1), spec, name, context)];
}

function readValue(word: string, spec: TensorSpec | undefined, name: string, context: OpsContext): Tensor {
  if (!word.startsWith('@')) return parseTensorText(word, spec ?? {}, `input "${name}"`, context.limits);
  return readTensorFile(toAbsolute(word.slice(1), context), spec, context);
}

/** A tensor in a file of its own: `.npy`, `.json`, or `.bin` with the dtype and shape that are declared for it. */
export function readTensorFile(path: string, spec: Pick<TensorSpec, 'dtype' | 'shape'> | undefined, { limits, counters }: OpsContext): Tensor {
  const bytes = readLimited(path, limits.tensorBytes);
  counters.read += bytes.byteLength;
  switch (extname(path).toLowerCase()) {
    case '.npy':
      return parseNpy(bytes, path, limits);
    case '.json':
      return parseTensorText(bytes.toString('utf8'), spec ?? {}, path, limits);
    case '.bin':
      return readRaw(bytes, spec, path);
    default:
      throw createError('ops/bad-option', {
        message: `Cannot read a tensor from "${path}": expected a file that ends in .npy, .json or .bin`,
        where: path,
      });
  }
}

function readLimited(path: string, limit: number): Buffer {
  try {
    const { size } = statSync(path);
    if (size > limit)
      throw createError('bytes/limit', {
        message: `Cannot hold "${path}" in memory: it is ${size} bytes long and at most ${limit} are read`,
        where: path,
      });
    return readFileSync(path);
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
}

/** At most one declared size may be free: it follows from the length. */
function readRaw(bytes: Uint8Array, spec: Pick<TensorSpec, 'dtype' | 'shape'> | undefined, path: string): Tensor {
  const { dtype, shape } = spec ?? {};
  if (dtype === undefined || dtype === 'string' || shape === undefined || typeof shape === 'string') throw undeclared(path);
  const free = shape.filter((size) => typeof size !== 'number').length;
  const known = shape.reduce<number>((product, size) => (typeof size === 'number' ? product * size : product), 1);
  if (free > 1 || (free === 1 && known === 0)) throw undeclared(path);
  const bits = findDtype('name', dtype)?.bits ?? 8;
  const elements = (bytes.byteLength * 8) / bits;
  return tensorFromBytes(
    bytes,
    dtype,
    shape.map((size) => (typeof size === 'number' ? size : Math.floor(elements / known))),
    path,
  );
}

function undeclared(path: string): Error {
  return createError('tensors/bad-array', {
    message: `Cannot read "${path}": bare bytes need a declared dtype and a shape with at most one free size`,
    hint: 'Use a .npy file, which says both itself',
    where: path,
  });
}
