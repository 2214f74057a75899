/** For messages. */
export function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
