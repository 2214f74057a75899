import { rawTar } from './raw-tar.js';

/** The same archive with bytes of its first header replaced and the checksum mended, unless it is what was replaced. */
export function patchHeader(tar: Uint8Array, patches: Readonly<Record<number, string | Uint8Array>>): Uint8Array {
  const bytes = Buffer.from(tar);
  for (const [at, value] of Object.entries(patches)) Buffer.from(value as string, 'latin1').copy(bytes, Number(at));
  if (headerFields.checksum in patches) return bytes;
  bytes.fill(' ', headerFields.checksum, headerFields.checksum + 8);
  const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, headerFields.checksum, 'latin1');
  return bytes;
}

/** Where fields of a header stand. */
export const headerFields = { name: 0, size: 124, checksum: 148, type: 156, link: 157, magic: 257 } as const;

/** A member with pax records of any bytes before it. */
export function paxTar(records: Readonly<Record<string, string>>, name = 'plain.txt', content = 'plain'): Uint8Array {
  const text = Object.entries(records)
    .map(([key, value]) => paxRecord(key, value))
    .join('');
  return Buffer.concat([withoutEnd(rawTar({ name: 'pax', type: 'x', content: Buffer.from(text, 'latin1') })), rawTar({ name, content })]);
}

function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`, 'latin1');
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

/** Without the two blocks of zeros at the end. */
export function withoutEnd(tar: Uint8Array): Uint8Array {
  return tar.subarray(0, tar.length - 1024);
}
