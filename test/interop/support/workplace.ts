import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, removeFolder } from './folders.js';
import { root } from './modelport.js';
import { runBeside } from './registry.js';
import { findTool, orThrow, type Outcome, type Surroundings, type Tool } from './tools.js';

export const program = join(root, 'dist/cli.js');

/** Per counter of `--verbose`: bytes, but for `requests`. */
export type Counted = Readonly<Record<'read' | 'hashed' | 'written' | 'skipped' | 'resumed' | 'sent' | 'received' | 'requests', number>>;

/** A verb that was run with --json and --verbose. */
export interface Told {
  readonly result: unknown;
  readonly counted: Counted;
}

interface Closable {
  close(): Promise<void>;
}

/**
 * A temporary folder that is also the home of everything that runs from here, so that nothing knows the logins of this machine. Programs run
 * beside this process, as the far sides may live in it. Close it: what was opened through it is closed too.
 */
export class Workplace {
  readonly folder = makeFolder();
  readonly store = join(this.folder, 'store');
  /** Where logins are kept. */
  readonly dockerConfig = join(this.folder, 'docker');
  readonly #opened: Closable[] = [];
  #scratch = 0;

  constructor() {
    mkdirSync(this.dockerConfig);
  }

  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const opened of this.#opened.splice(0).toReversed()) await opened.close().catch((error: unknown) => failures.push(error));
    removeFolder(this.folder);
    if (failures.length > 0) throw failures[0];
  }

  async open<T extends Closable>(opening: Promise<T>): Promise<T> {
    const opened = await opening;
    this.#opened.push(opened);
    return opened;
  }

  /** A path where nothing stands yet. */
  path(name = 'scratch'): string {
    this.#scratch++;
    return join(this.folder, `${this.#scratch}-${name}`);
  }

  run(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
    return runBeside(process.execPath, [program, ...args], this.#around(surroundings));
  }

  async must(args: readonly string[], surroundings: Surroundings = {}): Promise<string> {
    return orThrow('modelport', args, await this.run(args, surroundings));
  }

  async tell(args: readonly string[], surroundings: Surroundings = {}): Promise<Told> {
    const all = [...args, '--json', '--verbose'];
    const outcome = await this.run(all, surroundings);
    return { result: JSON.parse(orThrow('modelport', all, outcome)), counted: parseCounters(outcome.stderr) };
  }

  /** The document that a verb prints. */
  async json<T = unknown>(args: readonly string[], surroundings: Surroundings = {}): Promise<T> {
    return JSON.parse(await this.must([...args, '--json'], surroundings)) as T;
  }

  /** Ends by itself or by a signal of the caller, who waits for `ended`. */
  start(args: readonly string[], surroundings: Surroundings = {}): { readonly child: ChildProcess; readonly ended: Promise<unknown> } {
    const { cwd, env } = this.#around(surroundings);
    const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...process.env, ...env }, stdio: 'ignore' });
    return { child, ended: once(child, 'exit') };
  }

  runTool(tool: Tool, args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
    return runBeside(findTool(tool), args, this.#around(surroundings));
  }

  async tool(tool: Tool, args: readonly string[], surroundings: Surroundings = {}): Promise<string> {
    return orThrow(tool, args, await this.runTool(tool, args, surroundings));
  }

  #around({ cwd = this.folder, env = {}, ...rest }: Surroundings): Surroundings {
    const own = { HOME: this.folder, XDG_CONFIG_HOME: join(this.folder, 'config'), DOCKER_CONFIG: this.dockerConfig, MODELPORT_HOME: this.store };
    return { ...rest, cwd, env: { ...own, ...env } };
  }
}

function parseCounters(stderr: string): Counted {
  const counters = [...stderr.matchAll(/^(?:bytes )?(read|hashed|written|skipped|resumed|sent|received|requests) +(\d+)/gm)];
  return Object.fromEntries(counters.map(([, name, count]) => [name, Number(count)])) as Counted;
}
