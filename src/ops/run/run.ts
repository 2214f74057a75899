import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../bytes/index.js';
import { createError, hasErrors, type NamedTensors } from '../../core/index.js';
import { toInferenceOutput } from '../../tensors/index.js';
import type { OpsContext } from '../context.js';
import { distinct } from '../package.js';
import { toAbsolute } from '../paths.js';
import type { RunResult } from '../results.js';
import { readInputs } from './input-values.js';
import { planRecording, type RecordOptions, writeRecording } from './record.js';
import { openRunnable } from './runnable.js';
import { infer, type Inferred, judgeInputs, type SessionOptions, startSession, toError } from './session.js';
import { toTensorFiles } from './tensor-files.js';

export interface RunOptions extends SessionOptions, RecordOptions {
  /** `NAME=VALUE` */
  readonly inputs?: readonly string[];
  /** Values in declared order. */
  readonly values?: readonly string[];
  /** A folder for the outputs, one file each; absent: they are in the result. */
  readonly output?: string;
}

/** One inference. Of a model that streams the last result is the answer. */
export async function run(options: RunOptions, context: OpsContext): Promise<RunResult> {
  const runnable = await openRunnable(options, context);
  const recording = await planRecording(options, runnable, options.location);
  const inputs = readInputs({ named: options.inputs ?? [], positional: options.values ?? [] }, runnable.model.inputs, context);
  const opened = await startSession(runnable, options, context);
  const judged = judgeInputs(inputs, opened);
  if (hasErrors(judged.findings)) throw toError('runtime/bad-input', judged.findings);
  let items = 0;
  let last: Inferred | undefined;
  for await (const item of infer(opened, judged, context)) {
    items++;
    last = item;
  }
  if (last === undefined)
    throw createError('runtime/bad-output', {
      message: `Cannot use the answer of "${options.location}": the model gave none`,
      hint: 'A generator has to yield at least one result',
    });
  if (hasErrors(last.findings)) throw toError('runtime/bad-output', last.findings);
  const recorded = recording === undefined ? undefined : await writeRecording(recording, opened, inputs, last.outputs, context);
  const files = options.output === undefined ? undefined : writeOutputs(last.outputs, toAbsolute(options.output, context));
  return {
    runtime: { name: opened.runtime.id, version: opened.session.version },
    items,
    outputs: files === undefined ? [...last.outputs].map(([name, tensor]) => toInferenceOutput(name, tensor)) : [],
    ...(files === undefined ? {} : { files }),
    ...(recorded === undefined ? {} : { written: recorded.written }),
    findings: distinct([...opened.findings, ...last.findings, ...(recorded?.findings ?? [])]),
  };
}

function writeOutputs(outputs: NamedTensors, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return toTensorFiles(outputs).map(({ file, bytes }) => {
    const path = join(folder, file);
    replaceFile(path, bytes);
    return path;
  });
}
