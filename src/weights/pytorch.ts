import type { Finding, RandomAccess } from '../core/index.js';
import { badHeader } from './bad-header.js';
import type { WeightFile } from './weight-file.js';

const pieceBytes = 64 * 1024;
const zipMagic = 'PK\x03\x04';
/** `torch.save` before 1.6: protocol 2, then the long 0x1950a86a20f9469cfc6c. */
const legacyMagic = '\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e';
const torchMember = /^[^/]+\/(data\.pkl|constants\.pkl|version|byteorder|\.format_version|\.data\/serialization_id|data\/\d+|code\/.*)$/;

/** One character a byte; a TextDecoder of that name means another code page. */
function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Begins like something that torch wrote, old or new. */
export function isPyTorch(first: Uint8Array): boolean {
  return toLatin1(first.subarray(0, legacyMagic.length)) === legacyMagic || (isZip(first) && torchMember.test(firstMember(first)));
}

/** The name in the first local header of a zip. */
function firstMember(first: Uint8Array): string {
  const length = (first[26] ?? 0) | ((first[27] ?? 0) << 8);
  return toLatin1(first.subarray(30, 30 + length));
}

export function isZip(first: Uint8Array): boolean {
  return toLatin1(first.subarray(0, 4)) === zipMagic;
}

/** A PROTO opcode of protocol 2 or later, the mark of a pickle. */
export function isPickle(first: Uint8Array): boolean {
  return first[0] === 0x80 && (first[1] ?? 0) >= 2 && (first[1] ?? 0) <= 5;
}

/**
 * Recognised only: its tensors are described by a pickle, and a pickle is never loaded. Two reads, the head and the tail, tell a
 * TorchScript archive (it carries constants.pkl) from a plain one.
 */
export async function readPyTorch(file: string, access: RandomAccess): Promise<WeightFile> {
  const head = Uint8Array.from(await access.read(0, Math.min(pieceBytes, access.size)));
  const container = isZip(head) ? 'zip' : isPickle(head) ? 'pickle' : undefined;
  if (container === undefined) throw badHeader(file, 0, 'it begins neither like a zip nor like a pickle');
  const torchscript = container === 'zip' && (await isTorchScript(head, access));
  return { format: 'pt', file, tensors: [], metadata: { container, torchscript }, findings: [pickled(file)] };
}

async function isTorchScript(head: Uint8Array, access: RandomAccess): Promise<boolean> {
  const member = '/constants.pkl';
  if (toLatin1(head).includes(member)) return true;
  const start = Math.max(head.length, access.size - pieceBytes);
  return start < access.size && toLatin1(await access.read(start, access.size - start)).includes(member);
}

function pickled(file: string): Finding {
  return {
    level: 'note',
    code: 'weights/pickle',
    message: 'PyTorch files hold pickled Python objects, which can run code when they are loaded; their tensors are not listed',
    where: file,
    hint: 'Publish safetensors beside it or instead',
  };
}
