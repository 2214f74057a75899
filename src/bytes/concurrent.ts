/**
 * Runs `work` over all items, at most `limit` at a time, and gives the results in the order of the items. After the first
 * failure nothing new is begun; what runs is awaited, then the first failure is thrown.
 */
export async function mapConcurrent<T, R>(items: readonly T[], limit: number, work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const runner = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next++;
      try {
        results[index] = await work(items[index] as T, index);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, runner));
  if (failures.length > 0) throw failures[0];
  return results;
}
