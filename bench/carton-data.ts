import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { addToCrc } from '../src/bytes/zip/add-to-crc.js';
import { localHeaderBytes, type MemberFacts, putLocalHeader, toCentralHeader, toEndRecords } from '../src/bytes/zip/zip-headers.js';

const pieceBytes = 4 * 1024 * 1024;
const sentinel = 0xffff_ffff;
const fileMode = 0o100644;

/** Bytes, and zeros after them that take no space on the disk. */
interface Member {
  readonly name: string;
  readonly bytes: Buffer;
  readonly zeros: number;
}

/**
 * A carton with so many bytes of weights, zeros all, and every hash of it right: the files of an unpacked one, whose weights are replaced. The list and
 * everything small lie at its end, as modelport writes cartons. Gives its size.
 */
export async function writeSparseCarton(path: string, unpacked: string, weightBytes: number, signal: AbortSignal): Promise<number> {
  const weights: Member = { name: 'model/model.safetensors', bytes: toHeader(weightBytes), zeros: weightBytes };
  const others = listFiles(unpacked).filter(({ name }) => name !== 'MANIFEST' && !name.endsWith('.safetensors'));
  const members = [weights, ...others.filter(isModel), ...others.filter((member) => !isModel(member))];
  const measured: Measured[] = [];
  for (const member of members) measured.push(await measure(member, signal));
  const lines = measured.map(({ name, sha256 }) => `${name}=${sha256}\n`).sort();
  return writeZip(path, [...measured, await measure({ name: 'MANIFEST', bytes: Buffer.from(lines.join('')), zeros: 0 }, signal)]);
}

function isModel({ name }: Member): boolean {
  return name.startsWith('model/');
}

function listFiles(root: string): Member[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return { name: relative(root, path).split(sep).join('/'), bytes: readFileSync(path), zeros: 0 };
  });
}

/** Of a safetensors file with one tensor. */
function toHeader(weightBytes: number): Buffer {
  const json = JSON.stringify({ weight: { dtype: 'U8', shape: [weightBytes], data_offsets: [0, weightBytes] } });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, Buffer.from(json)]);
}

interface Measured extends Member {
  readonly crc32: number;
  readonly sha256: string;
}

async function measure(member: Member, signal: AbortSignal): Promise<Measured> {
  const hash = createHash('sha256').update(member.bytes);
  let crc32 = addToCrc(0, member.bytes);
  const zeros = Buffer.alloc(pieceBytes);
  for (let left = member.zeros; left > 0; left -= pieceBytes) {
    await setImmediate(undefined, { signal });
    const piece = zeros.subarray(0, Math.min(left, pieceBytes));
    hash.update(piece);
    crc32 = addToCrc(crc32, piece);
  }
  return { ...member, crc32, sha256: hash.digest('hex') };
}

function writeZip(path: string, members: readonly Measured[]): number {
  const fd = openSync(path, 'wx');
  try {
    let end = 0;
    const put = (bytes: Uint8Array) => (end += writeSync(fd, bytes, 0, bytes.length, end));
    const directory = members.map((member) => {
      const facts = toFacts(member, end);
      const header = Buffer.alloc(localHeaderBytes(facts));
      putLocalHeader(header, 0, facts);
      put(header);
      put(member.bytes);
      end += member.zeros;
      return toCentralHeader(facts);
    });
    const list = Buffer.concat(directory);
    const records = toEndRecords(members.length, list.length, end);
    put(list);
    put(records);
    return end;
  } finally {
    closeSync(fd);
  }
}

function toFacts({ name, bytes, zeros, crc32 }: Measured, offset: number): MemberFacts {
  const size = bytes.length + zeros;
  return { name: Buffer.from(name), method: 0, mode: fileMode, crc32, size, packed: size, offset, isLarge: size >= sentinel };
}
