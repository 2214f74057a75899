import {
  type Acceptance,
  assertWanted,
  createError,
  matchesVersion,
  parseVersionRequirement,
  type RunnableModel,
  type Runtime,
  type RuntimeEnvironment,
  type RuntimeOption,
  type RuntimeSession,
} from '../../core/index.js';
import { selectOptions } from '../judge-options.js';
import { refuseLayout } from '../refuse-layout.js';
import { oldestEngine } from './engine.js';
import { engineName, findEngine, installHint } from './find-engine.js';
import { findModelFile } from '../find-model-file.js';
import { isGpu, readGraphSettings } from './graph-settings.js';
import { startInProcess } from './start-in-process.js';
import { startIsolated } from './start-isolated.js';

const options: readonly RuntimeOption[] = [
  { name: 'intra_op_num_threads', type: 'integer', default: 0, summary: 'Threads within one operator; 0: as many as there are cores' },
  { name: 'inter_op_num_threads', type: 'integer', default: 0, summary: 'Threads across operators; 0: as many as there are cores' },
  {
    name: 'providers',
    type: 'text',
    summary: 'Execution providers of onnxruntime in order of preference, with commas; default: cpu, or cuda on a GPU',
  },
];

/** ONNX graphs, by the optional peer onnxruntime-node. A graph is no program, so running it needs no consent. */
export const onnxRuntime: Runtime = {
  id: 'onnx',
  title: 'ONNX Runtime',
  runsCode: false,
  options,
  names: ['modelport/onnx', 'onnx'],
  accepts: (model, environment) => Promise.resolve(accept(model, environment)),
  start,
};

function accept(model: RunnableModel, { env, anyVersion = false }: RuntimeEnvironment): Acceptance {
  const engine = findEngine(env);
  if (engine.kind === 'missing') return { yes: false, reason: engine.reason, hint: engine.hint };
  const { version } = engine;
  const refused = refuseLayout(model);
  if (refused !== undefined) return refused;
  if (judgeVersion(`>=${oldestEngine}`, version) !== undefined) {
    return { yes: false, reason: `${engineName} ${version} is older than ${oldestEngine}`, hint: installHint };
  }
  const problem = model.version === undefined ? undefined : judgeVersion(model.version, version);
  if (problem === undefined) return { yes: true, version, findings: [] };
  if (!anyVersion)
    return { yes: false, reason: problem, hint: `install that version of ${engineName}, or run it with this one: --framework-version '*'` };
  return { yes: true, version, findings: [{ level: 'warning', code: 'runtime/other-version', message: problem }] };
}

/** Undefined when the version is meant. */
function judgeVersion(text: string, version: string): string | undefined {
  const requirement = parseVersionRequirement(text);
  if ('problem' in requirement) return `${JSON.stringify(text)} is no version requirement: ${requirement.problem}`;
  return matchesVersion(requirement, version) ? undefined : `it asks for onnxruntime ${JSON.stringify(text)}, and ${version} is here`;
}

/** In this process, unless isolation is asked for, or there is one GPU to be seen: which one, is settled when a process starts. */
async function start(model: RunnableModel, folder: string, environment: RuntimeEnvironment, timeoutMs: number): Promise<RuntimeSession> {
  const { location, inputs, outputs } = model;
  const engine = findEngine(environment.env);
  if (engine.kind === 'missing') {
    throw createError('runtime/not-available', {
      message: `Cannot run ${JSON.stringify(location)}: ${engine.reason}`,
      hint: engine.hint,
      where: location,
    });
  }
  assertWanted(environment.signal);
  const file = await findModelFile(folder, location, '.onnx');
  const { settings, findings } = readGraphSettings(selectOptions(model.options, options), environment.device);
  const settled = { location, folder, engine, plan: { file, inputs, outputs, settings }, findings, environment, timeoutMs };
  return environment.isolated === true || isGpu(environment.device) ? startIsolated(settled) : startInProcess(settled);
}
