import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Acceptance,
  type RunnableModel,
  type Runtime,
  type RuntimeEnvironment,
  type RuntimeOption,
  type RuntimeSession,
} from '../../core/index.js';
import { findModelFile } from '../find-model-file.js';
import { selectOptions } from '../judge-options.js';
import { toOptionFields } from '../protocol/option-fields.js';
import { chooseInterpreter, type Wanted } from '../python/choose-interpreter.js';
import { requireInterpreter, startPython } from '../python/start-python.js';
import { refuseLayout } from '../refuse-layout.js';

const options: readonly RuntimeOption[] = [
  { name: 'num_threads', type: 'integer', summary: 'Threads within one operator; default: as many as there are cores' },
  { name: 'num_interop_threads', type: 'integer', summary: 'Threads across operators; default: as many as there are cores' },
];

/** TorchScript files, in a Python that has torch. They are programs: they may read and write files. (Carton, runner torchscript) */
export const torchscriptRuntime: Runtime = {
  id: 'torchscript',
  title: 'TorchScript',
  runsCode: true,
  options,
  names: ['torchscript'],
  accepts,
  start,
};

/** Built from the sources of 1.13, as distributions do, torch calls itself `1.13.0a0+gitunknown`; that is no pre-release. */
const sourceBuild = /a0\+git\w*$/;

const wanted: Wanted = {
  framework: 'torch',
  versionOf: ({ torch }) => (torch === undefined ? undefined : (torch.version ?? 'unknown').replace(sourceBuild, '')),
  isComplete: ({ numpy }) => numpy !== undefined,
  installHint: 'Install PyTorch and NumPy into a Python 3: python3 -m pip install torch numpy',
};

const runnerFile = fileURLToPath(new URL('./torchscript_runner.py', import.meta.url));

async function accepts(model: RunnableModel, environment: RuntimeEnvironment): Promise<Acceptance> {
  const refused = refuseLayout(model);
  if (refused !== undefined) return refused;
  const choice = await chooseInterpreter(model, wanted, environment);
  return choice.kind === 'none'
    ? { yes: false, reason: choice.reason, hint: choice.hint }
    : { yes: true, version: choice.version, findings: choice.findings };
}

async function start(model: RunnableModel, folder: string, environment: RuntimeEnvironment, timeoutMs: number): Promise<RuntimeSession> {
  const { location } = model;
  const deadline = performance.now() + timeoutMs;
  const file = basename(await findModelFile(folder, location, '.pt'));
  const { path: python } = await requireInterpreter(model, wanted, environment);
  const load = {
    file,
    device: environment.device ?? 'cpu',
    inputs: model.inputs.map(({ name }) => name),
    outputs: model.outputs.map(({ name }) => name),
    options: toOptionFields(selectOptions(model.options, options)),
  };
  return startPython({ location, python, runnerFile, folder, load, findings: [], deadline }, environment);
}
