import type { TensorSpec } from '../../core/index.js';
import type { EngineValue } from './engine.js';
import { isTransferable } from './engine-tensor.js';
import { GraphFailure } from './graph-failure.js';
import { listValues } from './list-values.js';

/** A name that the package gives, and what it means in the graph. */
export interface BoundValue {
  readonly name: string;
  readonly graphName: string;
  /** As NumPy spells it. */
  readonly dtype: string;
}

/** What is named in messages. */
export type Side = 'input' | 'output';

/** What stands for the dtype of a sequence or map. */
const noTensor = 'no tensor';

/**
 * Joins what a package declares with what its graph has: by `internalName`, else by name. Nothing declared: all the tensors of the graph, by
 * its names. Throws a GraphFailure for a declared name that the graph lacks, one that two names mean, an input that nothing feeds, another
 * dtype than declared, and what is no tensor.
 */
export function bindValues(side: Side, declared: readonly TensorSpec[], values: readonly EngineValue[]): readonly BoundValue[] {
  const found = values.map(toBound);
  const hint = `the graph's ${side}s are ${listValues(found)}; correct the package, or give the name in the graph as internal_name`;
  const fail = (problem: string) => new GraphFailure('model', problem, hint);
  const bound = declared.length === 0 ? bindAll(side, found) : declared.map((spec) => bind(side, spec, found, fail));
  if (side === 'output' && bound.length === 0) throw fail('no output of the graph is a tensor');
  const odd = bound.find(({ dtype }) => !isTransferable(dtype));
  if (odd !== undefined) throw fail(`${side} ${JSON.stringify(odd.graphName)} of the graph is ${odd.dtype}, which cannot be handed over`);
  const names = new Set(bound.map(({ graphName }) => graphName));
  if (names.size < bound.length) throw fail(`two declared ${side}s mean the same one of the graph`);
  const unfed = side === 'output' ? undefined : found.find(({ graphName }) => !names.has(graphName));
  if (unfed !== undefined) throw fail(`the graph needs the input ${JSON.stringify(unfed.name)}, which is not declared`);
  return bound;
}

function toBound(value: EngineValue): BoundValue {
  return { name: value.name, graphName: value.name, dtype: value.isTensor ? value.type : noTensor };
}

/** Of outputs nobody declared, those that are no tensors are left out. */
function bindAll(side: Side, found: readonly BoundValue[]): readonly BoundValue[] {
  return side === 'input' ? found : found.filter(({ dtype }) => dtype !== noTensor);
}

function bind(side: Side, { name, internalName, dtype }: TensorSpec, found: readonly BoundValue[], fail: (problem: string) => Error): BoundValue {
  const value = found.find(({ graphName }) => graphName === (internalName ?? name));
  const shown = `declared ${side} ${JSON.stringify(name)}${internalName === undefined ? '' : ` (in the graph ${JSON.stringify(internalName)})`}`;
  if (value === undefined) throw fail(`the graph has no ${side} for the ${shown}`);
  if (dtype !== undefined && dtype !== value.dtype) throw fail(`the ${shown} is ${dtype}, and ${value.dtype} in the graph`);
  return { ...value, name };
}
