import type { OnnxGraph, OnnxModel } from './onnx-model.js';
import { readTensor } from './onnx-tensor.js';
import { readValueInfo } from './onnx-value-info.js';
import { type Field, readInside, readText } from './onnx-wire.js';

/** A GraphProto, with the graphs inside its If, Loop and Scan nodes. `depth` counts the graphs around it. */
export async function readGraph(model: OnnxModel, field: Field, depth = 0): Promise<OnnxGraph> {
  const { reader, limits } = model;
  if (depth >= limits.jsonDepth) throw reader.bad(`graphs are nested deeper than ${limits.jsonDepth} levels`);
  const graph: OnnxGraph = { inputs: [], outputs: [], initializers: new Set() };
  await readInside(reader, field, {
    1: (inner) => readNode(model, inner, depth),
    2: async (inner) => {
      graph.name = await readText(reader, inner);
    },
    5: async (inner) => void graph.initializers.add(await readTensor(model, inner, true)),
    11: async (inner) => void graph.inputs.push(await readValueInfo(reader, inner)),
    12: async (inner) => void graph.outputs.push(await readValueInfo(reader, inner)),
    15: (inner) => readSparse(model, graph, inner),
  });
  return graph;
}

/** A NodeProto: which operator, and what its attributes hold. */
export async function readNode(model: OnnxModel, field: Field, depth: number): Promise<void> {
  const { reader, operators } = model;
  let operator = '';
  let domain = '';
  await readInside(reader, field, {
    4: async (inner) => {
      operator = await readText(reader, inner);
    },
    5: (inner) => readAttribute(model, inner, depth),
    7: async (inner) => {
      domain = await readText(reader, inner);
    },
  });
  const name = domain === '' || domain === 'ai.onnx' ? operator : `${domain}.${operator}`;
  operators.set(name, (operators.get(name) ?? 0) + 1);
}

/** Tensors in attributes are constants of the computation, not weights; but their data may lie in other files too. */
async function readAttribute(model: OnnxModel, field: Field, depth: number): Promise<void> {
  const tensor = async (inner: Field) => void (await readTensor(model, inner, false));
  const graph = async (inner: Field) => void (await readGraph(model, inner, depth + 1));
  await readInside(model.reader, field, { 5: tensor, 6: graph, 10: tensor, 11: graph });
}

/** A SparseTensorProto: the values carry the name. */
async function readSparse(model: OnnxModel, graph: OnnxGraph, field: Field): Promise<void> {
  await readInside(model.reader, field, {
    1: async (inner) => void graph.initializers.add(await readTensor(model, inner, true)),
    2: async (inner) => void (await readTensor(model, inner, false)),
  });
}
