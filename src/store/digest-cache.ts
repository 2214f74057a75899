import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFile, toFileIdentity, withLock } from '../bytes/index.js';
import {
  type BlobContent,
  type DigestCache,
  type FileContent,
  type FileIdentity,
  isDigest,
  isJsonObject,
  type KnownDigest,
  type TarContent,
} from '../core/index.js';

/** Two changes within this time may leave a file with the same times. (Kernels stamp files in steps of up to 10 ms.) */
const racyMs = 50;

/** Beyond this the file is written anew with the youngest half of its entries. */
const compactBytes = 8 * 1024 * 1024;

/** Part of every identity: raised when the same members would make other bytes. */
const tarEncoding = `tar/1 zlib ${process.versions.zlib}`;

/** `now` is for tests. */
export function openDigestCache(path: string, now: () => number = Date.now): DigestCache {
  let entries: Map<string, KnownDigest> | undefined;
  const load = () => (entries ??= readEntries(path));
  return {
    identify: (content) => identify(content, now()),
    find: (identity) => load().get(identity),
    remember: async (identity, content, { digest, size, diffId }) => {
      if (identify(content, now()) !== identity) return;
      const known = { digest, size, ...(diffId === undefined ? {} : { diffId }) };
      load().set(identity, known);
      await append(path, toLine(identity, known));
    },
  };
}

function identify(content: BlobContent, now: number): string | undefined {
  if (content.kind === 'file') return identifyFile(content, now);
  if (content.kind === 'tar') return identifyTar(content, now);
  return undefined;
}

function identifyFile(content: FileContent, now: number): string | undefined {
  const identity = content.identity ?? findIdentity(content);
  return identity === undefined || now - identity.changedMs < racyMs ? undefined : identity.key;
}

function findIdentity({ path, size }: FileContent): FileIdentity | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === BigInt(size) ? toFileIdentity(stat) : undefined;
}

function identifyTar({ members, compression }: TarContent, now: number): string | undefined {
  const hash = createHash('sha256').update(`${tarEncoding} ${compression}\n`);
  for (const { name, mode, mtime, content } of members) {
    const identity = content.kind === 'directory' ? 'directory' : content.kind === 'file' ? identifyFile(content, now) : undefined;
    if (identity === undefined) return undefined;
    hash.update(`${name}\0${mode} ${mtime} ${identity}\n`);
  }
  return `tar:${hash.digest('hex')}`;
}

function readEntries(path: string): Map<string, KnownDigest> {
  return new Map(readLines(path).flatMap((line) => parseLine(line) ?? []));
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Each line proves itself, as a crash may tear the last one and the next process append to the rest of it. */
function toLine(identity: string, known: KnownDigest): string {
  const text = JSON.stringify({ identity, ...known });
  return `${checksum(text)} ${text}\n`;
}

function parseLine(line: string): [[string, KnownDigest]] | undefined {
  const text = line.slice(17);
  if (line.slice(0, 16) !== checksum(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return undefined;
    const { identity, digest, size, diffId } = value;
    if (typeof identity !== 'string' || !isDigest(digest) || !Number.isSafeInteger(size)) return undefined;
    return [[identity, { digest, size: size as number, ...(isDigest(diffId) ? { diffId } : {}) }]];
  } catch {
    return undefined;
  }
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** One write call with O_APPEND: lines of several processes never mix. What cannot be written is not remembered. */
async function append(path: string, line: string): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, line);
    if (statSync(path).size > compactBytes) await compact(path);
  } catch {
    // A cache on a full or read-only disk is no reason to fail.
  }
}

async function compact(path: string): Promise<void> {
  await withLock(`${path}.lock`, () => {
    if (statSync(path).size <= compactBytes) return;
    const lines = [...readEntries(path)].map(([identity, known]) => toLine(identity, known));
    replaceFile(path, lines.slice(Math.floor(lines.length / 2)).join(''));
  });
}
