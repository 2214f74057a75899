import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createError, type RuntimeSession } from '../../core/index.js';
import { childEnvironment } from '../child/child-environment.js';
import { startChildSession } from '../child/child-session.js';
import { isGpu } from './graph-settings.js';
import type { OnnxStart } from './onnx-start.js';

/** Beside the bundle, or where the build leaves it when the sources run as they are. */
const places = ['./onnx-child-worker.js', '../../../dist/onnx-child-worker.js'].map((place) => fileURLToPath(new URL(place, import.meta.url)));

/** Loads a graph in a process of its own, which sees the chosen GPU or none. It can be stopped at any time, and takes nobody along when it crashes. */
export async function startIsolated({ location, folder, engine, plan, findings, environment, timeoutMs }: OnnxStart): Promise<RuntimeSession> {
  const { env, device, onLog, signal } = environment;
  const program = places.find((place) => existsSync(place));
  if (program === undefined) {
    throw createError('runtime/not-available', {
      message: `Cannot run ${JSON.stringify(location)} in a process of its own: onnx-child-worker.js is not beside modelport`,
      hint: 'install modelport again, or bundle that file with it',
      where: location,
    });
  }
  const args = [program, engine.folder, engine.version];
  return startChildSession({
    location,
    program: { command: process.execPath, args, cwd: folder, env: childEnvironment(env, isGpu(device) ? device : undefined) },
    load: { plan },
    findings,
    timeoutMs,
    signal,
    onLog,
  });
}
