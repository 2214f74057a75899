import type { FailureReason, Frame } from '../protocol/frame.js';
import { toEngineWords } from './engine-words.js';

/** Why a graph is not loaded or does not run: the message says the reason alone, as whoever knows what the model is called says the rest. */
export class GraphFailure extends Error {
  readonly reason: FailureReason;
  readonly hint: string | undefined;

  constructor(reason: FailureReason, message: string, hint?: string) {
    super(message);
    this.reason = reason;
    this.hint = hint;
  }
}

/** The answer that fails; what is no failure of a graph is one of the model. */
export function toErrorFrame(id: number, error: unknown): Frame {
  const { reason, hint } = error instanceof GraphFailure ? error : new GraphFailure('model', '');
  const message = error instanceof GraphFailure ? error.message : toEngineWords(error);
  return { id, type: 'error', fields: { reason, message, ...(hint !== undefined && { hint }) }, tensors: new Map() };
}
