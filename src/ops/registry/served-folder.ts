import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toIoError, withFolderLock } from '../../bytes/index.js';
import { createError, isToolkitError } from '../../core/index.js';
import type { OpsContext } from '../context.js';

/** Runs `action` with a folder that is gone afterwards, also when the process is ended from within. */
export async function withTemporaryFolder<T>({ env }: OpsContext, action: (path: string) => Promise<T>): Promise<T> {
  const parent = env['TMPDIR'] || tmpdir();
  const path = makeFolder(parent);
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  process.on('exit', remove);
  try {
    return await action(path);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

function makeFolder(parent: string): string {
  try {
    return mkdtempSync(join(parent, 'modelport-registry-'));
  } catch (error) {
    throw toIoError(error, 'make a folder in', parent);
  }
}

/**
 * Runs `action` while no other server changes the layout. The lock is renewed, as a server may run for months; other programs that use the layout
 * do not mind it.
 */
export async function withServerLock<T>(layout: string, action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const lock = join(layout, 'registry', 'serve.lock');
  const state = { entered: false };
  const enter = () => {
    state.entered = true;
    return action();
  };
  try {
    assertWritable(layout);
    return await withFolderLock(lock, () => mkdirSync(dirname(lock), { recursive: true }), enter, { timeoutMs: 0, long: true, signal });
  } catch (error) {
    throw state.entered ? error : explain(error, layout);
  }
}

/** A folder that is not there yet is made. */
function assertWritable(layout: string): void {
  if (existsSync(layout)) accessSync(layout, constants.W_OK | constants.X_OK);
}

function explain(error: unknown, layout: string): unknown {
  if (isToolkitError(error, 'store/locked'))
    return createError('store/locked', {
      message: `Cannot serve "${layout}": another server has it already (${toHolder(error.message)})`,
      hint: 'Stop that one, or choose another folder with --dir; with --read-only any number of servers can share a folder',
      where: layout,
      cause: error,
    });
  if (isToolkitError(error, 'core/cancelled')) return error;
  const { code, message } = toIoError(error, 'write to', layout);
  return createError(code, {
    message: `Cannot serve "${layout}" to be written: ${message}`,
    hint: 'Add --read-only to serve what is there as it is',
    where: layout,
    cause: error,
  });
}

/** Who holds a lock, as the error about it says. */
function toHolder(message: string): string {
  return /process \d+/.exec(message)?.[0] ?? 'which left no number';
}
