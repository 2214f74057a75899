import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sniffMedia } from './sniff-media.js';

const u16 = (value: number): number[] => [value >> 8, value & 0xff];
const u32 = (value: number): number[] => [...u16(Math.floor(value / 0x10000)), ...u16(value % 0x10000)];
const text = (letters: string): number[] => [...Buffer.from(letters, 'latin1')];
const zeros = (length: number): number[] => Array.from({ length }, () => 0);
const sniff = (bytes: readonly number[], size = bytes.length) => sniffMedia(Uint8Array.from(bytes), size);

const png = [...text('\x89PNG\r\n\x1a\n'), ...u32(13), ...text('IHDR'), ...u32(640), ...u32(480), 8, 2, 0, 0, 0];

const segment = (marker: number, ...body: number[]): number[] => [0xff, marker, ...u16(body.length + 2), ...body];
const jpeg = (frame: number): number[] => [
  0xff,
  0xd8,
  ...segment(0xe0, ...text('JFIF\0')),
  0xff,
  ...segment(0xc4, 0),
  ...segment(frame, 8, ...u16(33), ...u16(44), 3),
];

/** MPEG-1 layer III, 128 kbit/s, 44,100 Hz, stereo: frames of 417 bytes and 1,152 samples. */
const frame = (...content: number[]): number[] => [0xff, 0xfb, 0x90, 0x00, ...content, ...zeros(413 - content.length)];
const frames = (count: number): number[] => Array.from({ length: count }, () => frame()).flat();
const id3 = (length: number, flags = 0): number[] => [...text('ID3'), 4, 0, flags, 0, 0, length >> 7, length & 0x7f, ...zeros(length)];

const box = (type: string, ...body: number[]): number[] => [...u32(body.length + 8), ...text(type), ...body];
const ftyp = (major: string, ...compatible: string[]): number[] => box('ftyp', ...text(major), ...u32(512), ...compatible.flatMap(text));
const mvhd = box('mvhd', ...zeros(12), ...u32(600), ...u32(1500), ...zeros(80));
const longMvhd = box('mvhd', 1, ...zeros(19), ...u32(1000), ...u32(1), ...u32(0), ...zeros(80));
const track = (width: number, height: number): number[] =>
  box('trak', ...box('tkhd', ...zeros(76), ...u32(width * 0x10000), ...u32(height * 0x10000)));
const longTrack = (width: number, height: number): number[] =>
  box('trak', ...box('tkhd', 1, ...zeros(87), ...u32(width * 0x10000), ...u32(height * 0x10000)));

describe('sniffMedia', () => {
  it('reads the size of a PNG', () => {
    expect(sniff(png)).toEqual({ type: 'image/png', width: 640, height: 480 });
    expect(sniff(png.slice(0, 20))).toEqual({ type: 'image/png' });
  });

  it.each([0xc0, 0xc1, 0xc2, 0xcf])('reads the size of a JPEG with the frame marker %i', (marker) => {
    expect(sniff(jpeg(marker))).toEqual({ type: 'image/jpeg', width: 44, height: 33 });
  });

  it('recognises a JPEG whose frame lies further on', () => {
    expect(sniff(jpeg(0xc0).slice(0, 22))).toEqual({ type: 'image/jpeg' });
    expect(sniff([0xff, 0xd8, ...segment(0xe1, ...zeros(50)).slice(0, 20)])).toEqual({ type: 'image/jpeg' });
    expect(sniff([0xff, 0xd8, ...segment(0xda, ...zeros(9)), ...segment(0xc0, ...zeros(9))])).toEqual({ type: 'image/jpeg' });
  });

  it('estimates the duration of an MP3 from its first frame', () => {
    expect(sniff(frames(3), 160_000)).toEqual({ type: 'audio/mpeg', seconds: 10 });
    expect(sniff(frame())?.seconds).toBeCloseTo(1152 / 44_100, 3);
    expect(sniff([...id3(300), ...frames(2)], 160_310)?.seconds).toBe(10);
    expect(sniff([...id3(300, 0x10), ...zeros(10), ...frames(2)], 160_320)?.seconds).toBe(10);
    expect(sniff([...id3(300), ...zeros(100), ...frames(2)], 160_410)?.seconds).toBe(10);
  });

  it('takes the number of frames where an MP3 says it', () => {
    const xing = frame(...zeros(32), ...text('Xing'), ...u32(1), ...u32(441));
    expect(sniff([...xing, ...frames(1)])?.seconds).toBe((441 * 1152) / 44_100);
    const info = [0xff, 0xfb, 0x90, 0xc0, ...zeros(17), ...text('Info'), ...u32(3), ...u32(100), ...zeros(417 - 33)];
    expect(sniff([...info, ...frames(1)])?.seconds).toBe((100 * 1152) / 44_100);
    const vbri = frame(...zeros(32), ...text('VBRI'), ...zeros(10), ...u32(50));
    expect(sniff([...vbri, ...frames(1)])?.seconds).toBe((50 * 1152) / 44_100);
  });

  it('reads MPEG-2 layer III', () => {
    // 64 kbit/s, 22,050 Hz: 576 samples in 208 bytes.
    const half = [0xff, 0xf3, 0x80, 0x00, ...zeros(204)];
    expect(sniff([...half, ...half], 80_000)).toEqual({ type: 'audio/mpeg', seconds: 10 });
  });

  it('knows an MP3 whose tag fills the head', () => {
    expect(sniff(id3(2000).slice(0, 500), 100_000)).toEqual({ type: 'audio/mpeg' });
  });

  it('reads duration and size of an MP4', () => {
    const moov = box('moov', ...mvhd, ...track(0, 0), ...track(1920, 1080), ...track(160, 90));
    expect(sniff([...ftyp('isom', 'mp42'), ...box('free', 0), ...moov])).toEqual({ type: 'video/mp4', seconds: 2.5, width: 1920, height: 1080 });
    const long = box('moov', ...longMvhd, ...longTrack(10, 20));
    expect(sniff([...ftyp('XXXX', 'iso6'), ...long])).toEqual({ type: 'video/mp4', seconds: 2 ** 32 / 1000, width: 10, height: 20 });
    const wide = [...u32(1), ...text('mdat'), ...u32(0), ...u32(20), ...zeros(4)];
    expect(sniff([...ftyp('mp42'), ...wide, ...box('moov', ...mvhd)])).toEqual({ type: 'video/mp4', seconds: 2.5 });
  });

  it('knows an MP4 whose index lies behind the data or is damaged', () => {
    expect(sniff([...ftyp('isom'), ...u32(1_000_000), ...text('mdat'), ...zeros(50)])).toEqual({ type: 'video/mp4' });
    expect(sniff([...ftyp('isom'), ...u32(3), ...text('moov'), ...mvhd])).toEqual({ type: 'video/mp4' });
    expect(sniff([...ftyp('isom'), ...box('moov', ...mvhd).slice(0, 20)])).toEqual({ type: 'video/mp4' });
    expect(sniff([...ftyp('isom'), ...box('moov', ...box('mvhd', ...zeros(12), ...u32(0), ...u32(5)))])).toEqual({ type: 'video/mp4' });
  });

  it.each([
    ['nothing', []],
    ['text', text('Hello, this is a text and no picture at all')],
    ['UTF-16', [0xff, 0xfe, ...zeros(30)]],
    ['a frame that nothing follows', [...frame(), ...text('no frame')]],
    ['a picture in the container of MP4', ftyp('avif', 'mif1', 'isom')],
    ['QuickTime', ftyp('qt  ', 'qt  ')],
    ['a tag of wrong digits', [...text('ID3'), 4, 0, 0, 0x80, 0, 0, 0, ...zeros(100)]],
    ['the free bit rate', [0xff, 0xfb, 0x00, 0x00, ...zeros(413), ...frame()]],
    ['layer II', [0xff, 0xfd, 0x90, 0x00, ...zeros(413), ...frame()]],
  ])('does not take %s for media', (_, bytes) => {
    expect(sniff(bytes)).toBeUndefined();
  });

  it('throws for no bytes whatever', () => {
    const heads = fc.constantFrom(png, jpeg(0xc0), [...id3(20), ...frames(2)], [...ftyp('isom'), ...box('moov', ...mvhd, ...track(1, 1))]);
    fc.assert(
      fc.property(heads, fc.array(fc.tuple(fc.nat(900), fc.nat(255)), { maxLength: 8 }), fc.nat(1000), (head, changes, length) => {
        const bytes = Uint8Array.from(head);
        for (const [at, byte] of changes) bytes[at] = byte;
        const { width = 1, height = 1, seconds = 1 } = sniffMedia(bytes.subarray(0, length), 5000) ?? {};
        expect([width, height, seconds].every((value) => Number.isFinite(value) && value >= 0)).toBe(true);
      }),
    );
  });
});
