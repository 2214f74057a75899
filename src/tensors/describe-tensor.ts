import type { Shape, Tensor, TensorSpec } from '../core/index.js';
import { quote } from './bad-array.js';

/** How many inner tensors a message names. */
const shown = 4;

/** For messages: `float32 [2, 3]`, `string []`, `nested of 2 (int64 [1], int64 [3])`. */
export function describeTensor(tensor: Tensor): string {
  if (tensor.kind === 'nested') {
    const inner = tensor.inner.slice(0, shown).map(describeTensor);
    const more = tensor.inner.length > shown ? ', …' : '';
    return `nested of ${tensor.inner.length} (${inner.join(', ')}${more})`;
  }
  return `${tensor.kind === 'numeric' ? tensor.dtype : 'string'} [${tensor.shape.join(', ')}]`;
}

/** What is declared, in the same words: `float32 [batch_size, 3, *]`. */
export function describeSpec({ dtype, shape }: Pick<TensorSpec, 'dtype' | 'shape'>): string {
  return `${dtype ?? 'any type'} ${shape === undefined ? 'of any shape' : describeShape(shape)}`;
}

function describeShape(shape: Shape): string {
  if (shape === '*') return 'of any shape';
  if (typeof shape === 'string') return `of the shape ${quote(shape)}`;
  return `[${shape.map((dimension) => (typeof dimension === 'string' ? quote(dimension).slice(1, -1) : (dimension ?? '*'))).join(', ')}]`;
}
