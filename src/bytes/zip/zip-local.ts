import type { RandomAccess } from '../../core/index.js';
import { badZip } from './bad-zip.js';
import type { ZipRecord } from './zip-entry.js';
import { assertSameName, parseExtra, readSafe, type Refuse, Zip64Values } from './zip-extra.js';
import { descriptorSignature, flags, localHeader as local, sentinel32 } from './zip-format.js';

/** Where the packed bytes of an entry lie. */
export interface LocalPlace {
  readonly start: number;
  readonly end: number;
  /** Bytes of the descriptor behind them; 0 where sizes and CRC stand in the header. */
  readonly descriptorBytes: number;
  /** What was read of the archive from the header on. */
  readonly head: Buffer;
}

/** Room for the extra fields that usual writers add. */
const usualExtra = 256;

/**
 * Reads the local header of an entry and holds it against the list. `ahead` bytes are read at once, those of a usual header by default.
 * The entry must fill its room to the last byte: what no reader of the list sees, one that reads from the front might.
 */
export async function readLocal(source: RandomAccess, record: ZipRecord, where: string, ahead = 0): Promise<LocalPlace> {
  const { entry, name, boundary } = record;
  const refuse: Refuse = (reason) => {
    throw badZip(where, reason, entry.path);
  };
  const room = boundary - entry.headerOffset;
  const first = Math.min(room, Math.max(ahead, local.bytes + name.length + usualExtra));
  let head = toBuffer(await source.read(entry.headerOffset, first));
  if (head.readUInt32LE(0) !== local.signature) refuse('its local header is not there');
  const headerBytes = local.bytes + name.length + head.readUInt16LE(local.extra);
  const behind = room - headerBytes - entry.packed.size;
  if (behind < 0) refuse('its local header and its content are larger than the room for them');
  if (headerBytes > head.length) head = toBuffer(await source.read(entry.headerOffset, headerBytes));
  judgeHeader(head.subarray(0, headerBytes), record, refuse);
  const isAllowed = (record.flags & flags.descriptor) === 0 ? behind === 0 : descriptorLengths.includes(behind);
  if (!isAllowed) refuse(`${behind} other bytes stand behind it`);
  const start = entry.headerOffset + headerBytes;
  return { start, end: start + entry.packed.size, descriptorBytes: behind, head };
}

/** Without and with a signature, with sizes of 4 and of 8 bytes: no two of these are of one length. (APPNOTE 4.3.9) */
const descriptorLengths: readonly number[] = [12, 16, 20, 24];

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function judgeHeader(head: Buffer, record: ZipRecord, refuse: Refuse): void {
  const { entry, name } = record;
  const isSameName = head.readUInt16LE(local.name) === name.length && head.subarray(local.bytes, local.bytes + name.length).equals(name);
  if (!isSameName) refuse('its local header names another file');
  if (head.readUInt16LE(local.flags) !== record.flags) refuse('its local header has other flags than the list');
  if (head.readUInt16LE(local.method) !== record.method) refuse('its local header has another compression than the list');
  const extra = parseExtra(head.subarray(local.bytes + name.length), refuse);
  assertSameName(extra, name, refuse);
  const large = new Zip64Values(extra.zip64, refuse);
  const size = large.take(head.readUInt32LE(local.size), sentinel32, 8);
  const packed = large.take(head.readUInt32LE(local.packed), sentinel32, 8);
  large.finish();
  const isLater = (record.flags & flags.descriptor) !== 0;
  const agrees = (found: number, expected: number) => found === expected || (isLater && found === 0);
  if (!agrees(size, entry.size)) refuse(`its local header says ${size} bytes, the list ${entry.size}`);
  if (!agrees(packed, entry.packed.size)) refuse(`its local header says ${packed} packed bytes, the list ${entry.packed.size}`);
  if (!agrees(head.readUInt32LE(local.crc), entry.crc32)) refuse('its local header has another CRC-32 than the list');
}

/** Reads what stands behind the content, where something does, and holds it against the list. */
export async function checkDescriptor(source: RandomAccess, { entry }: ZipRecord, place: LocalPlace, where: string): Promise<void> {
  const length = place.descriptorBytes;
  if (length === 0) return;
  const headEnd = entry.headerOffset + place.head.length;
  const isHeld = headEnd >= place.end + length;
  const bytes = isHeld
    ? place.head.subarray(place.end - entry.headerOffset, place.end - entry.headerOffset + length)
    : toBuffer(await source.read(place.end, length));
  const at = length === 16 || length === 24 ? 4 : 0;
  const isSigned = at === 0 || bytes.readUInt32LE(0) === descriptorSignature;
  const isLarge = length >= 20;
  const sizeAt = (index: number) => (isLarge ? readSafe(bytes, at + 4 + 8 * index) : bytes.readUInt32LE(at + 4 + 4 * index));
  const agrees = bytes.readUInt32LE(at) === entry.crc32 && sizeAt(0) === entry.packed.size && sizeAt(1) === entry.size;
  if (!isSigned || !agrees) throw badZip(where, 'what stands behind it has another CRC-32 or other sizes than the list', entry.path);
}
