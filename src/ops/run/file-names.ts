/** Names of tensors are chosen by strangers. */
export function toFileName(name: string): string {
  const safe = name
    .replace(/[^\p{L}\p{N}._-]/gu, '_')
    .replace(/^\.+/, '_')
    .slice(0, 100);
  return safe === '' || /^(con|prn|aux|nul)$/i.test(safe) ? '_' : safe;
}

/** A file name for each, no two of them the same where case is ignored: what came later gets a number. */
export function toFileNames(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const chosen = new Map<string, string>();
  for (const name of names) {
    const plain = toFileName(name);
    let free = plain;
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${plain}-${number}`;
    taken.add(free.toLowerCase());
    chosen.set(name, free);
  }
  return chosen;
}
