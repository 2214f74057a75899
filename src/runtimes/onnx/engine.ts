/**
 * The part of onnxruntime-node that modelport uses, declared here: the package is an optional peer, so that its own declarations may be absent.
 */
export interface OnnxEngine {
  readonly Tensor: new (type: string, data: EngineData, dims: readonly number[]) => EngineTensor;
  readonly InferenceSession: { create(path: string, options: EngineOptions): Promise<EngineSession> };
  /** Taken by the engine when its first session is made; that of a later one changes nothing. */
  readonly env: { logLevel?: string };
  listSupportedBackends(): readonly { readonly name: string }[];
}

type EngineArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array;

export type EngineData = EngineArray | readonly string[];

export interface EngineTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: EngineData;
}

export interface EngineOptions {
  readonly executionProviders: readonly (string | { readonly name: string; readonly deviceId: number })[];
  readonly intraOpNumThreads?: number;
  readonly interOpNumThreads?: number;
  /** 0 says all, 4 says only what ends the process. */
  readonly logSeverityLevel: 2 | 4;
}

/** What the graph says of an input or output. Sequences and maps are no tensors. A free dimension is its symbol, or empty text. */
export type EngineValue =
  | { readonly name: string; readonly isTensor: false }
  | { readonly name: string; readonly isTensor: true; readonly type: string; readonly shape: readonly (number | string)[] };

export interface EngineSession {
  readonly inputMetadata: readonly EngineValue[];
  readonly outputMetadata: readonly EngineValue[];
  /** Blocks the thread until the answer is there. Rejects with what the engine says. */
  run(feeds: Readonly<Record<string, EngineTensor>>, fetches: readonly string[]): Promise<Readonly<Record<string, EngineTensor>>>;
  release(): Promise<void>;
}

/** The oldest that tells names and types of a graph's inputs and outputs. */
export const oldestEngine = '1.22.0';
