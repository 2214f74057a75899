const words: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

/** Values that JSON has no number for, as text. */
export function isFloatWord(value: unknown): value is string {
  return words.has(value);
}

export function parseFloatWord(word: string): number | undefined {
  return words.get(word);
}
