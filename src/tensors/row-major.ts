/** Elements of `itemBytes` in column-major (Fortran) order → a copy in row-major (C) order. */
export function toRowMajor(bytes: Uint8Array, shape: readonly number[], itemBytes: number): Uint8Array {
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((product, extent) => product * extent, itemBytes));
  const result = new Uint8Array(bytes.length);
  const index = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < result.length; to += itemBytes) {
    for (let byte = 0; byte < itemBytes; byte++) result[to + byte] = bytes[from + byte] ?? 0;
    from = step(index, shape, strides, from);
  }
  return result;
}

/** Counts `index` one on, last axis first; returns the offset of that element. */
function step(index: number[], shape: readonly number[], strides: readonly number[], offset: number): number {
  let at = offset;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const [position = 0, extent = 0, stride = 0] = [index[axis], shape[axis], strides[axis]];
    if (position + 1 < extent) {
      index[axis] = position + 1;
      return at + stride;
    }
    index[axis] = 0;
    at -= position * stride;
  }
  return at;
}
