import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject, NamedTensors } from '../../../src/core/index.js';
import { encodeFrame } from '../../../src/runtimes/protocol/encode-frame.js';
import type { FrameType } from '../../../src/runtimes/protocol/frame.js';
import { findOnnxFolder } from './onnx.js';

const worker = fileURLToPath(new URL('../../../dist/onnx-child-worker.js', import.meta.url));

/** Starts the process of a model as a modelport would, asks it for both, and says its number once the graph is loaded. */
const parent = `
const [worker, engine, questions] = process.argv.slice(1);
const child = require('node:child_process').spawn(process.execPath, [worker, engine, '1.30.0'], {
  detached: true, stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
});
child.stdio[3].write(Buffer.from(questions, 'base64'));
child.stdio[4].on('data', (chunk) => chunk.includes('"end"') && console.log(child.pid));
`;

function toQuestion(id: number, type: FrameType, fields: JsonObject, tensors: NamedTensors): Uint8Array {
  return Buffer.concat(encodeFrame({ id, type, fields, tensors }));
}

/** The number of a process that works on a graph, after the one that had started it was killed. */
export async function orphanGraph(file: string, inputs: NamedTensors): Promise<number> {
  const plan = { file, inputs: [], outputs: [], settings: { providers: ['cpu'] } };
  const questions = Buffer.concat([toQuestion(1, 'load', { plan }, new Map()), toQuestion(2, 'infer', {}, inputs)]).toString('base64');
  const engine = join(findOnnxFolder(), 'node_modules/onnxruntime-node');
  const started = spawn(process.execPath, ['-e', parent, worker, engine, questions], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(started.stdout, 'data')) as [Buffer];
  started.kill('SIGKILL');
  await once(started, 'exit');
  return Number(line.toString());
}
