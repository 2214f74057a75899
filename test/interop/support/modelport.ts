import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execute, orThrow, type Outcome, type Surroundings } from './tools.js';

export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** The parts of `inspect --json` that the suite looks at. */
export interface Inspection {
  readonly format: string;
  readonly vintage?: string;
  readonly digest: string;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly parts: readonly { readonly role: string; readonly path: string; readonly size: number }[];
  readonly extra: Readonly<Record<string, unknown>>;
  readonly findings: readonly { readonly level: string; readonly code: string }[];
}

export interface ListedFile {
  readonly path: string;
  readonly size: number;
  readonly digest: string | null;
  readonly mode: string | null;
}

/** modelport as it is shipped, with a store of its own. */
export class Modelport {
  constructor(readonly home: string) {}

  run(args: readonly string[], surroundings: Surroundings = {}): Outcome {
    const env = { MODELPORT_HOME: this.home, ...surroundings.env };
    return execute(process.execPath, [join(root, 'dist/cli.js'), ...args], { ...surroundings, env });
  }

  must(args: readonly string[], surroundings: Surroundings = {}): string {
    return orThrow('modelport', args, this.run(args, surroundings));
  }

  /** The document that a verb prints with --json. */
  json(args: readonly string[]): unknown {
    return JSON.parse(this.must([...args, '--json']));
  }

  inspect(location: string): Inspection {
    return this.json(['inspect', location]) as Inspection;
  }

  /** Sorted by path. */
  ls(location: string): ListedFile[] {
    const { files } = this.json(['ls', location]) as { files: ListedFile[] };
    return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Returns the folder, for reading it. */
  unpack(location: string, folder: string): string {
    this.must(['unpack', location, '-o', folder]);
    return folder;
  }
}
