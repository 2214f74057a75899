import type { TensorSpec } from '../core/index.js';
import { present } from './present.js';
import { findOnnxDtype } from './onnx-tensor.js';
import type { ForwardReader } from './forward-reader.js';
import { type Field, readInside, readText, toNumber } from './onnx-wire.js';

const maxRank = 64;

interface Draft {
  name: string;
  description?: string;
  dataType?: number;
  /** Absent: any rank. */
  shape?: (number | string | null)[];
  isTensor: boolean;
}

/** A ValueInfoProto: an input or output of a graph. Sequences, maps and optionals have a name only. */
export async function readValueInfo(reader: ForwardReader, field: Field): Promise<TensorSpec> {
  const draft: Draft = { name: '', isTensor: false };
  await readInside(reader, field, {
    1: async (inner) => {
      draft.name = await readText(reader, inner);
    },
    2: (inner) => readInside(reader, inner, { 1: (tensor) => readTensorType(reader, tensor, draft) }),
    3: async (inner) => {
      draft.description = await readText(reader, inner);
    },
  });
  return present<TensorSpec>({
    name: draft.name,
    dtype: draft.dataType === undefined ? undefined : findOnnxDtype(draft.dataType),
    shape: draft.isTensor ? (draft.shape ?? '*') : undefined,
    description: draft.description === '' ? undefined : draft.description,
  });
}

async function readTensorType(reader: ForwardReader, field: Field, draft: Draft): Promise<void> {
  draft.isTensor = true;
  await readInside(reader, field, {
    1: (inner) => {
      draft.dataType = toNumber(reader, inner);
    },
    2: async (inner) => {
      const shape: (number | string | null)[] = [];
      await readInside(reader, inner, { 1: async (dim) => void shape.push(await readDimension(reader, dim)) });
      if (shape.length > maxRank) throw reader.bad(`a shape has ${shape.length} dimensions and at most ${maxRank} are read`);
      draft.shape = shape;
    },
  });
}

/** A number, a symbol, or nothing at all; some writers put -1 for nothing. */
async function readDimension(reader: ForwardReader, field: Field): Promise<number | string | null> {
  let dimension: number | string | null = null;
  await readInside(reader, field, {
    1: (inner) => {
      const value = toNumber(reader, inner);
      dimension = Number.isSafeInteger(value) && value >= 0 ? value : null;
    },
    2: async (inner) => {
      dimension = (await readText(reader, inner)) || null;
    },
  });
  return dimension;
}
