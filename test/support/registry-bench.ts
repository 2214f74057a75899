/** A workbench with a registry beside it, and the program to go between them. */
import { Readable } from 'node:stream';
import { runCli } from '../../src/cli/run-cli.js';
import type { CliDocument } from './cli-bench.js';
import { createMemoryIo } from './memory-io.js';
import type { LogEntry } from './registry/request-log.js';
import { startTestRegistry, type TestRegistry, type TestRegistryOptions } from './registry/test-registry.js';
import { createWorkbench, tinyModel, type Workbench } from './workbench.js';

export interface ProgramRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramAnswer {
  readonly code: number;
  readonly document: CliDocument;
  readonly stderr: string;
}

export interface RegistryBench extends Workbench {
  readonly registry: TestRegistry;
  /** `HOST/tiny:v1`, which is not there yet; the folder `tiny` is the model. */
  readonly name: string;
  /** For the program, besides the home and the store. */
  readonly env: Record<string, string>;
  /** The program in this process, with `input` on standard input. */
  run(...args: readonly string[]): Promise<ProgramRun>;
  runWith(input: string, ...args: readonly string[]): Promise<ProgramRun>;
  /** With --json. Throws when standard output is not exactly one document. */
  json(...args: readonly string[]): Promise<ProgramAnswer>;
  /** What the registry is asked meanwhile. */
  requestsOf(work: () => Promise<unknown>): Promise<readonly LogEntry[]>;
  /** Registry and folder; throws when the registry itself stumbled. */
  end(): Promise<void>;
}

export async function createRegistryBench(options: TestRegistryOptions = {}): Promise<RegistryBench> {
  const bench = createWorkbench();
  const registry = await startTestRegistry(options);
  const env: Record<string, string> = {};
  const runWith = async (input: string, ...args: readonly string[]) => {
    const io = createMemoryIo({
      cwd: bench.base,
      env: { HOME: bench.base, MODELPORT_HOME: bench.home, ...env },
      stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    });
    const code = await runCli(args, io);
    return { code, stdout: io.stdout.text(), stderr: io.stderr.text() };
  };
  bench.write('tiny', tinyModel);
  return {
    ...bench,
    registry,
    name: `${registry.host}/tiny:v1`,
    env,
    run: (...args) => runWith('', ...args),
    runWith,
    json: async (...args) => {
      const { code, stdout, stderr } = await runWith('', ...args, '--json');
      return { code, stderr, document: JSON.parse(stdout) as CliDocument };
    },
    requestsOf: async (work) => {
      const before = registry.log.length;
      await work();
      return registry.log.slice(before);
    },
    end: async () => {
      await closeRegistry(registry).finally(() => bench.close());
    },
  };
}

/** Throws when the registry itself stumbled. */
export async function closeRegistry(registry: TestRegistry): Promise<void> {
  await registry.close();
  if (registry.mishaps.length > 0) throw new Error('Cannot trust the test registry: it stumbled', { cause: registry.mishaps[0] });
}
