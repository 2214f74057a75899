import { fileURLToPath } from 'node:url';
import {
  type Acceptance,
  type Finding,
  type RunnableModel,
  type Runtime,
  type RuntimeEnvironment,
  type RuntimeOption,
  type RuntimeSession,
} from '../../core/index.js';
import { selectOptions } from '../judge-options.js';
import { toOptionFields } from '../protocol/option-fields.js';
import { refuseLayout } from '../refuse-layout.js';
import { chooseInterpreter, type Wanted } from './choose-interpreter.js';
import { openEnvironment } from './environment.js';
import type { Interpreter } from './interpreter.js';
import { readPackages } from './packages.js';
import { notAvailable, requireInterpreter, startPython } from './start-python.js';

const options: readonly RuntimeOption[] = [
  { name: 'entrypoint_package', type: 'text', default: 'main', summary: 'Module that the model begins in, with dots, from the root of its folder' },
  { name: 'entrypoint_fn', type: 'text', default: 'get_model', summary: 'Function of that module that makes the model' },
  { name: 'model.*', type: 'any', summary: 'Keyword argument of that function' },
];

/** Models that are Python code, in an environment that is made for them. (Carton, runner python) */
export const pythonRuntime: Runtime = { id: 'python', title: 'Python', runsCode: true, options, names: ['python'], accepts, start };

const wanted: Wanted = {
  framework: 'Python',
  versionOf: ({ version }) => version,
  isComplete: ({ numpy }) => numpy !== undefined,
  installHint: 'Install that version of Python 3, with NumPy',
};

const runnerFile = fileURLToPath(new URL('./runner.py', import.meta.url));

async function accepts(model: RunnableModel, environment: RuntimeEnvironment): Promise<Acceptance> {
  const refused = refuseLayout(model);
  if (refused !== undefined) return refused;
  const choice = await chooseInterpreter(model, wanted, environment);
  if (choice.kind === 'none') return { yes: false, reason: choice.reason, hint: choice.hint };
  return { yes: true, version: choice.version, findings: [...choice.findings, ...judgeNumpy(choice.interpreter)] };
}

/** Whether the lock file brings it is known only when the folder is there. */
function judgeNumpy({ path, version, numpy }: Interpreter): readonly Finding[] {
  if (numpy !== undefined) return [];
  const message = `Python ${version} (${path}) has no NumPy: the model runs only if its lock file brings it`;
  return [{ level: 'warning', code: 'runtime/no-numpy', message, hint: installNumpy(path) }];
}

function installNumpy(path: string): string {
  return `Install it: "${path}" -m pip install numpy; or name a Python that has it in MODELPORT_PYTHON`;
}

async function start(model: RunnableModel, folder: string, environment: RuntimeEnvironment, timeoutMs: number): Promise<RuntimeSession> {
  const { location } = model;
  const deadline = performance.now() + timeoutMs;
  const interpreter = await requireInterpreter(model, wanted, environment);
  const packages = await readPackages(folder, interpreter, location);
  if (interpreter.numpy === undefined && !packages.bringsNumpy) {
    throw notAvailable(location, `Python ${interpreter.version} (${interpreter.path}) has no NumPy`, installNumpy(interpreter.path));
  }
  const python = await openEnvironment(interpreter, packages, { ...environment, folder, location, timeoutMs: deadline - performance.now() });
  const load = {
    options: toOptionFields(selectOptions(model.options, options)),
    ...(interpreter.numpy !== undefined && { numpy: interpreter.numpy.folder }),
  };
  return startPython({ location, python, runnerFile, folder, load, findings: packages.findings, deadline }, environment);
}
