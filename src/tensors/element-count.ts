/** The product of a shape (1 for a scalar), or undefined when a factor or the product is no exact whole number. */
export function countElements(shape: readonly number[]): number | undefined {
  let product = 1;
  for (const extent of shape) {
    product *= extent;
    if (!Number.isSafeInteger(extent) || extent < 0 || !Number.isSafeInteger(product)) return undefined;
  }
  return product;
}
