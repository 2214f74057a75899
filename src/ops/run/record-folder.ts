import { existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../bytes/index.js';
import { createError } from '../../core/index.js';
import type { OpsContext } from '../context.js';
import type { FolderSource } from '../folder.js';
import type { SamplesWritten } from '../results.js';
import { toFileName } from './file-names.js';
import { changeBuildfile, type SampleFiles } from './record-buildfile.js';
import type { RecordedSample } from './recorded-sample.js';
import { type TensorFile, toTensorFiles } from './tensor-files.js';

/** Tensors below tests/NAME/ or examples/NAME/, then the build file that names them. What fails leaves nothing behind. */
export async function recordInFolder(source: FolderSource, sample: RecordedSample, { limits, counters }: OpsContext): Promise<SamplesWritten> {
  const { kind, name, description } = sample;
  const top = kind === 'self-test' ? 'tests' : 'examples';
  const files = new NewFiles(source.tree.root, top, name);
  try {
    const inputs = files.write('inputs', toTensorFiles(sample.inputs));
    const outputs = files.write(kind === 'self-test' ? 'expected' : 'outputs', toTensorFiles(sample.outputs));
    const path = await changeBuildfile(source, { kind, name, description, inputs, outputs }, limits);
    counters.written += files.bytes;
    return { kind, samples: [name], path, name: null, files: files.paths };
  } catch (error) {
    files.drop();
    throw error;
  }
}

/** Files in a folder that was not there before. */
export class NewFiles {
  readonly paths: string[] = [];
  bytes = 0;
  readonly #root: string;
  /** Relative to the root. */
  readonly #folder: string;
  /** Whether the folder above was made here too. */
  readonly #top: { readonly path: string; readonly isNew: boolean };

  constructor(root: string, top: string, name: string) {
    const above = join(root, top);
    if (lstatSync(above, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw createError('ops/refused', {
        message: `Cannot record into "${above}": it is a link, which packing does not follow`,
        hint: 'Replace it by a folder',
        where: above,
      });
    this.#root = root;
    this.#top = { path: above, isNew: !existsSync(above) };
    this.#folder = `${top}/${findFree(above, toFileName(name))}`;
  }

  write(below: string, files: readonly TensorFile[]): SampleFiles {
    return Object.fromEntries(
      files.map(({ name, file, bytes }) => {
        const path = `${this.#folder}/${below}/${file}`;
        const absolute = join(this.#root, path);
        mkdirSync(dirname(absolute), { recursive: true });
        replaceFile(absolute, bytes);
        this.paths.push(path);
        this.bytes += bytes.byteLength;
        return [name, path];
      }),
    );
  }

  drop(): void {
    rmSync(this.#top.isNew ? this.#top.path : join(this.#root, this.#folder), { recursive: true, force: true });
  }
}

/** The name itself, or with the first number that nothing has yet. */
function findFree(folder: string, name: string): string {
  let free = name;
  for (let number = 2; existsSync(join(folder, free)); number++) free = `${name}-${number}`;
  return free;
}
