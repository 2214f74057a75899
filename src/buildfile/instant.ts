const grammar = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})?)?$/;

/**
 * A date or time as people and TOML write it → RFC 3339, or undefined when there is no such day or time. A bare day is its first second in
 * UTC; a time without offset is refused, since nobody can know which one was meant.
 */
export function parseInstant(text: string): string | undefined {
  const parts = grammar.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset] = parts;
  if (parts[4] !== undefined && offset === undefined) return undefined;
  const instant = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${(offset ?? 'Z').toUpperCase()}`;
  return isReal(Number(year), Number(month), Number(day)) && Number(hour) < 24 && !Number.isNaN(Date.parse(instant)) ? instant : undefined;
}

function isReal(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
