const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Sizes as docker writes them: powers of 1000, three digits at most. */
export function toSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${trimZeros(value.toFixed(digits))} ${units[unit]}`;
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** 19970 → `19,970`, the same in every locale. */
export function toCount(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** `1 file`, `2 files`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${toCount(count)} ${count === 1 ? one : many}`;
}

/** The first twelve digits, enough for a person to compare; a dash where there is no digest. */
export function toShortDigest(digest: string | null | undefined): string {
  return digest === null || digest === undefined ? '-' : digest.slice(digest.indexOf(':') + 1).slice(0, 12);
}

/** `420 ms`, `3.1 s`, `2 m 05 s`. */
export function toDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`;
}

/** Cuts the middle out of a text that is longer than `width`, for paths and names whose ends tell most. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text;
  if (width < 2) return text.slice(0, Math.max(0, width));
  const tail = Math.ceil((width - 1) / 2);
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** `demo/digits:v1` stays, anything a shell would change is quoted, so that a shown command can be copied. */
export function toShellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
