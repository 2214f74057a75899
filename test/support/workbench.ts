import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createContext, type OpsContext } from '../../src/ops/index.js';
import { makeTensors } from './weight-files.js';
import { listTree } from './list-tree.js';

/** Content by path; a pair gives the permission bits too. */
export type FileMap = Readonly<Record<string, string | Uint8Array | readonly [content: string | Uint8Array, mode: number]>>;

/** A temporary folder with a local store in it, and verbs that know nothing of this machine. */
export interface Workbench {
  readonly base: string;
  /** The local store. */
  readonly home: string;
  path(...names: string[]): string;
  /** Writes files into a folder of the bench and gives its absolute path. */
  write(folder: string, files: FileMap): string;
  /** A new context, with counters of its own. */
  context(given?: Partial<OpsContext>): OpsContext;
  /** Removes everything. Throws when this process still holds a file of the bench open. */
  close(): void;
}

export function createWorkbench(): Workbench {
  const base = mkdtempSync(join(tmpdir(), 'bench-'));
  const home = join(base, 'home');
  return {
    base,
    home,
    path: (...names) => join(base, ...names),
    write: (folder, files) => writeFiles(join(base, folder), files),
    context: (given = {}) => createContext({ home, cwd: base, env: { HOME: base }, ...given }),
    close: () => {
      const open = listOpenFiles(base);
      rmSync(base, { recursive: true, force: true });
      if (open.length > 0) throw new Error(`Left open: ${open.join(', ')}`);
    },
  };
}

const descriptors = '/proc/self/fd';

function listOpenFiles(folder: string): string[] {
  const names = existsSync(descriptors) ? readdirSync(descriptors) : [];
  return names.map(readDescriptor).filter((path) => path.startsWith(folder));
}

/** Other threads open and close files meanwhile. */
function readDescriptor(name: string): string {
  try {
    return readlinkSync(join(descriptors, name));
  } catch {
    return '';
  }
}

function writeFiles(root: string, files: FileMap): string {
  mkdirSync(root, { recursive: true });
  for (const [path, file] of Object.entries(files)) {
    const [content, mode] = typeof file === 'string' || file instanceof Uint8Array ? [file, 0o644] : file;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), mode);
  }
  return root;
}

/** Sets the times of every file below a folder. */
export function touchAll(root: string, seconds: number): void {
  for (const path of listFiles(root)) utimesSync(join(root, path), seconds, seconds);
}

/** Paths of the files below a folder, sorted. */
export function listFiles(root: string): string[] {
  return listTree(root)
    .flatMap(({ path, found }) => (found.isDirectory() ? [] : [path]))
    .sort();
}

/** Every file below a folder with its permission bits and content (latin1, so that nothing is lost), to be compared. */
export function readTree(root: string): Record<string, readonly [mode: string, content: string]> {
  const toEntry = (path: string) =>
    [path, [(statSync(join(root, path)).mode & 0o777).toString(8), readFileSync(join(root, path), 'latin1')]] as const;
  return Object.fromEntries(listFiles(root).map(toEntry));
}

/** The same of files that were never written. */
export function toTree(files: FileMap): ReturnType<typeof readTree> {
  const toEntry = ([path, file]: readonly [string, FileMap[string]]) => {
    const [content, mode] = typeof file === 'string' || file instanceof Uint8Array ? [file, 0o644] : file;
    return [path, [mode.toString(8), Buffer.from(content).toString('latin1')]] as const;
  };
  return Object.fromEntries(Object.entries(files).map(toEntry).sort());
}

/** A model with a file of every kind, and nothing that a rule or advice would find fault with. */
export const tinyModel: FileMap = {
  'model.safetensors': makeTensors({ 'layer.weight': ['F32', [8, 8], 256], 'layer.bias': ['F32', [8], 32] }),
  'config.json': '{"model_type":"tiny"}\n',
  'tokenizer.json': '{"version":"1.0"}\n',
  'README.md': '# Tiny\n',
  LICENSE: 'Copyright nobody\n',
  'code/run.py': 'print(1)\n',
  'code/start': ['#!/bin/sh\nexec python3 run.py\n', 0o755],
  'data/train.csv': '1,2\n3,4\n',
  'empty.bin': '',
};
