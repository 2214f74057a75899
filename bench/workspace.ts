import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders of one run. Whoever opened it closes it; then nothing of the run is left. */
export interface Workspace {
  /** Under $TMPDIR. */
  readonly disk: string;
  /** Under /dev/shm where that is a tmpfs with room, else inside `disk`. */
  readonly memory: string;
  /** File systems of the two, for the report. */
  readonly kinds: { readonly disk: string; readonly memory: string };
  close(): void;
}

const sharedMemory = '/dev/shm';

/** Magic numbers of statfs(2). */
const fileSystems: Readonly<Record<number, string>> = {
  0x01021994: 'tmpfs',
  0xef53: 'ext4',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x794c7630: 'overlayfs',
  0x2fc12fc1: 'zfs',
};

/** Space needed is in bytes; too little on the disk is an error before any work. */
export function openWorkspace(needed: { readonly disk: number; readonly memory: number }): Workspace {
  const inMemory = isTmpfs(sharedMemory) && freeBytes(sharedMemory) >= needed.memory;
  const wanted = needed.disk + (inMemory ? 0 : needed.memory);
  const free = freeBytes(tmpdir());
  if (free < wanted) {
    throw new Error(`Cannot run the benchmark in "${tmpdir()}": it needs ${toGb(wanted)} and ${toGb(free)} are free; set TMPDIR or a smaller --size`);
  }
  const disk = mkdtempSync(join(tmpdir(), 'modelport-bench-'));
  const memory = mkdtempSync(join(inMemory ? sharedMemory : disk, 'modelport-bench-'));
  return {
    disk,
    memory,
    kinds: { disk: toKind(disk), memory: toKind(memory) },
    close: () => {
      for (const folder of [memory, disk]) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function isTmpfs(folder: string): boolean {
  try {
    return toKind(folder) === 'tmpfs';
  } catch {
    return false;
  }
}

function toKind(folder: string): string {
  const { type } = statfsSync(folder);
  return fileSystems[type] ?? `file system 0x${type.toString(16)}`;
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function toGb(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
