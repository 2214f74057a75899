/** What a file is, by its content. Extents in pixels; of a video those of its largest track. Absent: not said, or not in the bytes at hand. */
export interface Media {
  readonly type: 'image/png' | 'image/jpeg' | 'audio/mpeg' | 'video/mp4';
  readonly width?: number;
  readonly height?: number;
  /** Of an MP3 without a count of its frames an estimate. */
  readonly seconds?: number;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Four letters, as MP4, PNG and MP3 tags have them; shorter at the end of the bytes. */
export function letters(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
