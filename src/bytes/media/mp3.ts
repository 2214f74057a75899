import { letters, type Media, viewOf } from './media.js';

const kbit1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const kbit2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const rates = [44_100, 48_000, 32_000];
const id3HeaderBytes = 10;
/** Some writers leave a gap behind the tag. */
const largestGap = 4096;

interface Frame {
  readonly isMpeg1: boolean;
  readonly isMono: boolean;
  readonly hertz: number;
  readonly bitsPerSecond: number;
  readonly bytes: number;
  readonly samples: number;
}

/** An ID3v2 tag, or two frames in a row of which the first stands at the very beginning: two bytes alone would recognise too much. */
export function sniffMp3(head: Uint8Array, size: number): Media | undefined {
  const tag = tagBytes(head);
  const last = tag === 0 ? 0 : Math.min(tag + largestGap, head.length - 4);
  for (let at = tag; at <= last; at++) {
    const frame = parseFrame(head, at);
    if (frame === undefined || !isFollowed(head, at, frame, size)) continue;
    const seconds = countSeconds(head, at, frame) ?? ((size - at) * 8) / frame.bitsPerSecond;
    return { type: 'audio/mpeg', seconds };
  }
  return tag === 0 ? undefined : { type: 'audio/mpeg' };
}

/** Size of the ID3v2 tag, header and footer included; 0 without one. Four times seven bits. (ID3v2.4, 3.1) */
function tagBytes(head: Uint8Array): number {
  if (!letters(head, 0).startsWith('ID3') || head.length < id3HeaderBytes) return 0;
  const [flags = 0, ...digits] = head.subarray(5, id3HeaderBytes);
  if (digits.some((digit) => digit > 0x7f)) return 0;
  const body = digits.reduce((sum, digit) => sum * 128 + digit, 0);
  return id3HeaderBytes + body + (flags & 0x10 ? id3HeaderBytes : 0);
}

function isFollowed(head: Uint8Array, at: number, frame: Frame, size: number): boolean {
  const next = at + frame.bytes;
  if (next === size) return true;
  const follower = parseFrame(head, next);
  return follower !== undefined && follower.hertz === frame.hertz && follower.isMpeg1 === frame.isMpeg1;
}

/** Layer III of MPEG-1, 2 and 2.5. (ISO 11172-3, 2.4.1.3) */
function parseFrame(head: Uint8Array, at: number): Frame | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0] = head.subarray(at, at + 4);
  const version = (second >> 3) & 3;
  if (first !== 0xff || (second & 0xe6) !== 0xe2 || version === 1) return undefined;
  const isMpeg1 = version === 3;
  const kbit = (isMpeg1 ? kbit1 : kbit2)[third >> 4] ?? 0;
  const rate = rates[(third >> 2) & 3];
  if (kbit === 0 || rate === undefined) return undefined;
  const hertz = isMpeg1 ? rate : version === 2 ? rate / 2 : rate / 4;
  const samples = isMpeg1 ? 1152 : 576;
  const bytes = Math.floor((samples / 8) * ((kbit * 1000) / hertz)) + ((third >> 1) & 1);
  return { isMpeg1, isMono: fourth >> 6 === 3, hertz, bitsPerSecond: kbit * 1000, bytes, samples };
}

/** From the number of frames in a Xing, Info or VBRI header, which stands in the first frame where its side information would be. */
function countSeconds(head: Uint8Array, at: number, frame: Frame): number | undefined {
  const view = viewOf(head);
  const duration = (place: number): number | undefined =>
    place + 4 <= head.length ? (view.getUint32(place) * frame.samples) / frame.hertz : undefined;
  const xing = at + 4 + (frame.isMpeg1 ? (frame.isMono ? 17 : 32) : frame.isMono ? 9 : 17);
  const hasFrames = ['Xing', 'Info'].includes(letters(head, xing)) && ((head[xing + 7] ?? 0) & 1) === 1;
  if (hasFrames) return duration(xing + 8);
  const vbri = at + 4 + 32;
  return letters(head, vbri) === 'VBRI' ? duration(vbri + 14) : undefined;
}
