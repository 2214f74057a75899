/** A bench with two packages in every place, a broken one and a lying one, and the program to look at them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type CliEnded, runCli } from './cli-process.js';
import { HostileLayout } from './hostile-layout.js';
import { rawLayer, writePackage } from './hostile-package.js';
import { createWorkbench, tinyModel, type Workbench } from './workbench.js';

type Row = Readonly<Record<string, unknown>>;

/** What a verb prints with --json. */
export interface CliDocument extends Row {
  readonly digest: string;
  readonly parts: readonly Row[];
  readonly files: readonly Row[];
  readonly findings: readonly Row[];
  readonly packages: readonly Row[];
  readonly error: Row;
}

export interface CliAnswer {
  readonly code: number | null;
  readonly document: CliDocument;
  readonly stderr: string;
}

export interface CliBench extends Workbench {
  /** Of `demo/tiny:v1`, which also is `tiny.tar` and `oci:layout:v1`; `demo/other:v1` is `oci:layout:v2`. */
  readonly digest: string;
  run(...args: readonly string[]): Promise<CliEnded>;
  /** With --json. Throws when standard output is not exactly one document. */
  json(...args: readonly string[]): Promise<CliAnswer>;
}

export async function createCliBench(): Promise<CliBench> {
  const bench = createWorkbench();
  const run = (...args: readonly string[]) => runCli(args, { home: bench.home, cwd: bench.base });
  const json = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    return { code, stderr, document: JSON.parse(stdout) as CliDocument };
  };
  bench.write('tiny', tinyModel);
  bench.write('other', { ...tinyModel, 'config.json': '{"model_type":"other"}\n' });
  const { document } = await json('pack', './tiny', '-t', 'demo/tiny:v1', '--set', 'licenses=Apache-2.0');
  await run('pack', './other', '-t', 'demo/other:v1');
  await run('copy', 'demo/tiny:v1', 'tiny.tar');
  await run('copy', 'demo/tiny:v1', 'oci:layout:v1');
  await run('copy', 'demo/other:v1', 'oci:layout:v2');
  writeBroken(bench.path('broken'));
  writeLying(bench.path('lying'));
  return { ...bench, digest: document.digest, run, json };
}

/** A path that leads out, and a config of the wrong type. */
function writeBroken(path: string): void {
  writePackage(new HostileLayout(path), {
    vintage: 'cncf',
    layers: [rawLayer('../x')],
    editConfig: (config) => Object.assign(config, { descriptor: 5 }),
  });
}

/** Bytes that were changed after they were stored. */
function writeLying(path: string): void {
  writePackage(new HostileLayout(path), { vintage: 'cncf', layers: [rawLayer('README.md', 'right')] });
  for (const name of readdirSync(`${path}/blobs/sha256`)) {
    const blob = `${path}/blobs/sha256/${name}`;
    if (readFileSync(blob, 'utf8') === 'right') writeFileSync(blob, 'wrong');
  }
}
