import { type Media, viewOf } from './media.js';

/** Start of frame, of any coding; C4, C8 and CC are tables and a reserve. (ITU T.81, table B.1) */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
/** Markers without a length. */
const isBare = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
const startOfScan = 0xda;
const endOfImage = 0xd9;

/** Goes from segment to segment to the frame header, which may lie behind a preview picture beyond `head`. */
export function sniffJpeg(head: Uint8Array): Media | undefined {
  if (head[0] !== 0xff || head[1] !== 0xd8 || head[2] !== 0xff) return undefined;
  const view = viewOf(head);
  let at = 2;
  while (at + 9 <= head.length && head[at] === 0xff) {
    const marker = view.getUint8(at + 1);
    if (isFrame(marker)) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    if (marker === startOfScan || marker === endOfImage) break;
    // Any marker may be filled up with FF before it.
    if (marker === 0xff) at += 1;
    else at += isBare(marker) ? 2 : 2 + view.getUint16(at + 2);
  }
  return { type: 'image/jpeg' };
}
