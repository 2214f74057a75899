/** npm run bench: modelport beside the floors of the machine and beside other tools, in turn, in one run. It reports and never asserts. */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Data, writeModel } from './data.js';
import { describeLoad, describeMachine } from './machine.js';
import { createMeter } from './measure.js';
import { type Options, isTrial, parseOptions, toCommandLine, usage } from './options.js';
import { writePage } from './page.js';
import { toReport } from './report.js';
import { scenarios } from './scenarios.js';
import { type Section, toMb } from './section.js';
import { openWorkspace } from './workspace.js';

const exitStatus = { wrongUsage: 2, world: 3 } as const;
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

const trialNote = 'A trial: smaller than the targets are meant for, so that the start of each process weighs more in its ratio.';

const interrupt = new AbortController();
for (const [signal, status] of Object.entries(signals)) {
  process.on(signal, () => {
    process.exitCode = status;
    interrupt.abort();
  });
}

const wanted = readOptions();
if (wanted?.help === true) process.stdout.write(usage);
else if (wanted !== undefined) await run(wanted).catch(fail);

function readOptions(): Options | undefined {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.exitCode = exitStatus.wrongUsage;
    console.error(`${toMessage(error)}\n\n${usage}`);
    return undefined;
  }
}

async function run(options: Options): Promise<void> {
  await ensureBuilt();
  const load = describeLoad();
  const sections = await measureAll(options);
  const facts = [
    ...describeMachine(),
    { name: 'load at start, end', value: `${load}, ${describeLoad()}` },
    { name: 'again', value: `\`${toCommandLine(options)}\`` },
  ];
  const report = toReport(facts, sections, isTrial(options) ? [trialNote] : []);
  process.stdout.write(report);
  if (options.write) writePage(report);
}

/** A stale dist/ would be measured in silence. The script finds the project by its own place, so it must not be bundled. */
async function ensureBuilt(): Promise<void> {
  const setup = (await import(pathToFileURL(resolve('scripts/setup.mjs')).href)) as { readonly ensureBuilt: () => void };
  setup.ensureBuilt();
}

async function measureAll(options: Options): Promise<Section[]> {
  const { signal } = interrupt;
  // On disk: the model, a package of it, and its files or an archive. In memory: the files, their tar, a store, the blobs of a peer.
  // A registry holds one more, while modctl keeps a package beside the files; for two registries it keeps two.
  // Cartons beside the model: the file, a carton of it, and one copy, of at most a GiB each.
  const cartons = options.sections.includes('carton') ? 1.1 + (3.3 * Math.min(options.size, 1024 ** 3)) / options.size : 0;
  const copies = Math.max(options.sections.includes('embedded') ? 6.6 : options.sections.includes('registry') ? 4.4 : 3.3, cartons);
  const workspace = openWorkspace({ disk: copies * options.size, memory: 100_000 * options.files });
  try {
    const meter = createMeter(workspace.disk, signal);
    const say = (line: string) => console.error(line);
    if (!meter.knowsMemory) say('Only wall time is measured: /usr/bin/time is missing or does not know -f');
    let written: Promise<Data> | undefined;
    const model = () => {
      if (written === undefined) say(`writing a model of ${toMb(options.size)}`);
      return (written ??= writeModel(join(workspace.disk, 'model'), options.size, signal));
    };
    const sections: Section[] = [];
    for (const name of options.sections) sections.push(await scenarios[name]({ meter, say, options, workspace, signal, model }));
    return sections;
  } finally {
    workspace.close();
  }
}

function fail(error: unknown): void {
  if (interrupt.signal.aborted) return;
  process.exitCode = exitStatus.world;
  console.error(toMessage(error));
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
