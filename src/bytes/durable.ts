import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toIoError } from './os-error.js';

/** A name beside `path` that nobody else uses; hidden, and recognisable as left over after a crash. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.modelport-${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
}

/** Makes a rename in `folder` survive a power cut. Folders cannot be synced on Windows, where this does nothing. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Old bytes or new bytes, never a mixture: temp file → fsync → rename → fsync of the folder. For small files. */
export function replaceFile(path: string, bytes: Uint8Array | string, mode = 0o644): void {
  const temporary = temporaryName(path);
  try {
    writeSynced(temporary, typeof bytes === 'string' ? Buffer.from(bytes) : bytes, mode);
    renameSync(temporary, path);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw toIoError(error, 'write', path);
  }
}

function writeSynced(path: string, bytes: Uint8Array, mode: number): void {
  const handle = openSync(path, 'wx', mode);
  try {
    for (let written = 0; written < bytes.byteLength;) written += writeSync(handle, bytes, written);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
