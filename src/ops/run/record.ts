import { createError, type Finding, type NamedTensors, type Samples, type TensorSpec } from '../../core/index.js';
import type { OpsContext } from '../context.js';
import type { SamplesWritten } from '../results.js';
import { recordInCarton } from './record-carton.js';
import { recordInFolder } from './record-folder.js';
import { findRecordTarget, type RecordTarget } from './record-target.js';
import type { RecordedSample } from './recorded-sample.js';
import type { Runnable } from './runnable.js';
import type { OpenSession } from './session.js';

export interface RecordOptions {
  /** The name under which inputs and outputs are kept. */
  readonly record?: string;
  /** A self test, which is the default, or an example. */
  readonly recordAs?: 'self-test' | 'example';
  /** Of a carton the new one: a file, or a name. */
  readonly to?: string;
}

/** What is to be recorded where, once the model has answered. */
export interface Recording {
  readonly name: string;
  readonly kind: RecordedSample['kind'];
  readonly target: RecordTarget;
}

/** Undefined when nothing shall be recorded. Asked before the model runs; throws `ops/bad-option` for a name that is taken, and for options alone. */
export async function planRecording({ record, recordAs, to }: RecordOptions, runnable: Runnable, location: string): Promise<Recording | undefined> {
  if (record === undefined) {
    const lonely = recordAs !== undefined ? '--as' : to !== undefined ? '--to' : undefined;
    if (lonely === undefined) return undefined;
    throw createError('ops/bad-option', { message: `Cannot use ${lonely} without --record: nothing is kept`, hint: 'Add --record NAME' });
  }
  const kind = recordAs ?? 'self-test';
  if (record.trim() === '') throw createError('ops/bad-option', { message: 'Cannot record under an empty name', hint: '--record NAME' });
  const target = await findRecordTarget(runnable, location, to);
  assertFree(record, kind, runnable.pkg.samples, location);
  return { name: record, kind, target };
}

function assertFree(name: string, kind: RecordedSample['kind'], samples: Samples | undefined, location: string): void {
  const existing: readonly { readonly name?: string }[] = (kind === 'self-test' ? samples?.selfTests : samples?.examples) ?? [];
  if (!existing.some((each) => each.name === name)) return;
  throw createError('ops/bad-option', {
    message: `Cannot record ${JSON.stringify(name)}: "${location}" has ${kind === 'self-test' ? 'a self test' : 'an example'} of that name`,
    hint: kind === 'self-test' ? 'Choose another name; `modelport test --update` changes what one expects' : 'Choose another name',
  });
}

/** Writes what went in and came out. */
export async function writeRecording(
  { name, kind, target }: Recording,
  opened: OpenSession,
  inputs: NamedTensors,
  answer: NamedTensors,
  context: OpsContext,
): Promise<{ readonly written: SamplesWritten; readonly findings: readonly Finding[] }> {
  const { outputs, findings } = onlyDeclared(answer, opened.model.outputs);
  const sample: RecordedSample = { kind, name, description: describeRuntime(opened), inputs, outputs };
  if (target.kind === 'folder') return { written: await recordInFolder(target.source, sample, context), findings };
  const { description } = sample;
  const added =
    kind === 'self-test' ? { selfTests: [{ name, description, inputs, expected: outputs }] } : { examples: [{ name, description, inputs, outputs }] };
  const { findings: more, ...place } = await recordInCarton(target, added, context);
  return { written: { kind, samples: [name], ...place }, findings: [...findings, ...more] };
}

/** `Recorded with onnx 1.20.1` */
export function describeRuntime({ runtime, session }: OpenSession): string {
  return `Recorded with ${runtime.id} ${session.version}`;
}

/** A test may expect only outputs that the model declares, where it declares any. */
export function onlyDeclared(
  tensors: NamedTensors,
  specs: readonly TensorSpec[],
): { readonly outputs: NamedTensors; readonly findings: readonly Finding[] } {
  const isDeclared = (name: string) => specs.length === 0 || specs.some((spec) => spec.name === name);
  const others = [...tensors.keys()].filter((name) => !isDeclared(name));
  return {
    outputs: new Map([...tensors].filter(([name]) => isDeclared(name))),
    findings: others.map((name) => ({
      level: 'note',
      code: 'record/left-out',
      message: `The output ${JSON.stringify(name)} is not recorded, as the model does not declare it`,
      where: name,
    })),
  };
}
