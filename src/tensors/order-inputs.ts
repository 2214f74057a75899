import { createError, type NamedTensors, type Tensor, type TensorSpec } from '../core/index.js';
import { quote } from './bad-array.js';

/** Values without names → the declared inputs, in their order. Throws `runtime/bad-input` unless there are as many as inputs. */
export function orderInputs(values: readonly Tensor[], specs: readonly TensorSpec[]): NamedTensors {
  if (values.length !== specs.length) {
    const names = specs.map(({ name }) => quote(name)).join(', ');
    const declared = specs.length === 0 ? 'the model declares none' : `the model declares ${specs.length}: ${names}`;
    throw createError('runtime/bad-input', {
      message: `Cannot use ${values.length} ${values.length === 1 ? 'input' : 'inputs'} without names: ${declared}`,
      hint: specs.length === 0 ? 'Give every input by its name' : 'Give one value for each, in this order, or name them',
    });
  }
  return new Map(specs.map(({ name }, at): [string, Tensor] => [name, values[at] as Tensor]));
}
