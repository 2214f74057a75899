/** The folder part with its slash, or nothing. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** One file of several that hold one model together: `<stem>-00001-of-00009.<extension>`. Numbers count from 1. */
export interface ShardName {
  readonly stem: string;
  readonly number: number;
  readonly count: number;
}

export function findShardName(path: string): ShardName | undefined {
  const match = /^(.*)-(\d{5})-of-(\d{5})(\.[A-Za-z0-9]+)$/s.exec(path);
  if (match === null) return undefined;
  return { stem: `${match[1]}${match[4]}`, number: Number(match[2]), count: Number(match[3]) };
}
