/** `tar -C DIR -cf FILE .` writes every name with `./` before it. */
export function toMemberName(name: string): string {
  return name.startsWith('./') ? name.slice(2) : name;
}
