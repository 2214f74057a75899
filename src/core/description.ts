import type { Capabilities, Identity, Role, Run, TensorSpec } from './package.js';

/**
 * The neutral description of a package, as modelport.toml spells it (docs/modelport-toml.md) and as a Modelfile or a
 * Kitfile is translated to. Every format is written from it. All of it is optional: what is absent is read from the files.
 */
export interface Description {
  /** The file it came from, for messages; absent when nothing was written down. */
  readonly origin?: string;
  readonly identity: Identity;
  /** A Markdown file whose text is the description; relative to the folder. */
  readonly descriptionFile?: string;
  readonly weights: {
    readonly architecture?: string;
    readonly format?: string;
    readonly parameters?: number;
    /** As a Modelfile gives it, when no exact number is known. */
    readonly paramSize?: string;
    readonly precision?: string;
    readonly quantization?: string;
  };
  readonly capabilities: Capabilities;
  readonly files: FileRules;
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly selfTests: readonly SelfTestDescription[];
  readonly examples: readonly ExampleDescription[];
  readonly run: Run;
  /** `run.options` with the types that they were written with: integers are bigint, floats number. Runners tell 1 from 1.0. */
  readonly typedOptions?: Readonly<Record<string, unknown>>;
  /** `[format.<id>]`, judged by that format's writer. */
  readonly format: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Globs by role (`*`, `?`, `[…]`, `**`; relative to the folder). With a role given, its files are named, not guessed. */
export interface FileRules {
  readonly byRole: Partial<Readonly<Record<Role, readonly string[]>>>;
  readonly ignore: readonly string[];
  /** Those of `other` that go with the examples and the description of the package: pictures, sound. */
  readonly misc?: readonly string[];
  /** True for a Modelfile or Kitfile: only what it names is packed. */
  readonly onlyNamed: boolean;
}

export interface SelfTestDescription {
  readonly name?: string;
  readonly description?: string;
  /** Tensor name → file. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly expected?: Readonly<Record<string, string>>;
  readonly rtol?: number;
  readonly atol?: number;
}

export interface ExampleDescription {
  readonly name?: string;
  readonly description?: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly sampleOut: Readonly<Record<string, string>>;
}

export const emptyDescription: Description = {
  identity: {},
  weights: {},
  capabilities: {},
  files: { byRole: {}, ignore: [], onlyNamed: false },
  inputs: [],
  outputs: [],
  selfTests: [],
  examples: [],
  run: {},
  format: {},
};
