import { expect } from 'vitest';
import { collect, fromBytes, openZip, type ZipTree } from '../../src/bytes/index.js';
import { type ByteRange, defaultLimits, type Limits, type RangeSource } from '../../src/core/index.js';

/** Bytes as a source, and what was asked of it. A question beyond its ends is a bug. */
export function sourceOf(bytes: Uint8Array, asked: (readonly [number, number])[] = []): RangeSource {
  const read = async (offset: number, length: number) => {
    asked.push([offset, length]);
    if (offset < 0 || length < 0 || offset + length > bytes.byteLength) throw new Error(`read outside: ${offset} + ${length}`);
    return Buffer.from(bytes.subarray(offset, offset + length));
  };
  const stream = async ({ start, end = bytes.byteLength }: ByteRange) => fromBytes(await read(start, end - start));
  return { size: bytes.byteLength, read, stream };
}

export function openBytes(bytes: Uint8Array, limits: Limits = defaultLimits): Promise<ZipTree> {
  return openZip(sourceOf(bytes), { limits, where: 'test.zip' });
}

export async function readText(tree: ZipTree, path: string, range?: ByteRange): Promise<string> {
  return Buffer.from(await collect(await tree.open(path, range), 1e9, path)).toString();
}

/** Everything that a careful reader does: headers, contents, links. */
export async function readAll(tree: ZipTree): Promise<Record<string, string>> {
  await tree.checkEntries();
  const found: Record<string, string> = {};
  for (const { path, kind } of tree.entries) {
    if (kind === 'file') found[path] = await readText(tree, path);
    if (kind === 'symlink') found[path] = `-> ${await tree.readLink(path)}`;
  }
  return found;
}

export async function readBytes(bytes: Uint8Array, limits?: Limits): Promise<Record<string, string>> {
  return readAll(await openBytes(bytes, limits));
}

export async function expectRefused(bytes: Uint8Array, reason: RegExp, code = 'bytes/bad-archive', limits = defaultLimits): Promise<void> {
  await expect(readBytes(bytes, limits)).rejects.toMatchObject({ code, message: expect.stringMatching(reason) });
}
