/** Work that several ask for at once is done once; whoever asks after it has ended starts it anew. */
export interface SingleFlight<T> {
  run(key: string, work: () => Promise<T>): Promise<T>;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const flying = new Map<string, Promise<T>>();
  return {
    run: (key, work) => {
      const known = flying.get(key);
      if (known !== undefined) return known;
      const flight = work().finally(() => flying.delete(key));
      flying.set(key, flight);
      return flight;
    },
  };
}
