import type { FileEntry } from '../../core/index.js';
import { badZip, refusedZipEntry } from './bad-zip.js';
import { centralHeader as central, fileTypes, setIdBits, unixHosts } from './zip-format.js';

/** Kind and mode of an entry, from its mode on Unix and from the slash at the end of its name, which must not contradict each other. */
export function kindOf(record: Buffer, hasSlash: boolean, path: string, where: string): Pick<FileEntry, 'kind' | 'mode'> {
  const isUnix = unixHosts.includes(record.readUInt8(central.madeBy + 1));
  const mode = record.readUInt32LE(central.attributes) >>> 16;
  const kind = typeOf(mode, hasSlash);
  if (kind === undefined) throw refusedZipEntry(where, `it has the mode 0${mode.toString(8)}, expected a file, folder or link`, path);
  if (kind === 'symlink' && !isUnix) throw badZip(where, 'it is a link for some readers and a file for others: it was not made on Unix', path);
  if ((kind === 'directory') !== hasSlash) throw badZip(where, `its mode 0${mode.toString(8)} contradicts the slash of a folder in its name`, path);
  if (kind === 'file' && (mode & setIdBits) !== 0) throw refusedZipEntry(where, 'it would run with the rights of another user (set-id bit)', path);
  return { kind, mode: mode === 0 ? defaultMode(kind) : mode & 0o777 };
}

function defaultMode(kind: FileEntry['kind']): number {
  return kind === 'directory' ? 0o755 : 0o644;
}

function typeOf(mode: number, hasSlash: boolean): FileEntry['kind'] | undefined {
  switch (mode & fileTypes.mask) {
    case 0:
      return hasSlash ? 'directory' : 'file';
    case fileTypes.file:
      return 'file';
    case fileTypes.directory:
      return 'directory';
    case fileTypes.symlink:
      return 'symlink';
    default:
      return undefined;
  }
}
