/**
 * The process of an onnx model that runs apart from modelport: `node onnx-child-worker.js ENGINE-FOLDER ENGINE-VERSION`, with the channel on the
 * file descriptors 3 and 4. Not a room's door: it is started, never imported.
 */
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { defaultLimits, type JsonObject, type NamedTensors, version } from '../../core/index.js';
import { type Channel, openChannel } from '../protocol/channel.js';
import { type Frame, type FrameType, protocolVersion } from '../protocol/frame.js';
import { toEngineWords } from './engine-words.js';
import { GraphFailure, toErrorFrame } from './graph-failure.js';
import { loadEngine } from './load-engine.js';
import { type Graph, type GraphPlan, openGraph } from './open-graph.js';

/** Milliseconds. The engine blocks this thread, so that another one notices when modelport has gone. */
const watchInterval = 500;
const watch = `
const { workerData } = require('node:worker_threads');
setInterval(() => process.ppid === workerData || process.kill(process.pid, 'SIGKILL'), ${watchInterval});
`;

const [, , engineFolder = '', engineVersion = ''] = process.argv;
const parent = process.ppid;
const channel = openChannel(
  new Socket({ fd: 3, readable: true, writable: false }),
  new Socket({ fd: 4, readable: false, writable: true }),
  defaultLimits,
  'modelport',
);

await serve().catch((error: unknown) => {
  process.exitCode = 1;
  process.stderr.write(`${toEngineWords(error)}\n`);
});
process.exit();

async function serve(): Promise<void> {
  await say(channel, 0, 'hello', { protocol: protocolVersion, runtime: 'onnx', version, frameworkVersion: engineVersion });
  new Worker(watch, { eval: true, workerData: parent, execArgv: [] }).unref();
  let graph: Graph | undefined;
  for (;;) {
    const question = await channel.receive();
    if (question === undefined || question.type === 'close') return;
    if (question.type === 'load') graph = await load(question);
    if (question.type === 'infer') await infer(graph, question);
    // A run is over when a `cancel` is read.
  }
}

/** Undefined after an answer that fails. */
async function load({ id, fields }: Frame): Promise<Graph | undefined> {
  try {
    const graph = await openGraph(loadEngine(engineFolder, true), fields['plan'] as GraphPlan, true);
    await say(channel, id, 'end');
    return graph;
  } catch (error) {
    await channel.send(toErrorFrame(id, error));
    return undefined;
  }
}

async function infer(graph: Graph | undefined, { id, tensors }: Frame): Promise<void> {
  try {
    if (graph === undefined) throw new GraphFailure('model', 'there is no graph');
    await say(channel, id, 'item', {}, await graph.infer(tensors));
    await say(channel, id, 'end');
  } catch (error) {
    await channel.send(toErrorFrame(id, error));
  }
}

function say(to: Channel, id: number, type: FrameType, fields: JsonObject = {}, tensors: NamedTensors = new Map()): Promise<void> {
  return to.send({ id, type, fields, tensors });
}
