import { parseArgs } from 'node:util';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

export const sectionNames = ['model', 'many', 'registry', 'embedded', 'carton', 'onnx', 'start'] as const;

export type SectionName = (typeof sectionNames)[number];

export interface Options {
  /** Bytes of weights in the model. */
  readonly size: number;
  /** How many small files. */
  readonly files: number;
  readonly rounds: number;
  readonly sections: readonly SectionName[];
  /** Put the tables into docs/benchmarks.md. */
  readonly write: boolean;
  readonly help: boolean;
}

export const usage = `Usage: npm run bench -- [options]

Compares modelport with what the machine can do and with other tools, in turn, in one run.

  --size <bytes>    weights of the model, as 256M or 2G (default: 2G)
  --files <n>       small files (default: 20000)
  --rounds <n>      rounds of each step (default: 3)
  --only <section>  ${sectionNames.join(', ')} (repeatable)
  --write           put the tables into docs/benchmarks.md
  --help            show this help

A quick trial: npm run bench -- --size 256M --files 2000 --rounds 1
Data goes to $TMPDIR and /dev/shm, and is removed at the end.
`;

const defaults = { size: '2G', files: '20000', rounds: '3' } as const;

/** Throws an Error whose message can be shown. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      size: { type: 'string', default: defaults.size },
      files: { type: 'string', default: defaults.files },
      rounds: { type: 'string', default: defaults.rounds },
      only: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const sections = values.only.map(parseSection);
  if (values.write && sections.length > 0) throw new Error('Cannot use --write with --only: the page shows a whole run');
  return {
    size: parseSize(values.size),
    files: parseCount('files', values.files),
    rounds: parseCount('rounds', values.rounds),
    sections: sections.length === 0 ? sectionNames : sections,
    write: values.write,
    help: values.help,
  };
}

/** The command that does the same again. */
export function toCommandLine({ size, files, rounds, sections }: Options): string {
  const values = { size: toSizeText(size), files: String(files), rounds: String(rounds) };
  const changed = (['size', 'files', 'rounds'] as const).filter((name) => values[name] !== defaults[name]).map((name) => `--${name} ${values[name]}`);
  const only = sections === sectionNames ? ['--write'] : sections.map((name) => `--only ${name}`);
  return ['npm run bench --', ...changed, ...only].join(' ');
}

/** Smaller than the run that the targets are meant for. */
export function isTrial({ size, files }: Options): boolean {
  return size < parseSize(defaults.size) || files < Number(defaults.files);
}

function parseSection(text: string): SectionName {
  const section = sectionNames.find((name) => name === text);
  if (section === undefined) throw new Error(`Cannot use --only "${text}": the sections are ${sectionNames.join(', ')}`);
  return section;
}

function parseSize(text: string): number {
  const [, digits, unit] = /^(\d{1,4})([MG])$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`Cannot use --size "${text}": expected a number with M or G, as 256M`);
  return Math.max(1, Number(digits)) * (unit === 'M' ? MiB : GiB);
}

function toSizeText(size: number): string {
  return size % GiB === 0 ? `${size / GiB}G` : `${size / MiB}M`;
}

function parseCount(name: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`Cannot use --${name} "${text}": expected a number from 1 on`);
  return Number(text);
}
