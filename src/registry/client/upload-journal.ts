import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryName, withLock } from '../../bytes/index.js';
import { isJsonObject, isToolkitError } from '../../core/index.js';

/** An upload that was begun at a registry and not finished. */
export interface OpenUpload {
  /** Where its next piece goes; a secret of the registry. */
  readonly location: string;
  /** Bytes that the registry has confirmed. */
  readonly offset: number;
}

/** What is known of one upload; only one process at a time has it. */
export interface JournalEntry {
  find(): OpenUpload | undefined;
  /** Kill-safe, not power-safe: an entry that is lost or old costs bytes, nothing else. */
  keep(upload: OpenUpload): void;
  forget(): void;
}

/** Uploads that another run can go on with, one small file each. */
export interface UploadJournal {
  /**
   * Runs `work` with the entry of `key`. While another process has the entry, or where nothing can be written, the entry
   * remembers nothing and `work` runs all the same.
   */
  withEntry<T>(key: string, work: (entry: JournalEntry) => Promise<T>): Promise<T>;
}

/** Registries throw away what was begun and left; a week is what the most patient keep. (distribution: 168 h) */
const oldestMs = 7 * 24 * 3_600_000;
const entryBytes = 64 * 1024;

const forgetful: JournalEntry = { find: () => undefined, keep: () => {}, forget: () => {} };

export const noJournal: UploadJournal = { withEntry: (_key, work) => work(forgetful) };

export function openUploadJournal(folder: string): UploadJournal {
  let isClean = false;
  return {
    withEntry: async (key, work) => {
      const path = join(folder, `${createHash('sha256').update(key).digest('hex').slice(0, 40)}.json`);
      const run = { isBegun: false };
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (!isClean) removeOld(folder);
        isClean = true;
        return await withLock(
          `${path}.lock`,
          () => {
            run.isBegun = true;
            return work(createEntry(path));
          },
          { timeoutMs: 0 },
        );
      } catch (error) {
        if (run.isBegun || (isToolkitError(error) && error.code === 'core/cancelled')) throw error;
        return work(forgetful);
      }
    },
  };
}

function createEntry(path: string): JournalEntry {
  return {
    find: () => parseEntry(path),
    keep: (upload) => {
      const temporary = temporaryName(path);
      try {
        writeFileSync(temporary, JSON.stringify(upload), { mode: 0o600 });
        renameSync(temporary, path);
      } catch {
        // A full disk is no reason to stop sending.
        rmSync(temporary, { force: true });
      }
    },
    forget: () => rmSync(path, { force: true }),
  };
}

function parseEntry(path: string): OpenUpload | undefined {
  try {
    if (statSync(path).size > entryBytes) return undefined;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isJsonObject(value)) return undefined;
    const { location, offset } = value;
    const isUsable = typeof location === 'string' && /^https?:\/\//.test(location) && Number.isSafeInteger(offset) && (offset as number) > 0;
    return isUsable ? { location, offset: offset as number } : undefined;
  } catch {
    return undefined;
  }
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > oldestMs) rmSync(path, { force: true });
  }
}
