import { createError, type ToolkitError } from '../../core/index.js';

export function badCompression(format: 'gzip' | 'zstd', where: string, reason: string, cause?: unknown): ToolkitError {
  return createError('bytes/bad-compression', {
    message: `Cannot decompress "${where}" as ${format}: ${reason}`,
    hint: 'The bytes are damaged or cut off: fetch or build them again',
    where,
    cause,
  });
}
