/** As many axes as NumPy has. */
export const maxRank = 64;

export type Flattened =
  | { readonly kind: 'regular'; readonly shape: readonly number[]; readonly values: readonly unknown[] }
  /** `at`: the index of the first item whose length or depth differs from that of its neighbours before it. */
  | { readonly kind: 'ragged'; readonly at: readonly number[]; readonly expected: string; readonly found: string };

/** Nested arrays → their elements in C order. A value that is no array is a scalar. */
export function flatten(value: unknown): Flattened {
  const shape = measure(value);
  const values: unknown[] = [];
  const index: number[] = [];

  function walk(item: unknown, axis: number): Flattened | undefined {
    const extent = shape[axis];
    const found = Array.isArray(item) ? item.length : undefined;
    if (found !== extent) return { kind: 'ragged', at: [...index], expected: describe(extent), found: describe(found) };
    if (!Array.isArray(item)) {
      values.push(item);
      return;
    }
    for (const [at, inner] of item.entries()) {
      index.push(at);
      const ragged = walk(inner, axis + 1);
      if (ragged !== undefined) return ragged;
      index.pop();
    }
  }

  return walk(value, 0) ?? { kind: 'regular', shape, values };
}

/** The shape along the first items; deeper than `maxRank` is cut, and so found ragged. */
function measure(value: unknown): number[] {
  const shape: number[] = [];
  for (let item = value; Array.isArray(item) && shape.length < maxRank; item = item[0]) shape.push(item.length);
  return shape;
}

function describe(extent: number | undefined): string {
  return extent === undefined ? 'a single value' : `a list of ${extent}`;
}
