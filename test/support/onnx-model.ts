import { protoField as field } from './weight-files.js';

const float = 1;
const external = 1;
const int64 = 7;
const bool = 9;
const graphAttribute = 5;

/** An ONNX graph of one float tensor whose bytes lie in another file. */
export function makeOnnx({ external: location, bytes }: { readonly external: string; readonly bytes: number }): Uint8Array {
  const entry = (key: string, value: string) => field(13, [field(1, key), field(2, value)]);
  const tensor = [
    field(1, bytes / 4),
    field(2, float),
    field(8, 'weight'),
    entry('location', location),
    entry('length', String(bytes)),
    field(14, external),
  ];
  const graph = [field(1, [field(4, 'Relu')]), field(5, tensor)];
  return Buffer.concat([field(1, 8), field(8, [field(1, ''), field(2, 17)]), field(7, graph)]);
}

/** Of elements by their number in TensorProto.DataType; a text in the shape is a symbol. */
export interface GraphValue {
  readonly name: string;
  readonly type: number;
  readonly shape: readonly (number | string)[];
  /** A list of such tensors instead of one. */
  readonly sequence?: boolean;
}

export interface GraphNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** The graph that a loop repeats. */
  readonly body?: GraphRecipe;
}

export interface GraphRecipe {
  readonly nodes: readonly GraphNode[];
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  /** Float tensors of one extent that lie in other files. */
  readonly weights?: readonly { readonly name: string; readonly file: string; readonly length: number }[];
}

/** A whole graph, for an engine to run. */
export function makeGraph(recipe: GraphRecipe): Uint8Array {
  return Buffer.concat([field(1, 8), field(8, [field(1, ''), field(2, 17)]), field(7, toGraph(recipe))]);
}

/** Hands each value of a type through as it is: inputs `in` and output `out` of any length `n`. */
export function makeIdentity(type: number): Uint8Array {
  const value = (name: string): GraphValue => ({ name, type, shape: ['n'] });
  return makeGraph({ nodes: [{ op: 'Identity', inputs: ['in'], outputs: ['out'] }], inputs: [value('in')], outputs: [value('out')] });
}

/** Squares `in` as often as the scalar int64 `count` says: as slow as one likes. */
export function makeLoop(): Uint8Array {
  const scalar = (name: string, type: number): GraphValue => ({ name, type, shape: [] });
  const body = {
    nodes: [
      { op: 'Identity', inputs: ['more'], outputs: ['again'] },
      { op: 'Mul', inputs: ['value', 'value'], outputs: ['square'] },
    ],
    inputs: [scalar('step', int64), scalar('more', bool), scalar('value', float)],
    outputs: [scalar('again', bool), scalar('square', float)],
  };
  return makeGraph({
    nodes: [{ op: 'Loop', inputs: ['count', '', 'in'], outputs: ['out'], body }],
    inputs: [scalar('count', int64), scalar('in', float)],
    outputs: [scalar('out', float)],
  });
}

function toGraph({ nodes, inputs, outputs, weights = [] }: GraphRecipe): Uint8Array[] {
  return [
    ...nodes.map((node) => field(1, toNode(node))),
    field(2, 'graph'),
    ...weights.map(({ name, file, length }) => {
      const entry = (key: string, value: string) => field(13, [field(1, key), field(2, value)]);
      return field(5, [field(1, length), field(2, float), field(8, name), entry('location', file), field(14, external)]);
    }),
    ...inputs.map((value) => field(11, toValue(value))),
    ...outputs.map((value) => field(12, toValue(value))),
  ];
}

function toNode({ op, inputs, outputs, body }: GraphNode): Uint8Array[] {
  const attribute = body === undefined ? [] : [field(5, [field(1, 'body'), field(6, toGraph(body)), field(20, graphAttribute)])];
  return [...inputs.map((name) => field(1, name)), ...outputs.map((name) => field(2, name)), field(3, op), field(4, op), ...attribute];
}

function toValue({ name, type, shape, sequence = false }: GraphValue): Uint8Array[] {
  const extents = shape.map((extent) => field(1, [typeof extent === 'number' ? field(1, extent) : field(2, extent)]));
  const tensor = [field(1, [field(1, type), field(2, extents)])];
  return [field(1, name), field(2, sequence ? [field(4, [field(1, tensor)])] : tensor)];
}
