import type { Finding, NamedTensors, Shape, Tensor, TensorSpec } from '../core/index.js';
import { quote } from './bad-array.js';
import { checkShape, type ShapeBindings } from './check-shape.js';
import { describeSpec, describeTensor } from './describe-tensor.js';

export type { ShapeBindings } from './check-shape.js';

type Side = 'input' | 'output';

const codes = { input: 'runtime/bad-input', output: 'runtime/bad-output' } as const;

/**
 * Whether tensors keep to what is declared: names, dtypes, ranks, fixed extents, and symbols, which have one value across all inputs and outputs: give
 * the same `bindings` for both sides, inputs first. Nothing declared: nothing to find. An output that is not declared is a warning, all else an error.
 */
export function checkTensors(tensors: NamedTensors, specs: readonly TensorSpec[], side: Side, bindings: ShapeBindings): Finding[] {
  if (specs.length === 0) return [];
  const declared = new Set(specs.map(({ name }) => name));
  const unknown = [...tensors.keys()].filter((name) => !declared.has(name));
  return [
    ...unknown.map((name) => unknownName(name, specs, side)),
    ...specs.flatMap((spec) => checkOne(tensors.get(spec.name), spec, side, bindings)),
  ];
}

function unknownName(name: string, specs: readonly TensorSpec[], side: Side): Finding {
  return {
    level: side === 'input' ? 'error' : 'warning',
    code: codes[side],
    message: `${refusal(side, name)}: the model declares no ${side} of this name`,
    where: name,
    hint: `Declared: ${specs.map((spec) => quote(spec.name)).join(', ')}`,
  };
}

function checkOne(tensor: Tensor | undefined, spec: TensorSpec, side: Side, bindings: ShapeBindings): Finding[] {
  const expected = describeSpec(spec);
  const find = (reason: string): Finding => ({
    level: 'error',
    code: codes[side],
    message: `${refusal(side, spec.name)}: expected ${expected}, found ${reason}`,
    where: spec.name,
  });
  if (tensor === undefined) return [find('none')];
  const reasons = [...checkDtype(tensor, spec), ...(spec.shape === undefined ? [] : checkForm(tensor, spec.shape, bindings))];
  return reasons.length === 0 ? [] : [find(`${describeTensor(tensor)}; ${reasons.join('; ')}`)];
}

function refusal(side: Side, name: string): string {
  return side === 'input' ? `Cannot use input ${quote(name)}` : `Cannot accept output ${quote(name)}`;
}

function checkDtype(tensor: Tensor, { dtype }: TensorSpec): string[] {
  if (dtype === undefined) return [];
  const plain = tensor.kind === 'nested' ? tensor.inner : [tensor];
  return plain.every((one) => (one.kind === 'numeric' ? one.dtype : 'string') === dtype) ? [] : [`the type is not ${dtype}`];
}

/** The list of a ragged tensor is its first axis, so that its tensors have one less. It fits only where no extent is fixed. */
function checkForm(tensor: Tensor, shape: Shape, bindings: ShapeBindings): string[] {
  if (tensor.kind !== 'nested') return checkShape(tensor.shape, shape, bindings);
  if (shape === '*') return [];
  if (typeof shape === 'string' || shape.some((extent) => typeof extent === 'number'))
    return ['a nested tensor fits only where every extent is free'];
  if (shape.length === 0) return ['a nested tensor is no scalar'];
  const outer = checkShape([tensor.inner.length], shape.slice(0, 1), bindings);
  const inner = tensor.inner.flatMap((one, at) => checkShape(one.shape, shape.slice(1), bindings).map((reason) => `in tensor ${at} ${reason}`));
  return [...outer, ...inner.slice(0, 1)];
}
