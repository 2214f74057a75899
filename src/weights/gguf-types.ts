/** How ggml lays out one tensor type: `elements` values share a block of `bytes` bytes. */
export interface GgufTensorType {
  /** Neutral dtype name, or ggml's own for a quantised type. */
  readonly name: string;
  readonly elements: number;
  readonly bytes: number;
}

const rows: readonly (readonly [code: number, name: string, elements: number, bytes: number])[] = [
  [0, 'float32', 1, 4],
  [1, 'float16', 1, 2],
  [2, 'Q4_0', 32, 18],
  [3, 'Q4_1', 32, 20],
  [6, 'Q5_0', 32, 22],
  [7, 'Q5_1', 32, 24],
  [8, 'Q8_0', 32, 34],
  [9, 'Q8_1', 32, 36],
  [10, 'Q2_K', 256, 84],
  [11, 'Q3_K', 256, 110],
  [12, 'Q4_K', 256, 144],
  [13, 'Q5_K', 256, 176],
  [14, 'Q6_K', 256, 210],
  [15, 'Q8_K', 256, 292],
  [16, 'IQ2_XXS', 256, 66],
  [17, 'IQ2_XS', 256, 74],
  [18, 'IQ3_XXS', 256, 98],
  [19, 'IQ1_S', 256, 50],
  [20, 'IQ4_NL', 32, 18],
  [21, 'IQ3_S', 256, 110],
  [22, 'IQ2_S', 256, 82],
  [23, 'IQ4_XS', 256, 136],
  [24, 'int8', 1, 1],
  [25, 'int16', 1, 2],
  [26, 'int32', 1, 4],
  [27, 'int64', 1, 8],
  [28, 'float64', 1, 8],
  [29, 'IQ1_M', 256, 56],
  [30, 'bfloat16', 1, 2],
  [34, 'TQ1_0', 256, 54],
  [35, 'TQ2_0', 256, 66],
  [39, 'MXFP4', 32, 17],
  [40, 'NVFP4', 64, 36],
  [41, 'Q1_0', 128, 18],
  [42, 'Q2_0', 64, 18],
];

const byCode = new Map<number, GgufTensorType>(rows.map(([code, name, elements, bytes]) => [code, { name, elements, bytes }]));

/** Undefined for types that ggml has removed (4, 5, 31–33, 36–38) or does not know yet. */
export function findGgufTensorType(code: number): GgufTensorType | undefined {
  return byCode.get(code);
}

/** `general.file_type`, the enum llama_ftype. (The enum of the same name in ggml.h has other numbers.) */
const fileTypes: Readonly<Record<number, string>> = {
  0: 'F32',
  1: 'F16',
  2: 'Q4_0',
  3: 'Q4_1',
  4: 'Q4_1_SOME_F16',
  7: 'Q8_0',
  8: 'Q5_0',
  9: 'Q5_1',
  10: 'Q2_K',
  11: 'Q3_K_S',
  12: 'Q3_K_M',
  13: 'Q3_K_L',
  14: 'Q4_K_S',
  15: 'Q4_K_M',
  16: 'Q5_K_S',
  17: 'Q5_K_M',
  18: 'Q6_K',
  19: 'IQ2_XXS',
  20: 'IQ2_XS',
  21: 'Q2_K_S',
  22: 'IQ3_XS',
  23: 'IQ3_XXS',
  24: 'IQ1_S',
  25: 'IQ4_NL',
  26: 'IQ3_S',
  27: 'IQ3_M',
  28: 'IQ2_S',
  29: 'IQ2_M',
  30: 'IQ4_XS',
  31: 'IQ1_M',
  32: 'BF16',
  36: 'TQ1_0',
  37: 'TQ2_0',
  38: 'MXFP4_MOE',
  39: 'NVFP4',
  40: 'Q1_0',
  41: 'Q2_0',
};

/** The writer sets it when the file type was guessed from the tensors. */
const guessedBit = 1024;

export function findGgufFileType(value: unknown): string | undefined {
  return typeof value === 'number' ? fileTypes[value & ~guessedBit] : undefined;
}
