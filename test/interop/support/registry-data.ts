/** What Docker's registry has on its disk, behind its back. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DockerRegistry } from './registry.js';

export function blobFileOf({ folder }: DockerRegistry, digest: string): string {
  const [algorithm = '', hex = ''] = digest.split(':');
  return join(folder, 'data/docker/registry/v2/blobs', algorithm, hex.slice(0, 2), hex, 'data');
}

/** Bytes of those blobs that are there whole. */
export function sumFinished(registry: DockerRegistry, digests: readonly string[]): number {
  const files = digests.map((digest) => blobFileOf(registry, digest)).filter((file) => existsSync(file));
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

/** Flips the lowest bit of one byte in the middle. */
export function corruptBlob(registry: DockerRegistry, digest: string): void {
  const file = blobFileOf(registry, digest);
  const bytes = readFileSync(file);
  const at = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(file, bytes);
}
