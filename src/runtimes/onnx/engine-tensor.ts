import { type DtypeName, findDtype, type PlainTensor, type Tensor } from '../../core/index.js';
import { toStoredArray } from '../../tensors/index.js';
import type { EngineData, EngineTensor, OnnxEngine } from './engine.js';
import { GraphFailure } from './graph-failure.js';

/** What the engine takes; it spells them as NumPy does. */
const numericTypes: readonly string[] = [
  'float64',
  'float32',
  'float16',
  'int64',
  'int32',
  'int16',
  'int8',
  'uint64',
  'uint32',
  'uint16',
  'uint8',
  'bool',
] satisfies readonly DtypeName[];

/** Whether tensors of this type can be handed over, by its name at the engine. */
export function isTransferable(type: string): boolean {
  return type === 'string' || numericTypes.includes(type);
}

/** `name` is for messages. The bytes are copied only where they begin at an address that the element type cannot. Throws a GraphFailure. */
export function toEngineTensor(engine: Pick<OnnxEngine, 'Tensor'>, name: string, tensor: Tensor): EngineTensor {
  if (tensor.kind === 'nested') throw toBadInput(name, 'is nested (a list of tensors), and a graph takes plain tensors only');
  if (tensor.kind === 'string') {
    assertCount(name, tensor.shape, tensor.values.length);
    return new engine.Tensor('string', tensor.values, tensor.shape);
  }
  const data = numericTypes.includes(tensor.dtype) ? toStoredArray(tensor) : undefined;
  if (data === undefined) throw toBadInput(name, `is ${tensor.dtype}, which onnxruntime-node does not take`);
  assertCount(name, tensor.shape, tensor.bytes.length / data.BYTES_PER_ELEMENT);
  if (tensor.dtype !== 'float16') return new engine.Tensor(tensor.dtype, data, tensor.shape);
  // Where Node has a Float16Array the engine would turn the data into one, which its native part then cannot read.
  return Object.assign(new engine.Tensor('uint16', data, tensor.shape), { type: tensor.dtype });
}

/** The bytes are the engine's own, made for this answer. Throws a GraphFailure for what modelport has no word for. */
export function fromEngineTensor(name: string, tensor: EngineTensor | undefined): PlainTensor {
  if (tensor === undefined) throw new GraphFailure('output', `onnxruntime gave no output ${JSON.stringify(name)}`);
  const { type, dims, data } = tensor;
  const shape = [...dims];
  if (isStrings(data)) return { kind: 'string', shape, values: data };
  const dtype = findDtype('name', type)?.name;
  if (dtype === undefined || dtype === 'string' || !numericTypes.includes(dtype)) {
    throw new GraphFailure('output', `onnxruntime gave output ${JSON.stringify(name)} as ${JSON.stringify(type)}, which is not known here`);
  }
  return { kind: 'numeric', dtype, shape, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}

function isStrings(data: EngineData): data is readonly string[] {
  return Array.isArray(data);
}

function assertCount(name: string, shape: readonly number[], count: number): void {
  const wanted = shape.reduce((product, extent) => product * extent, 1);
  if (count !== wanted) throw toBadInput(name, `has ${count} elements, and the shape [${shape.join(', ')}] is ${wanted}`);
}

function toBadInput(name: string, problem: string): GraphFailure {
  return new GraphFailure('input', `input ${JSON.stringify(name)} ${problem}`);
}
