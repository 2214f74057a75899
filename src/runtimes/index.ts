/**
 * runtimes: starts models and asks them: noop, python, torchscript, onnx. Is given a folder and tensors, whatever package they came in; reads no
 * package and asks nobody for consent. Whatever runs code of a package, or a framework that may crash, runs it in a process of its own.
 */
import type { Runtime } from '../core/index.js';
import { noopRuntime } from './noop/noop.js';
import { onnxRuntime } from './onnx/index.js';
import { pythonRuntime } from './python/python.js';
import { torchscriptRuntime } from './torchscript/torchscript.js';

export { judgeOptions } from './judge-options.js';

/** All runtimes of modelport. */
export const runtimes: readonly Runtime[] = [noopRuntime, pythonRuntime, torchscriptRuntime, onnxRuntime];

/** By the name under which a package asks for it. */
export function findRuntime(name: string): Runtime | undefined {
  return runtimes.find(({ names }) => names.includes(name));
}
