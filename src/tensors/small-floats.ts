/** A binary float of 16 bits: a sign, `exponentBits`, `mantissaBits`, with subnormals, infinities and NaN as in IEEE 754. */
interface SmallFloat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
}

const layouts = {
  float16: { exponentBits: 5, mantissaBits: 10 },
  bfloat16: { exponentBits: 8, mantissaBits: 7 },
} as const satisfies Record<string, SmallFloat>;

export type SmallFloatName = keyof typeof layouts;

export function isSmallFloat(dtype: string): dtype is SmallFloatName {
  return dtype in layouts;
}

const tables = new Map<SmallFloatName, Float32Array>();

/** The value of each of the 65,536 bit patterns. Made once. */
export function smallFloatTable(dtype: SmallFloatName): Float32Array {
  const known = tables.get(dtype);
  if (known !== undefined) return known;
  const table = Float32Array.from({ length: 0x10000 }, (_, bits) => decode(bits, layouts[dtype]));
  tables.set(dtype, table);
  return table;
}

function decode(bits: number, { exponentBits, mantissaBits }: SmallFloat): number {
  const top = (1 << exponentBits) - 1;
  const exponent = (bits >> mantissaBits) & top;
  const fraction = (bits & ((1 << mantissaBits) - 1)) / 2 ** mantissaBits;
  const sign = bits & 0x8000 ? -1 : 1;
  const bias = top >> 1;
  if (exponent === top) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** (1 - bias) : sign * (1 + fraction) * 2 ** (exponent - bias);
}

/** The nearest value's bits, of two equally near the even ones; beyond the largest: infinity. */
export function encodeSmallFloat(value: number, dtype: SmallFloatName): number {
  const { exponentBits, mantissaBits } = layouts[dtype];
  const top = (1 << exponentBits) - 1;
  const bias = top >> 1;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const infinity = top << mantissaBits;
  if (Number.isNaN(value)) return infinity | (1 << (mantissaBits - 1));
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) return sign | infinity;
  // Patterns of one sign are ordered like their values, so rounding up may carry into the exponent and ends at infinity.
  const exponent = Math.max(binaryExponent(magnitude), 1 - bias);
  const steps = roundHalfEven(magnitude / 2 ** (exponent - mantissaBits));
  return sign | Math.min(((exponent + bias - 1) << mantissaBits) + steps, infinity);
}

const scratch = new DataView(new ArrayBuffer(8));

/** floor(log2) of a normal float64; -1023 for smaller ones, which are smaller than everything here anyway. */
function binaryExponent(magnitude: number): number {
  scratch.setFloat64(0, magnitude);
  return (scratch.getUint16(0) >> 4) - 1023;
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}
