import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../bytes/index.js';
import { createError, type Finding, hasErrors, type NamedTensors, type Tensor } from '../../core/index.js';
import { toInferenceOutput, writeTensorText, writeNpy } from '../../tensors/index.js';
import type { OpsContext } from '../context.js';
import { distinct } from '../package.js';
import { toAbsolute } from '../paths.js';
import type { RunResult } from '../results.js';
import { readInputs } from './input-values.js';
import { infer, openSession, type SessionOptions, toError } from './session.js';

export interface RunOptions extends SessionOptions {
  /** `NAME=VALUE` */
  readonly inputs?: readonly string[];
  /** Values in declared order. */
  readonly values?: readonly string[];
  /** A folder for the outputs, one file each; absent: they are in the result. */
  readonly output?: string;
}

/** One inference. Of a model that streams the last result is the answer. */
export async function run(options: RunOptions, context: OpsContext): Promise<RunResult> {
  const opened = await openSession(options, context);
  const inputs = readInputs({ named: options.inputs ?? [], positional: options.values ?? [] }, opened.model.inputs, context);
  let items = 0;
  let last: { readonly outputs: NamedTensors; readonly findings: readonly Finding[] } | undefined;
  for await (const item of infer(opened, inputs, context)) {
    items++;
    last = item;
  }
  if (last === undefined)
    throw createError('runtime/bad-output', {
      message: `Cannot use the answer of "${options.location}": the model gave none`,
      hint: 'A generator has to yield at least one result',
    });
  if (hasErrors(last.findings)) throw toError('runtime/bad-output', last.findings);
  const files = options.output === undefined ? undefined : writeOutputs(last.outputs, toAbsolute(options.output, context));
  return {
    runtime: { name: opened.runtime.id, version: opened.session.version },
    items,
    outputs: files === undefined ? [...last.outputs].map(([name, tensor]) => toInferenceOutput(name, tensor)) : [],
    ...(files === undefined ? {} : { files }),
    findings: distinct([...opened.findings, ...last.findings]),
  };
}

/** `NAME.npy`, or `NAME.json` for what NumPy has no portable file for: text, and ragged tensors. */
function writeOutputs(outputs: NamedTensors, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return [...outputs].map(([name, tensor]) => {
    const { extension, bytes } = encodeTensorFile(tensor);
    const path = join(folder, `${toFileName(name)}.${extension}`);
    replaceFile(path, bytes);
    return path;
  });
}

export function encodeTensorFile(tensor: Tensor): { readonly extension: 'npy' | 'json'; readonly bytes: Uint8Array } {
  return tensor.kind === 'numeric'
    ? { extension: 'npy', bytes: writeNpy(tensor) }
    : { extension: 'json', bytes: Buffer.from(writeTensorText(tensor)) };
}

/** Names of tensors are chosen by strangers. */
export function toFileName(name: string): string {
  const safe = name
    .replace(/[^\p{L}\p{N}._-]/gu, '_')
    .replace(/^\.+/, '_')
    .slice(0, 100);
  return safe === '' || /^(con|prn|aux|nul)$/i.test(safe) ? '_' : safe;
}
