import type { Finding, Limits, TensorInfo, TensorSpec } from '../core/index.js';
import type { ForwardReader } from './forward-reader.js';
import type { ExternalData } from './weight-file.js';

/** What the walk over one ONNX file gathers, and what it needs everywhere. */
export interface OnnxModel {
  readonly reader: ForwardReader;
  readonly limits: Limits;
  readonly tensors: TensorInfo[];
  readonly external: ExternalData[];
  readonly findings: Finding[];
  /** Calls by operator; other domains stand before it: `com.microsoft.Attention`. */
  readonly operators: Map<string, number>;
}

/** Of one graph; the outermost one is the model's. */
export interface OnnxGraph {
  name?: string;
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
  readonly initializers: Set<string>;
}

/** A hostile file could be wrong a million times; the first ones tell enough. */
const maxFindings = 100;

export function report(model: OnnxModel, code: string, message: string, where: string): void {
  if (model.findings.length < maxFindings) model.findings.push({ level: 'error', code, message, where });
}
