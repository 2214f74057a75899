import {
  type DtypeName,
  findDtype,
  isJsonObject,
  type JsonObject,
  type Limits,
  type NestedTensor,
  type PlainTensor,
  type Shape,
  type Tensor,
} from '../core/index.js';
import { badArray, quote } from './bad-array.js';
import { countElements } from './element-count.js';
import { encodeElements } from './encode-elements.js';
import { parseExactJson } from './exact-json.js';
import { inferDtype } from './infer-dtype.js';
import { type Flattened, flatten, maxRank } from './nested-values.js';
import { unravel } from './unravel.js';

/** What is declared of a value: a dtype is applied, a shape decides whether it may be ragged (see `checkTensors` for the rest). */
export interface ValueSpec {
  readonly dtype?: DtypeName | undefined;
  readonly shape?: Shape | undefined;
}

interface Context {
  readonly spec: ValueSpec;
  readonly where: string;
  readonly hasFraction: boolean;
}

type Regular = Extract<Flattened, { kind: 'regular' }>;

/**
 * A value that JSON.parse or a program made: `{dtype, shape, data}` with flat or nested `data` (an Open Inference Protocol output too, and
 * `dtype: "nested"` with a list of such values), or bare nested arrays. Whole numbers beyond 2^53 have to be bigint. Without a declaration: int64,
 * float64, bool or string. Throws `tensors/bad-array`, which names the value and its index.
 */
export function parseTensorJson(value: unknown, spec: ValueSpec, where: string): Tensor {
  return parseValue(value, { spec, where, hasFraction: false });
}

/** The same of JSON text, every digit kept. Bare NaN, Infinity and -Infinity are taken. Throws `tensors/bad-array` with line and column, `bytes/limit`. */
export function parseTensorText(text: string, spec: ValueSpec, where: string, limits: Limits): Tensor {
  const { value, hasFraction } = parseExactJson(text, where, limits);
  return parseValue(value, { spec, where, hasFraction });
}

function parseValue(value: unknown, context: Context): Tensor {
  if (isJsonObject(value)) return parseObject(value, context);
  const flat = flatten(value);
  if (flat.kind === 'regular') return toTensor(flat, dtypeOf([flat], context), context);
  if (!Array.isArray(value) || !mayBeRagged(context.spec.shape)) throw ragged(flat, context);
  return parseRagged(value, context);
}

/** Every extent has to be free: a fixed one, or one symbol for the whole shape, means one shape. (Carton format, shape) */
function mayBeRagged(shape: Shape | undefined): boolean {
  if (shape === undefined || typeof shape === 'string') return shape === '*';
  return shape.length > 1 && shape.every((extent) => typeof extent !== 'number');
}

function ragged(flat: Exclude<Flattened, Regular>, { where }: Context, above: readonly number[] = []): Error {
  const index = `[${[...above, ...flat.at].join(', ')}]`;
  return badArray(where, `it is ragged at ${index}: expected ${flat.expected} as before, found ${flat.found}`, index);
}

function parseRagged(items: readonly unknown[], context: Context): NestedTensor {
  const flats = items.map((item, at): Regular => {
    const flat = flatten(item);
    if (flat.kind === 'ragged') throw ragged(flat, context, [at]);
    return flat;
  });
  const dtype = dtypeOf(flats, context);
  return { kind: 'nested', inner: flats.map((flat, at) => toTensor(flat, dtype, context, [at])) };
}

function dtypeOf(flats: readonly Regular[], { spec, hasFraction }: Context): DtypeName {
  return spec.dtype ?? inferDtype(flats.length === 1 ? (flats[0]?.values ?? []) : flats.flatMap(({ values }) => values), hasFraction);
}

function toTensor({ shape, values }: Regular, dtype: DtypeName, { where }: Context, above: readonly number[] = []): PlainTensor {
  const refuse = (reason: string, position?: number): Error => {
    const index = position === undefined ? undefined : `[${[...above, ...unravel(position, shape)].join(', ')}]`;
    return badArray(where, index === undefined ? reason : `${reason}, at ${index}`, index);
  };
  if (dtype !== 'string') return { kind: 'numeric', dtype, shape, bytes: encodeElements(values, dtype, refuse) };
  for (const [position, value] of values.entries()) {
    if (typeof value !== 'string') throw refuse(`expected text, found ${value === null ? 'null' : typeof value}`, position);
    if (/\p{Surrogate}/u.test(value)) throw refuse('the text holds half a character', position);
  }
  return { kind: 'string', shape, values: values as readonly string[] };
}

const keys = new Set(['name', 'dtype', 'datatype', 'shape', 'data']);

function parseObject(object: JsonObject, context: Context): Tensor {
  const { where } = context;
  const unknown = Object.keys(object).find((key) => !keys.has(key));
  if (unknown !== undefined) throw badArray(where, `it has the key ${quote(unknown)}; expected dtype, shape and data`);
  if (object.data === undefined) throw badArray(where, 'it has no data');
  const shape = parseShape(object.shape, where);
  if (object.dtype === 'nested' || object.datatype === 'NESTED') return parseNested(object.data, shape, context);
  const dtype = parseDtype(object, where) ?? context.spec.dtype;
  const flat = flatten(object.data);
  if (shape === undefined) return parseValue(object.data, { ...context, spec: { ...context.spec, dtype } });
  if (flat.kind === 'ragged') throw ragged(flat, context);
  const isFlat = flat.shape.length <= 1 && countElements(shape) === flat.values.length;
  if (!isFlat && flat.shape.join() !== shape.join())
    throw badArray(where, `its shape is [${shape.join(', ')}] and its data has the shape [${flat.shape.join(', ')}]`);
  const declared = { ...flat, shape };
  return toTensor(declared, dtype ?? inferDtype(flat.values, context.hasFraction), context);
}

function parseNested(data: unknown, shape: readonly number[] | undefined, context: Context): NestedTensor {
  if (!Array.isArray(data)) throw badArray(context.where, 'the data of a nested tensor is a list of tensors');
  if (shape !== undefined && shape.join() !== String(data.length))
    throw badArray(context.where, `its shape is [${shape.join(', ')}] and it holds ${data.length} tensors`);
  const spec: ValueSpec = { dtype: context.spec.dtype };
  const inner = data.map((item, at): PlainTensor => {
    const tensor = parseValue(item, { ...context, spec, where: `${context.where}[${at}]` });
    if (tensor.kind === 'nested') throw badArray(context.where, `its tensor ${at} is nested too, which no tensor in a nested one may be`);
    return tensor;
  });
  return { kind: 'nested', inner };
}

function parseShape(shape: unknown, where: string): readonly number[] | undefined {
  if (shape === undefined) return undefined;
  const isShape = Array.isArray(shape) && shape.length <= maxRank && shape.every((extent) => typeof extent === 'number');
  if (!isShape || countElements(shape) === undefined) throw badArray(where, 'its shape is no list of whole numbers from 0, or too large');
  return shape;
}

function parseDtype({ dtype, datatype }: JsonObject, where: string): DtypeName | undefined {
  const found = dtype ?? datatype;
  if (found === undefined) return undefined;
  const row = typeof found === 'string' ? findDtype(dtype === undefined ? 'inference' : 'name', found) : undefined;
  if (row === undefined) throw badArray(where, `its dtype is ${typeof found === 'string' ? quote(found) : typeof found}, which is none`);
  return row.name;
}
