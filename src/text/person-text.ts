import { collect, fromFile } from '../bytes/index.js';
import { createError, type Limits } from '../core/index.js';

/**
 * The text of a file that a person wrote. Throws `bytes/not-found`, `bytes/io`, `bytes/limit` beyond `limits.personFileBytes`, and
 * `buildfile/syntax` when it is not UTF-8 or begins with a byte-order mark.
 */
export async function readPersonText(path: string, limits: Limits): Promise<string> {
  const text = decode(await collect(fromFile(path), limits.personFileBytes, path), path);
  assertPersonText(text, path, limits);
  return text;
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw createError('buildfile/syntax', {
      message: `Cannot read "${path}": it is not UTF-8`,
      hint: 'Save it as UTF-8 without a byte-order mark',
      where: path,
      cause,
    });
  }
}

/** For texts that did not come through `readPersonText`: size and byte-order mark. */
export function assertPersonText(text: string, file: string, limits: Limits): void {
  if (text.length > limits.personFileBytes) throw tooLarge(file, text.length, limits);
  if (!text.startsWith('\ufeff')) return;
  throw createError('buildfile/syntax', {
    message: `Cannot read "${file}": it begins with a byte-order mark`,
    hint: 'Save it as UTF-8 without a byte-order mark',
    where: `${file}:1:1`,
  });
}

function tooLarge(file: string, size: number, limits: Limits): Error {
  return createError('bytes/limit', {
    message: `Cannot read "${file}": it is ${size} bytes long and at most ${limits.personFileBytes} are read`,
    where: file,
  });
}
