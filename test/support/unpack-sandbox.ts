import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  fromBytes,
  unpackPackage,
  type UnpackFile,
  type UnpackOptions,
  type UnpackResult,
  type UnpackSource,
  type UnpackTar,
} from '../../src/bytes/index.js';
import { defaultLimits, type ErrorCode, isToolkitError, type ToolkitError } from '../../src/core/index.js';
import { listTree } from './list-tree.js';
import { type RawEntry, rawTar } from './raw-tar.js';

/** A place to unpack to, with a file beside it that must stay as it is and alone. */
export interface UnpackSandbox {
  readonly base: string;
  readonly target: string;
  unpack(sources: readonly UnpackSource[], options?: Partial<UnpackOptions>): Promise<UnpackResult>;
  unpackImage(sources: readonly UnpackSource[], options?: Partial<UnpackOptions>): Promise<UnpackResult>;
  /** The error of work that has to fail and to leave no target behind. */
  refusal(work: Promise<unknown>): Promise<ToolkitError>;
  /** Every file of the target with its content, `path/` for folders, `path -> target` for links. */
  tree(): string[];
  /** The mode bits that a new folder or file does not get. */
  umask(): number;
  /** Throws when anything was written outside the target. */
  close(): void;
}

export function createSandbox(): UnpackSandbox {
  const base = mkdtempSync(join(tmpdir(), 'unpack-'));
  const target = join(base, 'target');
  writeFileSync(join(base, 'sentinel'), 'untouched');
  const unpack = (sources: readonly UnpackSource[], options: Partial<UnpackOptions> = {}) =>
    unpackPackage(sources, target, { policy: 'package', limits: defaultLimits, ...options });
  return {
    base,
    target,
    unpack,
    unpackImage: (sources, options) => unpack(sources, { policy: 'image', ...options }),
    refusal: (work) => refusalOf(work, target),
    tree: () => describeTree(target),
    umask: () => umaskOf(base),
    close: () => {
      const strangers = readdirSync(base).filter((name) => name !== 'sentinel' && name !== 'target');
      const sentinel = readFileSync(join(base, 'sentinel'), 'utf8');
      rmSync(base, { recursive: true, force: true });
      if (sentinel !== 'untouched' || strangers.length > 0) throw new Error(`Written outside: ${[sentinel, ...strangers].join(', ')}`);
    },
  };
}

/** Asked of a new folder, as process.umask() without a value is not safe. */
function umaskOf(base: string): number {
  const probe = join(base, 'probe');
  mkdirSync(probe);
  const { mode } = statSync(probe);
  rmdirSync(probe);
  return 0o777 & ~mode;
}

async function refusalOf(work: Promise<unknown>, target: string): Promise<ToolkitError> {
  try {
    await work;
  } catch (error) {
    if (existsSync(target)) throw new Error('After a refusal the target exists', { cause: error });
    if (isToolkitError(error)) return error;
    throw error;
  }
  throw new Error('Expected a refusal, and it went through');
}

function describeTree(root: string): string[] {
  return listTree(root)
    .map(({ path, found }) => {
      if (found.isSymbolicLink()) return `${path} -> ${readlinkSync(join(root, path))}`;
      return found.isDirectory() ? `${path}/` : `${path}: ${readFileSync(join(root, path), 'utf8')}`;
    })
    .toSorted();
}

/** What an error with this code and message matches. */
export const failure = (code: ErrorCode, message: RegExp) => ({ code, message: expect.stringMatching(message) });

export function tar(...entries: readonly RawEntry[]): UnpackTar {
  return tarOf(rawTar(...entries));
}

export function tarOf(bytes: Uint8Array): UnpackTar {
  return { kind: 'tar', where: 'model.tar', open: async () => fromBytes(bytes) };
}

/** A file whose content is its path, unless said otherwise. */
export function file(path: string, content = path, more: Partial<UnpackFile> = {}): UnpackFile {
  const bytes = Buffer.from(content);
  return { kind: 'file', path, size: bytes.length, open: async () => fromBytes(bytes), ...more };
}

export function symlink(name: string, linkName: string): RawEntry {
  return { name, type: '2', linkName };
}

export function hardlink(name: string, linkName: string): RawEntry {
  return { name, type: '1', linkName };
}

export function folder(name: string, more: Partial<RawEntry> = {}): RawEntry {
  return { name, type: '5', ...more };
}
