const units: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12, ki: 2 ** 10, mi: 2 ** 20, gi: 2 ** 30, ti: 2 ** 40 };

/** `4Gi`, `1.5GiB`, `512M`, `1024` → bytes, or undefined. `Ki Mi Gi Ti` count by 1024, `k M G T` by 1000. */
export function parseByteSize(text: string): number | undefined {
  const parts = /^(\d+(?:\.\d+)?)\s*(?:([kmgt]i?)b?)?$/i.exec(text);
  if (parts === null) return undefined;
  const bytes = Math.round(Number(parts[1]) * (units[(parts[2] ?? '').toLowerCase()] ?? 1));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The shortest text that `parseByteSize` reads back exactly. */
export function toByteSize(bytes: number): string {
  for (const unit of ['Ti', 'Gi', 'Mi', 'Ki'] as const) {
    const factor = units[unit.toLowerCase()] ?? 1;
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor}${unit}`;
  }
  return String(bytes);
}
