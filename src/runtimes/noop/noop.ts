import { assertWanted, createError, type InvokeOptions, type NamedTensors, type Runtime, type RuntimeSession } from '../../core/index.js';
import { refuseLayout } from '../refuse-layout.js';

/** It has no framework: this stands where others give the version of theirs. */
const version = '1.0.0';

/** Gives back what it is given; for tests of everything around a model. (Carton, runner noop) */
export const noopRuntime: Runtime = {
  id: 'noop',
  title: 'No operation',
  runsCode: false,
  options: [],
  names: ['noop'],
  accepts: (model) => Promise.resolve(refuseLayout(model) ?? { yes: true, version, findings: [] }),
  start: (model) => Promise.resolve(openSession(model.location)),
};

function openSession(location: string): RuntimeSession {
  let isOpen = true;
  return {
    version,
    findings: [],
    invoke: (inputs, { signal }) => answer(inputs, signal, () => isOpen || closed(location)),
    log: () => '',
    close: () => Promise.resolve(void (isOpen = false)),
  };
}

async function* answer(inputs: NamedTensors, signal: InvokeOptions['signal'], assertOpen: () => true): AsyncGenerator<NamedTensors> {
  assertOpen();
  assertWanted(signal);
  yield inputs;
}

function closed(location: string): never {
  throw createError('core/bug', { message: `Cannot use ${JSON.stringify(location)}: it is closed` });
}
