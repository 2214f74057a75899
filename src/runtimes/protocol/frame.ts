import type { JsonObject, NamedTensors } from '../../core/index.js';

/** Raised by whatever an older peer would misunderstand. */
export const protocolVersion = 1;

/**
 * A frame: magic, u32 little-endian length of the header, the header in JSON, then the bytes of the tensors in the order of the header, each
 * aligned to 8 bytes from the start of the frame by zeros. The next frame follows without a gap.
 */
export const frameMagic = 'MPR1';
export const frameAlignment = 8;
export const prefixBytes = 8;
export const headerLimit = 1024 * 1024;

/**
 * From the child: `hello` {protocol, runtime, version, frameworkVersion} with id 0 comes first, before anything is asked; then to each question
 * `item` (any number), and `end` or `error` {reason, message, traceback}. To the child: `load` {folder, …}, `infer`, `cancel` (the id says of
 * what; answered by the `end` of that), `close` (not answered). The end of the stream is a `close` too.
 */
export const frameTypes = ['hello', 'load', 'infer', 'item', 'end', 'error', 'cancel', 'close'] as const;
export type FrameType = (typeof frameTypes)[number];

/** What an `error` blames: the model's own code, what it was given or what it made, or that something is missing on this machine. */
export const failureReasons = ['model', 'input', 'output', 'missing'] as const;
export type FailureReason = (typeof failureReasons)[number];

export interface Frame {
  /** The parent counts its questions from 1; an answer carries the number of its question. */
  readonly id: number;
  readonly type: FrameType;
  /** The header without id, type and tensors. */
  readonly fields: JsonObject;
  readonly tensors: NamedTensors;
}
