/** Bytes `start` up to `end` that are there or on their way. */
interface Extent {
  readonly start: number;
  readonly end: number;
  readonly bytes: Promise<Uint8Array>;
}

interface Hole {
  readonly start: number;
  readonly end: number;
}

export interface KeptRangesOptions {
  readonly size: number;
  /** Gives exactly these bytes. */
  readonly fetch: (start: number, end: number) => Promise<Uint8Array>;
  /** All that is kept together. */
  readonly keptBytes: number;
  /** A request costs more than so many bytes: shorter reads bring what follows, and what lies between two holes is fetched again. */
  readonly gapBytes: number;
}

/** Pieces of something far away: what was read lately is kept, and what is on its way is not asked for twice. */
export class KeptRanges {
  readonly #options: KeptRangesOptions;
  /** The least recently used first. */
  #extents: Extent[] = [];

  constructor(options: KeptRangesOptions) {
    this.#options = options;
  }

  keep(start: number, bytes: Uint8Array): void {
    this.#add({ start, end: start + bytes.byteLength, bytes: Promise.resolve(bytes) });
  }

  has(start: number, end: number): boolean {
    return this.#holes(start, end).length === 0;
  }

  clear(): void {
    this.#extents = [];
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const found = this.#overlapping(start, end);
    const fetched = this.#merge(this.#holes(start, end)).map((hole) => this.#begin(hole));
    this.#use(found);
    const used = [...found, ...fetched];
    const result = new Uint8Array(end - start);
    const pieces = await Promise.all(used.map(async (extent) => ({ at: extent.start, bytes: await extent.bytes })));
    for (const { at, bytes } of pieces) {
      const from = Math.max(start, at);
      const to = Math.min(end, at + bytes.byteLength);
      result.set(bytes.subarray(from - at, to - at), from - start);
    }
    return result;
  }

  #overlapping(start: number, end: number): Extent[] {
    return this.#extents.filter((extent) => extent.start < end && start < extent.end);
  }

  #holes(start: number, end: number): Hole[] {
    const holes: Hole[] = [];
    let at = start;
    for (const extent of this.#overlapping(start, end).toSorted((a, b) => a.start - b.start)) {
      if (extent.start > at) holes.push({ start: at, end: extent.start });
      at = Math.max(at, extent.end);
    }
    if (at < end) holes.push({ start: at, end });
    return holes;
  }

  #merge(holes: readonly Hole[]): Hole[] {
    const merged: Hole[] = [];
    for (const hole of holes) {
      const last = merged.at(-1);
      if (last !== undefined && hole.start - last.end <= this.#options.gapBytes) merged[merged.length - 1] = { start: last.start, end: hole.end };
      else merged.push(hole);
    }
    return merged;
  }

  #begin({ start, end }: Hole): Extent {
    const next = Math.min(this.#options.size, ...this.#extents.filter((extent) => extent.start >= end).map((extent) => extent.start));
    const ahead = Math.max(end, Math.min(next, start + this.#options.gapBytes));
    const extent = { start, end: ahead, bytes: this.#options.fetch(start, ahead) };
    extent.bytes.catch(() => this.#remove(extent));
    this.#add(extent);
    return extent;
  }

  /** A long one would push out all others. */
  #add(extent: Extent): void {
    if (extent.end - extent.start > this.#options.keptBytes / 4) return;
    this.#extents.push(extent);
    let total = this.#extents.reduce((sum, { start, end }) => sum + end - start, 0);
    for (let oldest = this.#extents[0]; oldest !== undefined && total > this.#options.keptBytes; oldest = this.#extents[0]) {
      total -= oldest.end - oldest.start;
      this.#extents.shift();
    }
  }

  #use(extents: readonly Extent[]): void {
    const kept = extents.filter((extent) => this.#extents.includes(extent));
    this.#extents = [...this.#extents.filter((extent) => !kept.includes(extent)), ...kept];
  }

  #remove(extent: Extent): void {
    this.#extents = this.#extents.filter((each) => each !== extent);
  }
}
