import type { NpyType } from './npy-type.js';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of fixed width, filled up with NUL → strings. NumPy's bytes (`S`) are taken for UTF-8. */
export function decodeText(bytes: Uint8Array, type: Extract<NpyType, { kind: 'text' }>, refuse: (reason: string) => Error): string[] {
  const decode = type.code === 'U' ? decodeUtf32(type.bigEndian) : decodeUtf8;
  return Array.from({ length: type.bytes === 0 ? 0 : bytes.length / type.bytes }, (_, at) => {
    const text = decode(bytes.subarray(at * type.bytes, (at + 1) * type.bytes));
    if (text === undefined) throw refuse(`element ${at} is not valid ${type.code === 'U' ? 'Unicode' : 'UTF-8'}`);
    return text;
  });
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  try {
    return utf8.decode(bytes.subarray(0, end));
  } catch {
    return undefined;
  }
}

const decodeUtf32 =
  (bigEndian: boolean) =>
  (bytes: Uint8Array): string | undefined => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let end = bytes.length;
    while (end > 0 && view.getUint32(end - 4, !bigEndian) === 0) end -= 4;
    let text = '';
    for (let at = 0; at < end; at += 4) {
      const point = view.getUint32(at, !bigEndian);
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
      text += String.fromCodePoint(point);
    }
    return text;
  };
