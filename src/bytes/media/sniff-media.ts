import { sniffJpeg } from './jpeg.js';
import type { Media } from './media.js';
import { sniffMp3 } from './mp3.js';
import { sniffMp4 } from './mp4.js';
import { sniffPng } from './png.js';

export type { Media } from './media.js';

/** How many bytes of a file are worth reading for this. */
export const mediaHeadBytes = 64 * 1024;

/** The kinds that a carton's examples may be, by content. `head` are the first bytes, `size` that of the whole file. Never throws. (Carton format, misc) */
export function sniffMedia(head: Uint8Array, size: number): Media | undefined {
  return sniffPng(head) ?? sniffJpeg(head) ?? sniffMp4(head) ?? sniffMp3(head, size);
}
