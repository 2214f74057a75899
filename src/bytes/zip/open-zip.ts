import { type ByteStream, createError, type Limits, type RandomAccess, type RangeSource } from '../../core/index.js';
import { overLimit } from '../compression/over-limit.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { judgeCharacters, unsafePath } from '../safe-path.js';
import { collect } from '../streams.js';
import { openZipContent, type ZipSource } from './zip-content.js';
import { parseZipDirectory } from './zip-directory.js';
import { readZipDirectory } from './zip-end.js';
import type { ZipRecord, ZipTree } from './zip-entry.js';
import { checkDescriptor, readLocal } from './zip-local.js';

export interface OpenZipOptions {
  readonly limits: Limits;
  /** What the archive is called in errors. */
  readonly where: string;
}

/**
 * Reads the list of a zip and judges what the list alone can show; the source stays open. Refused are names that are no package paths, names
 * that stand there twice or are file and folder, encryption, methods other than stored, deflate and zstd, devices, set-id bits, entries that
 * overlap, and whatever two readers could understand differently: `bytes/bad-archive`, `bytes/refused-entry`, `bytes/unsafe-path`, `bytes/limit`.
 * Names that differ only in case or Unicode form are for the caller (`findTwins`).
 */
export async function openZip(source: RangeSource, { limits, where: place }: OpenZipOptions): Promise<ZipTree> {
  const where = escapeForDisplay(place);
  const records = parseZipDirectory(await readZipDirectory(source, limits, where), limits, where);
  const zip = { source, limits, where };
  const byPath = new Map(records.map((record) => [record.entry.path, record]));
  const find = (path: string, kind: 'file' | 'symlink'): ZipRecord => {
    const record = byPath.get(path);
    if (record?.entry.kind === kind) return record;
    const name = escapeForDisplay(path);
    throw createError('bytes/not-found', {
      message: `Cannot open "${name}" of "${where}": it is not a ${kindNames[kind]} of this archive`,
      where: name,
    });
  };
  return {
    entries: records.map(({ entry }) => entry).sort((a, b) => (a.path < b.path ? -1 : 1)),
    open: async (path, range) => openZipContent(zip, find(path, 'file'), range),
    readLink: async (path) => readTarget(zip, find(path, 'symlink')),
    checkEntries: () => checkAll(records, source, where),
  };
}

const kindNames = { file: 'file', symlink: 'link' };

async function readTarget(zip: ZipSource, record: ZipRecord): Promise<string> {
  const { limits, where } = zip;
  const { path, size } = record.entry;
  if (size > limits.pathBytes) throw overLimit(where, `the target of the link "${escapeForDisplay(path)}"`, limits.pathBytes);
  const stream: ByteStream = await openZipContent(zip, record);
  const target = Buffer.from(await collect(stream, limits.pathBytes, path)).toString('utf8');
  const reason = target === '' ? 'it is empty' : judgeCharacters(target);
  if (reason !== undefined) throw unsafePath(target, `the link ${path} of ${where}`, reason);
  return target;
}

/** Headers of small entries lie close together: one read for many. */
const windowBytes = 64 * 1024;

async function checkAll(records: readonly ZipRecord[], source: RandomAccess, where: string): Promise<void> {
  const windowed = readAhead(source);
  for (const record of records) {
    const place = await readLocal(windowed, record, where);
    await checkDescriptor(windowed, record, place, where);
  }
}

function readAhead(source: RandomAccess): RandomAccess {
  let start = 0;
  let held = new Uint8Array();
  return {
    size: source.size,
    read: async (offset, length) => {
      if (offset < start || offset + length > start + held.byteLength) {
        held = (await source.read(offset, Math.max(length, Math.min(windowBytes, source.size - offset)))) as Uint8Array<ArrayBuffer>;
        start = offset;
      }
      return held.subarray(offset - start, offset - start + length);
    },
  };
}
