import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** A temporary folder, gone after the callback. */
export async function withFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = makeFolder();
  try {
    return await use(folder);
  } finally {
    removeFolder(folder);
  }
}

/** podman makes an image name of the path of a layout, so that it has to be in lower case. */
export function makeFolder(): string {
  const folder = join(tmpdir(), `modelport-interop-${randomBytes(8).toString('hex')}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const sha256OfFile = (file: string): string => sha256(readFileSync(file));

/** Path → digest of every file below a folder; a link says where it points. Two folders with equal files are `toEqual`. */
export function readFiles(folder: string): Record<string, string> {
  return describeFiles(folder, (file, isLink) => (isLink ? `link to ${readlinkSync(file)}` : sha256OfFile(file)));
}

/** Path → permission bits, octal. */
export function readModes(folder: string): Record<string, string> {
  return describeFiles(folder, (file) => (lstatSync(file).mode & 0o7777).toString(8));
}

export function listPaths(folder: string): string[] {
  return Object.keys(describeFiles(folder, () => ''));
}

function describeFiles(folder: string, describe: (file: string, isLink: boolean) => string): Record<string, string> {
  const described = listFiles(folder).map(({ file, isLink }) => [relative(folder, file), describe(file, isLink)] as const);
  return Object.fromEntries(described.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Not by readdir's own recursion, which goes through links to folders from Node 22 on. */
function listFiles(folder: string): { file: string; isLink: boolean }[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(file) : [{ file, isLink: entry.isSymbolicLink() }];
  });
}
