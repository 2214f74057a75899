/** The known word that `word` was probably meant to be, or undefined when none is close. Case does not count. */
export function findNearest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase().slice(0, 100);
  const farthest = wanted.length <= 4 ? 1 : wanted.length <= 8 ? 2 : 3;
  let best: string | undefined;
  let bestDistance = farthest + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours, each counted as one. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let least = Math.min(replaced, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1);
      if (from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1] && row > 1 && column > 1)
        least = Math.min(least, (before[column - 2] ?? 0) + 1);
      line.push(least);
    }
    [before, above] = [above, line];
  }
  return above[to.length] ?? 0;
}

/** A hint for a person: the probable word, or else all of them when they are few enough to read. */
export function suggest(word: string, known: readonly string[]): string {
  const nearest = findNearest(word, known);
  return nearest === undefined ? `Known are: ${known.join(', ')}` : `Did you mean "${nearest}"?`;
}
