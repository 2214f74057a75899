import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

const grammar = /^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** Before a digest is in any path. */
export function isSoundDigest(text: string): boolean {
  return grammar.test(text);
}

export function digestOfBytes(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

export async function digestOfFile(path: string, algorithm: string): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer);
  return `${algorithm}:${hash.digest('hex')}`;
}
