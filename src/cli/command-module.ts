import type { BaseCommand, RegistryUse } from './base-command.js';
import type { Cli } from './cli.js';

/** One worked example: what it does, and the command line. */
export type Example = readonly [purpose: string, line: string];

/** What a command's file exports. */
export interface CommandModule {
  /** Shown first in the help. */
  readonly examples: readonly Example[];
  /** Which options of registries it has; none without it. */
  readonly usesRegistries?: RegistryUse;
  /** Adds arguments, options and the action. */
  readonly define: (command: BaseCommand, cli: Cli) => void;
}
