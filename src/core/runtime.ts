import type { Finding } from './finding.js';
import type { TensorSpec } from './package.js';
import type { NamedTensors } from './tensor.js';

/** What a runtime has to know about a model before it starts it. The files lie in a folder that `start` is given. */
export interface RunnableModel {
  /** What the package is called in messages. */
  readonly location: string;
  /** As the package names it: `noop`, `python`, `torchscript`, `modelport/onnx`. */
  readonly runtime: string;
  /** Versions of the framework that it asks for, as a Rust semver requirement; absent: any. */
  readonly version?: string;
  /** Layout of the model folder, where the package states one. (Carton `runner_compat_version`) */
  readonly layoutVersion?: number;
  /** Text, booleans, integers as bigint and floats as number: runners tell 1 from 1.0. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
}

/** One option that a runtime knows. `name` may end in `*`: all with that beginning. */
export interface RuntimeOption {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'float' | 'boolean' | 'any';
  readonly default?: string | number | boolean;
  /** For `--help` and the docs. */
  readonly summary: string;
}

/** Whether a runtime can run a model here and now. `version` is that of the framework it found. */
export type Acceptance =
  | { readonly yes: true; readonly version: string; readonly findings: readonly Finding[] }
  | { readonly yes: false; readonly reason: string; readonly hint: string };

export interface RuntimeEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A folder of its own that lives as long as modelport's data, for environments and caches; made when needed. */
  readonly home: string;
  /** `cpu` (default), the index of a GPU, or its UUID. */
  readonly device?: string | undefined;
  /** Run although the framework has another version than the model asks for; said as a warning. */
  readonly anyVersion?: boolean | undefined;
  /**
   * Run in a process of its own also what could run in this one, so that it can be stopped, and a crash of the framework is an error. Runtimes
   * that always do, or run nothing, take no notice.
   */
  readonly isolated?: boolean | undefined;
  /** Nothing is fetched. */
  readonly offline?: boolean | undefined;
  /** Told of every line the model writes to stdout and stderr, as it comes. */
  readonly onLog?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Starts models of one kind. Nothing is downloaded and nothing runs before `start`. */
export interface Runtime {
  readonly id: string;
  readonly title: string;
  /** True when a model of this kind is a program, so that running it needs consent. */
  readonly runsCode: boolean;
  readonly options: readonly RuntimeOption[];
  /** Names under which packages ask for it. */
  readonly names: readonly string[];
  /** Asks the machine: which versions of the framework are there. */
  accepts(model: RunnableModel, environment: RuntimeEnvironment): Promise<Acceptance>;
  /**
   * Loads the model in `folder` (absolute, only read). Throws `runtime/not-available`, `runtime/failed` when the model cannot be loaded,
   * `runtime/crashed`, `runtime/timeout` after `timeoutMs`. Close the session.
   */
  start(model: RunnableModel, folder: string, environment: RuntimeEnvironment, timeoutMs: number): Promise<RuntimeSession>;
}

export interface InvokeOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A model that has been loaded. Calls come one after the other; a call that times out or is cancelled ends the session. */
export interface RuntimeSession {
  /** Of the framework: `3.11.7`, `1.13.1`. */
  readonly version: string;
  /** What was odd while loading. */
  readonly findings: readonly Finding[];
  /**
   * One inference. Of a model that streams, every result in order; the last one is the answer. Throws `runtime/failed` with the model's own words
   * (`bad-input` is for whoever checks before), `runtime/crashed` with the last log lines, `runtime/timeout`, `core/cancelled`.
   */
  invoke(inputs: NamedTensors, options: InvokeOptions): AsyncIterable<NamedTensors>;
  /** The last 64 KiB of what the model wrote to stdout and stderr. */
  log(): string;
  close(): Promise<void>;
}
