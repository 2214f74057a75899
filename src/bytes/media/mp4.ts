import { letters, type Media, viewOf } from './media.js';

/** Brands of the same container that are pictures, or QuickTime. */
const otherBrand = /^(heic|heix|heim|heis|hevc|hevx|mif1|msf1|avif|avis|jp2 |jpx |crx |qt {2})$/;
const brand = /^(isom|iso[2-9a-c]|mp4[12]|avc1|M4[VAPB] |dash|mmp4|MSNV|ndsc|f4v |cmf[cs])$/i;
const unknownDuration = new Set([0, 0xffff_ffff, Number(0xffff_ffff_ffff_ffffn)]);

interface Box {
  readonly type: string;
  /** Without the box's header; cut where the bytes at hand end. */
  readonly body: Uint8Array;
}

/** `ftyp` comes first; `moov` says the rest, when it does not lie behind the data. (ISO 14496-12, 4.3, 8.2, 8.3) */
export function sniffMp4(head: Uint8Array): Media | undefined {
  const [first, ...boxes] = [...listBoxes(head)];
  if (first?.type !== 'ftyp' || !isMp4(first.body)) return undefined;
  const moov = boxes.find(({ type }) => type === 'moov');
  return { type: 'video/mp4', ...(moov === undefined ? {} : readMovie([...listBoxes(moov.body)])) };
}

/** The major brand, then a version, then the compatible ones. */
function isMp4(body: Uint8Array): boolean {
  const major = letters(body, 0);
  const compatible = Array.from({ length: Math.max(0, Math.floor(body.length / 4) - 2) }, (_, at) => letters(body, 8 + at * 4));
  return !otherBrand.test(major) && [major, ...compatible].some((name) => brand.test(name));
}

function* listBoxes(bytes: Uint8Array): Generator<Box> {
  const view = viewOf(bytes);
  let at = 0;
  while (at + 8 <= bytes.length) {
    const short = view.getUint32(at);
    const isLong = short === 1;
    if (isLong && at + 16 > bytes.length) return;
    const header = isLong ? 16 : 8;
    const size = isLong ? Number(view.getBigUint64(at + 8)) : short === 0 ? bytes.length - at : short;
    if (size < header) return;
    yield { type: letters(bytes, at + 4), body: bytes.subarray(at + header, Math.min(at + size, bytes.length)) };
    at += size;
  }
}

function readMovie(boxes: readonly Box[]): Omit<Media, 'type'> {
  const header = boxes.find(({ type }) => type === 'mvhd');
  const tracks = boxes.filter(({ type }) => type === 'trak').flatMap(({ body }) => readSize(body));
  const largest = tracks.reduce((before, track) => (track.width * track.height > before.width * before.height ? track : before), {
    width: 0,
    height: 0,
  });
  return { ...(header === undefined ? {} : readDuration(header.body)), ...(largest.width > 0 && largest.height > 0 ? largest : {}) };
}

/** Version 1 has times of 8 bytes. */
function readDuration(body: Uint8Array): { seconds?: number } {
  const view = viewOf(body);
  const isLong = body[0] === 1;
  if (body.length < (isLong ? 32 : 20)) return {};
  const scale = view.getUint32(isLong ? 20 : 12);
  const duration = isLong ? Number(view.getBigUint64(24)) : view.getUint32(16);
  return scale === 0 || unknownDuration.has(duration) ? {} : { seconds: duration / scale };
}

/** The last two fields of the track header, with 16 bits of fraction. A sound track has none. */
function readSize(track: Uint8Array): { width: number; height: number }[] {
  const body = [...listBoxes(track)].find(({ type }) => type === 'tkhd')?.body;
  const at = body?.[0] === 1 ? 88 : 76;
  if (body === undefined || body.length < at + 8) return [];
  const view = viewOf(body);
  return [{ width: Math.round(view.getUint32(at) / 0x10000), height: Math.round(view.getUint32(at + 4) / 0x10000) }];
}
