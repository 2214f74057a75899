/** A workbench for stories about cartons: a model that any machine can run, the program in this process, and servers beside it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { CliIo } from '../../src/cli/index.js';
import { runCli } from '../../src/cli/run-cli.js';
import { serveRegistry } from '../../src/ops/index.js';
import { writeNpy } from '../../src/tensors/index.js';
import type { CliDocument } from './cli-bench.js';
import { serve } from './http-bench.js';
import { createMemoryIo } from './memory-io.js';
import type { ProgramAnswer, ProgramRun } from './registry-bench.js';
import { numeric } from './tensors.js';
import { createWorkbench, type FileMap, type Workbench } from './workbench.js';

export interface CartonBench extends Omit<Workbench, 'close'> {
  /** The program in this process. */
  run(...args: readonly string[]): Promise<ProgramRun>;
  runIn(io: Partial<Pick<CliIo, 'stdin' | 'stderr' | 'signal' | 'env'>>, ...args: readonly string[]): Promise<ProgramRun>;
  /** With --json. Throws when standard output is not exactly one document. */
  json(...args: readonly string[]): Promise<ProgramAnswer>;
  jsonIn(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<ProgramAnswer>;
  /** Packs a folder of these files into `NAME.carton`. Throws what the program said when it could not. */
  pack(name: string, files: FileMap, ...args: readonly string[]): Promise<CliDocument>;
  /** Hex, of a file of the bench. */
  sha256(name: string): string;
  /** Ended before the folder is looked at: what runs in this process may hold a file of it open for a moment longer than its client waits. */
  endBefore(end: () => Promise<void>): void;
  close(): Promise<void>;
}

export function createCartonBench(): CartonBench {
  const bench = createWorkbench();
  const ends: (() => Promise<void>)[] = [];
  const runIn: CartonBench['runIn'] = async ({ env, ...io }, ...args) => {
    const memory = createMemoryIo({ cwd: bench.base, env: { HOME: bench.base, MODELPORT_HOME: bench.home, ...env }, ...(io as object) });
    const code = await runCli(args, memory);
    return { code, stdout: memory.stdout.text(), stderr: memory.stderr.text() };
  };
  const jsonIn: CartonBench['jsonIn'] = async (env, ...args) => {
    const { code, stdout, stderr } = await runIn({ env }, ...args, '--json');
    return { code, stderr, document: JSON.parse(stdout) as CliDocument };
  };
  return {
    ...bench,
    runIn,
    jsonIn,
    run: (...args) => runIn({}, ...args),
    json: (...args) => jsonIn({}, ...args),
    pack: async (name, files, ...args) => {
      bench.write(name, files);
      const { code, document, stderr } = await jsonIn({}, 'pack', `./${name}`, '--format', 'carton', '-o', `${name}.carton`, ...args);
      if (code !== 0) throw new Error(`${JSON.stringify(document)} ${stderr}`);
      return document;
    },
    sha256: (name) => sha256Of(readFileSync(bench.path(name))),
    endBefore: (end) => void ends.push(end),
    close: async () => {
      for (const end of ends.splice(0)) await end();
      bench.close();
    },
  };
}

export function sha256Of(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function floatsNpy(shape: readonly number[], ...values: readonly number[]): Uint8Array {
  return writeNpy(numeric('float32', shape, values));
}

/** As much of a PNG as says its size. */
export const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from([0, 0, 0, 3, 0, 0, 0, 2, 8, 2, 0, 0, 0]),
  Buffer.from('12d8d5f9', 'hex'),
]);

/** Gives back what it gets, under the name `x`: an output that is declared, tested and shown. */
export const echoToml = `[package]
name = "echo"
description = { file = "README.md" }
licenses = ["MIT"]

[files]
misc = ["media/**"]
test = ["tests/**"]

[[input]]
name = "x"
dtype = "float32"
shape = ["batch", 2]

[[output]]
name = "x"
dtype = "float32"
shape = ["batch", 2]

[[self_test]]
name = "same"
inputs = { x = "tests/x.npy" }
expected = { x = "tests/x.npy" }

[[example]]
name = "picture"
inputs = { x = "media/sample.png" }
sample_out = { x = "tests/x.npy" }

[run]
runtime = "noop"
version = "=1.0.0"
`;

export const echoModel: FileMap = {
  'modelport.toml': echoToml,
  'weights.bin': Buffer.alloc(100_000, 7),
  'config.json': '{"layers":1}\n',
  'README.md': '# Echo\n\n![what it sees](media/sample.png)\n',
  'media/sample.png': png,
  'tests/x.npy': floatsNpy([1, 2], 1, 2),
};

export interface WebFile {
  readonly bytes: string | Uint8Array;
  readonly encoding?: string;
  readonly status?: number;
}

export interface Web {
  readonly url: string;
  /** By path; may be changed. */
  readonly files: Record<string, WebFile>;
  /** Paths as they were asked for. */
  readonly asked: string[];
  readonly headers: IncomingHttpHeaders[];
}

/** A plain server of whole files, for one test. */
export async function serveWeb(files: Readonly<Record<string, WebFile>>): Promise<Web> {
  const web = { url: '', files: { ...files }, asked: [] as string[], headers: [] as IncomingHttpHeaders[] };
  const { url } = await serve((request, response) => {
    const path = request.url ?? '';
    web.asked.push(path);
    web.headers.push(request.headers);
    const file = web.files[path];
    if (file === undefined) return void response.writeHead(404).end();
    const bytes = Buffer.from(file.bytes as string);
    const encoding = file.encoding === undefined ? {} : { 'content-encoding': file.encoding };
    response.writeHead(file.status ?? 200, { 'content-length': bytes.byteLength, ...encoding }).end(bytes);
  });
  return Object.assign(web, { url });
}

/** The embedded registry over a folder of its own, for one test. Gives `HOST:PORT`. */
export async function serveStore(bench: CartonBench): Promise<string> {
  const end = new AbortController();
  const { started, ended } = await serveRegistry({ dir: 'served', listen: '127.0.0.1:0' }, bench.context({ signal: end.signal }));
  bench.endBefore(async () => {
    end.abort();
    await ended;
  });
  return started.address;
}
