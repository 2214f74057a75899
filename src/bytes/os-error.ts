import { createError, type ErrorCode, isToolkitError, type ToolkitError } from '../core/index.js';

interface SystemError extends Error {
  readonly code: string;
}

const codes: Readonly<Record<string, { code: ErrorCode; reason: string; hint?: string }>> = {
  ENOENT: { code: 'bytes/not-found', reason: 'it does not exist' },
  ENOTDIR: { code: 'bytes/not-found', reason: 'a part of the path is not a folder' },
  EEXIST: { code: 'bytes/exists', reason: 'it exists already' },
  ENOTEMPTY: { code: 'bytes/exists', reason: 'the folder is not empty' },
  ENOSPC: { code: 'bytes/disk-full', reason: 'the disk is full', hint: 'Free some space and run the same command again' },
  EDQUOT: { code: 'bytes/disk-full', reason: 'the disk quota is used up', hint: 'Free some space and run the same command again' },
  EACCES: { code: 'bytes/io', reason: 'permission denied' },
  EPERM: { code: 'bytes/io', reason: 'not permitted' },
  EROFS: { code: 'bytes/io', reason: 'the file system is read-only' },
  EISDIR: { code: 'bytes/io', reason: 'it is a folder' },
  ELOOP: { code: 'bytes/io', reason: 'it goes through a symbolic link that may not be followed' },
  ENAMETOOLONG: { code: 'bytes/io', reason: 'the path is longer than the file system takes' },
  EMFILE: { code: 'bytes/io', reason: 'too many files are open', hint: 'Raise the limit with `ulimit -n`' },
};

export function isSystemError(error: unknown, code?: string): error is SystemError {
  return (
    error instanceof Error && typeof (error as Partial<SystemError>).code === 'string' && (code === undefined || (error as SystemError).code === code)
  );
}

/** Turns what the operating system said into an error that names the action and the path. ToolkitErrors pass unchanged. */
export function toIoError(error: unknown, action: string, path: string): ToolkitError {
  if (isToolkitError(error)) return error;
  const known = isSystemError(error) ? codes[error.code] : undefined;
  const reason = known?.reason ?? (error instanceof Error ? error.message : String(error));
  return createError(known?.code ?? 'bytes/io', { message: `Cannot ${action} "${path}": ${reason}`, hint: known?.hint, where: path, cause: error });
}
