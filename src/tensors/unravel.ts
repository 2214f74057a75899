/** Position of an element in C order → its index, one number per axis; `[]` in a scalar. */
export function unravel(position: number, shape: readonly number[]): number[] {
  const index = shape.map(() => 0);
  let rest = position;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const extent = shape[axis] ?? 1;
    index[axis] = rest % extent;
    rest = Math.floor(rest / extent);
  }
  return index;
}
