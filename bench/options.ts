import { parseArgs } from 'node:util';

export const sectionNames = ['model', 'many', 'start'] as const;

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

/** Throws an Error whose message can be shown. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      size: { type: 'string', default: '2G' },
      files: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '3' },
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

function parseSection(text: string): SectionName {
  const section = sectionNames.find((name) => name === text);
  if (section === undefined) throw new Error(`Cannot use --only "${text}": the sections are ${sectionNames.join(', ')}`);
  return section;
}

function parseSize(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,4})([MG])$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`Cannot use --size "${text}": expected a number with M or G, as 256M`);
  return Math.max(1, Number(digits)) * 1024 ** (unit === 'M' ? 2 : 3);
}

function parseCount(name: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`Cannot use --${name} "${text}": expected a number from 1 on`);
  return Number(text);
}
