const units = [
  { letter: 'K', size: 1e3 },
  { letter: 'M', size: 1e6 },
  { letter: 'B', size: 1e9 },
  { letter: 'T', size: 1e12 },
  { letter: 'Q', size: 1e15 },
] as const;

/**
 * A count of parameters as ModelPack writes it: at most one decimal, rounded half up, in the smallest unit that shows less than 1000
 * (`2.4K`, `7.2B`, `7B`). The smallest unit is K, and what is not nothing is at least `0.1K`. (ModelPack config.md, paramSize)
 */
export function toParamSize(count: number): string {
  const tenthsOf = (size: number): number => Math.round(count / (size / 10));
  const unit = units.find(({ size }) => tenthsOf(size) < 10_000) ?? units[4];
  const tenths = count > 0 ? Math.max(1, tenthsOf(unit.size)) : 0;
  return `${tenths / 10}${unit.letter}`;
}

/** Text → count; undefined when it does not follow the grammar `<count><K|M|B|T|Q>`, one decimal at most, either case. */
export function parseParamSize(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d)?)([KMBTQ])$/i.exec(text);
  const unit = units.find(({ letter }) => letter === match?.[2]?.toUpperCase());
  return match === null || unit === undefined ? undefined : Math.round(Number(match[1]) * unit.size);
}
