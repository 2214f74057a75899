/** The checksum of zstd frames: XXH64 with seed 0. Node has none, and BigInt alone is too slow for the lanes. */
export class Xxhash64 {
  /** Four accumulators as pairs of high and low half. */
  readonly #lanes = new Int32Array(lanesAtStart.map(Number));
  readonly #rest = Buffer.alloc(stripeBytes);
  #restBytes = 0;
  #length = 0;

  update(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#length += bytes.byteLength;
    let at = 0;
    if (this.#restBytes > 0) {
      at = Math.min(stripeBytes - this.#restBytes, bytes.byteLength);
      this.#rest.set(bytes.subarray(0, at), this.#restBytes);
      this.#restBytes += at;
      if (this.#restBytes < stripeBytes) return;
      takeStripe(this.#lanes, new DataView(this.#rest.buffer, this.#rest.byteOffset, stripeBytes), 0);
    }
    for (; at + stripeBytes <= bytes.byteLength; at += stripeBytes) takeStripe(this.#lanes, view, at);
    this.#rest.set(bytes.subarray(at));
    this.#restBytes = bytes.byteLength - at;
  }

  digest(): bigint {
    let hash = this.#length >= stripeBytes ? this.#merged() : prime5;
    hash = wrap(hash + BigInt(this.#length));
    let at = 0;
    for (; at + 8 <= this.#restBytes; at += 8) hash = wrap(rotate(hash ^ round(this.#rest.readBigUInt64LE(at)), 27n) * prime1 + prime4);
    if (at + 4 <= this.#restBytes) {
      hash = wrap(rotate(hash ^ wrap(BigInt(this.#rest.readUInt32LE(at)) * prime1), 23n) * prime2 + prime3);
      at += 4;
    }
    for (; at < this.#restBytes; at++) hash = wrap(rotate(hash ^ wrap(BigInt(this.#rest[at] as number) * prime5), 11n) * prime1);
    return avalanche(hash);
  }

  #merged(): bigint {
    const lanes = [0, 2, 4, 6]
      .map((index) => (BigInt(this.#lanes[index] as number) << 32n) | BigInt((this.#lanes[index + 1] as number) >>> 0))
      .map(wrap);
    const rotations = [1n, 7n, 12n, 18n];
    let hash = wrap(lanes.reduce((sum, lane, index) => sum + rotate(lane, rotations[index] as bigint), 0n));
    for (const lane of lanes) hash = wrap((hash ^ round(lane)) * prime1 + prime4);
    return hash;
  }
}

const stripeBytes = 32;
const prime1 = 0x9e3779b185ebca87n;
const prime2 = 0xc2b2ae3d27d4eb4fn;
const prime3 = 0x165667b19e3779f9n;
const prime4 = 0x85ebca77c2b2ae63n;
const prime5 = 0x27d4eb2f165667c5n;
const lanesAtStart = [prime1 + prime2, prime2, 0n, -prime1].flatMap((lane) => [BigInt.asIntN(32, lane >> 32n), BigInt.asIntN(32, lane)]);

const wrap = (value: bigint) => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint) => wrap((value << bits) | (value >> (64n - bits)));
const round = (value: bigint) => wrap(rotate(wrap(value * prime2), 31n) * prime1);

function avalanche(hash: bigint): bigint {
  let mixed = wrap((hash ^ (hash >> 33n)) * prime2);
  mixed = wrap((mixed ^ (mixed >> 29n)) * prime3);
  return mixed ^ (mixed >> 32n);
}

/** The primes of the lanes in quarters of 16 bits, low first: products of two quarters fit 32 bits. */
const [a0, a1, aLow, aHigh] = [0xca87, 0x85eb, 0x85ebca87 | 0, 0x9e3779b1 | 0] as const;
const [b0, b1, bLow, bHigh] = [0xeb4f, 0x27d4, 0x27d4eb4f | 0, 0xc2b2ae3d | 0] as const;

/** High half of the product of two unsigned 32-bit numbers, the second in quarters. */
function highProduct(value: number, low: number, high: number): number {
  const valueLow = value & 0xffff;
  const valueHigh = value >>> 16;
  const first = Math.imul(valueHigh, low) >>> 0;
  const middle = (Math.imul(valueLow, low) >>> 16) + (first & 0xffff) + (Math.imul(valueLow, high) >>> 0);
  return (Math.imul(valueHigh, high) + (first >>> 16) + Math.floor(middle / 0x10000)) | 0;
}

/** lane = rotate(lane + input * prime2, 31) * prime1, for the four lanes. */
function takeStripe(lanes: Int32Array, view: DataView, at: number): void {
  for (let lane = 0; lane < 4; lane++) {
    const low = view.getInt32(at + lane * 8, true);
    const high = view.getInt32(at + lane * 8 + 4, true);
    const productHigh = (highProduct(low, b0, b1) + Math.imul(low, bHigh) + Math.imul(high, bLow)) | 0;
    const sumLow = ((lanes[lane * 2 + 1] as number) >>> 0) + (Math.imul(low, bLow) >>> 0);
    const sumHigh = ((lanes[lane * 2] as number) + productHigh + (sumLow > 0xffffffff ? 1 : 0)) | 0;
    const turnedHigh = (sumHigh << 31) | ((sumLow | 0) >>> 1);
    const turnedLow = ((sumLow | 0) << 31) | (sumHigh >>> 1);
    lanes[lane * 2] = (highProduct(turnedLow, a0, a1) + Math.imul(turnedLow, aHigh) + Math.imul(turnedHigh, aLow)) | 0;
    lanes[lane * 2 + 1] = Math.imul(turnedLow, aLow);
  }
}
