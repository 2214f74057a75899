import { assertWanted } from '../../core/index.js';
import { awaitAtMost } from './await-at-most.js';
import { type ChildExit, type ChildProgram, startChild } from './child-process.js';

export interface ProgramResult {
  readonly exit: ChildExit;
  readonly isLate: boolean;
  /** The last 64 KiB of stdout and stderr. */
  readonly log: string;
  /** What it wrote to file descriptor 4, at most 64 KiB of it. */
  readonly answer: string;
}

/** Runs a program that ends by itself, and kills it with all it started when it does not do so in time or the signal comes (`core/cancelled`). */
export async function runProgram(program: ChildProgram, timeoutMs: number, signal?: AbortSignal): Promise<ProgramResult> {
  assertWanted(signal);
  const child = startChild(program, () => {});
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.fromChild.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes <= answerBytes) chunks.push(chunk);
  });
  const stop = () => child.kill();
  signal?.addEventListener('abort', stop, { once: true });
  const isLate = (await awaitAtMost(child.ended, timeoutMs)) === undefined;
  child.kill();
  const exit = await child.ended;
  signal?.removeEventListener('abort', stop);
  assertWanted(signal);
  return { exit, isLate, log: child.log.text(), answer: Buffer.concat(chunks).toString() };
}

const answerBytes = 64 * 1024;
