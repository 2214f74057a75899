import { letters, type Media, viewOf } from './media.js';

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** IHDR is the first chunk and holds the size. (PNG, 5.6 and 11.2.1) */
export function sniffPng(head: Uint8Array): Media | undefined {
  if (!signature.every((byte, at) => head[at] === byte)) return undefined;
  if (head.length < 24 || letters(head, 12) !== 'IHDR') return { type: 'image/png' };
  const view = viewOf(head);
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}
