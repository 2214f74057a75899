import type { Limits, RandomAccess } from '../core/index.js';
import { countElements } from '../tensors/index.js';
import { ForwardReader } from './forward-reader.js';
import { readGraph, readNode } from './onnx-graph.js';
import type { OnnxGraph, OnnxModel } from './onnx-model.js';
import { readEntry } from './onnx-tensor.js';
import { type Field, type Handlers, readInside, readMessage, readText, toNumber } from './onnx-wire.js';
import { isParameter } from './parameters.js';
import { present } from './present.js';
import type { WeightFile } from './weight-file.js';

/** From here on a model must import its operator sets (onnx.proto, opset_import); they often stand last, so a file cut short lacks them. */
const firstIrWithOpsets = 3;

/** Of the model itself, beside its graph. */
interface About {
  irVersion?: number;
  producerName?: string;
  producerVersion?: string;
  domain?: string;
  modelVersion?: number;
  description?: string;
  readonly opsets: Map<string, number>;
  readonly properties: Map<string, string>;
  graph?: OnnxGraph;
}

/** What an ONNX model says of itself. Tensor data is stepped over, so the cost does not grow with the weights. */
export async function readOnnx(file: string, access: RandomAccess, limits: Limits): Promise<WeightFile> {
  const reader = new ForwardReader(access, file, limits.onnxMetadataBytes);
  const model: OnnxModel = { reader, limits, tensors: [], external: [], findings: [], operators: new Map() };
  const about: About = { opsets: new Map(), properties: new Map() };
  await readMessage(reader, access.size, modelFields(model, about));
  if (about.graph === undefined) throw reader.bad('it holds no graph');
  if (about.opsets.size === 0 && (about.irVersion ?? 0) >= firstIrWithOpsets) throw reader.bad('it does not say which operator set it needs');
  return toWeightFile(file, model, about, about.graph);
}

function modelFields(model: OnnxModel, about: About): Handlers {
  const { reader } = model;
  const text = (key: 'producerName' | 'producerVersion' | 'domain' | 'description') => async (field: Field) => {
    about[key] = await readText(reader, field);
  };
  return {
    1: (field) => {
      about.irVersion = toNumber(reader, field);
    },
    2: text('producerName'),
    3: text('producerVersion'),
    4: text('domain'),
    5: (field) => {
      about.modelVersion = toNumber(reader, field);
    },
    6: text('description'),
    7: async (field) => {
      if (about.graph !== undefined) throw reader.bad('it holds two graphs');
      about.graph = await readGraph(model, field);
    },
    8: (field) => readOpset(model, about, field),
    14: async (field) => void about.properties.set(...(await readEntry(model, field))),
    25: (field) => readInside(reader, field, { 7: (node) => readNode(model, node, 0) }),
  };
}

async function readOpset({ reader }: OnnxModel, about: About, field: Field): Promise<void> {
  let domain = '';
  let version = 0;
  await readInside(reader, field, {
    1: async (inner) => {
      domain = await readText(reader, inner);
    },
    2: (inner) => {
      version = toNumber(reader, inner);
    },
  });
  about.opsets.set(domain === '' ? 'ai.onnx' : domain, version);
}

function toWeightFile(file: string, model: OnnxModel, about: About, graph: OnnxGraph): WeightFile {
  const { opsets, properties, graph: _, ...words } = about;
  const metadata = present<Record<string, unknown>>({
    ...words,
    graph: graph.name,
    opsets: Object.fromEntries(opsets),
    properties: Object.fromEntries(properties),
    operators: Object.fromEntries(model.operators),
  });
  return {
    format: 'onnx',
    file,
    tensors: model.tensors,
    parameters: model.tensors.filter((tensor) => isParameter('onnx', tensor)).reduce((sum, tensor) => sum + (countElements(tensor.shape) ?? 0), 0),
    metadata,
    io: { inputs: graph.inputs.filter(({ name }) => !graph.initializers.has(name)), outputs: graph.outputs },
    ...(model.external.length === 0 ? {} : { external: model.external }),
    findings: model.findings,
  };
}
