import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { collect, mediaHeadBytes, replaceFile, sniffMedia } from '../../bytes/index.js';
import { type Finding, type LazyTensor, type ModelPackage, type SampleValue, type Tensor } from '../../core/index.js';
import { describeTensor } from '../../tensors/index.js';
import { findPart } from '../cat.js';
import { completeSamples, sampleFolders } from '../complete-samples.js';
import type { OpsContext } from '../context.js';
import { openVerified } from '../open-part.js';
import { distinct, openPackage } from '../package.js';
import { toAbsolute } from '../paths.js';
import type { CartonExamplesResult, CartonSampleResult, SampleValueResult } from '../results.js';
import { toFileName, toFileNames } from '../run/file-names.js';
import { encodeTensorFile } from '../run/tensor-files.js';

export interface ExamplesOptions {
  readonly location: string;
  /** A new or empty folder for the data; absent: they are only listed. */
  readonly output?: string;
}

/** Self tests and examples of a package; their tensors as .npy or JSON, other files as they are. */
export async function listExamples(options: ExamplesOptions, context: OpsContext): Promise<CartonExamplesResult> {
  const { source, pkg: found } = await openPackage(options.location, context);
  const pkg = await completeSamples(source, found, Object.values(sampleFolders), context);
  const path = options.output === undefined ? undefined : toAbsolute(options.output, context);
  const job = new Extraction(pkg, path, context);
  try {
    const samples = await extract(pkg, job);
    return { samples, ...(path === undefined ? {} : { path }), files: job.files, findings: distinct(job.findings) };
  } catch (error) {
    job.undo();
    throw error;
  }
}

async function extract(pkg: ModelPackage, job: Extraction): Promise<CartonSampleResult[]> {
  const samples: CartonSampleResult[] = [];
  for (const [index, { name, description, inputs, expected }] of (pkg.samples?.selfTests ?? []).entries()) {
    const title = name ?? `self test ${index + 1}`;
    const folder = `self-tests/${index + 1}-${toFileName(title)}`;
    const values = {
      inputs: await job.each(toValues(inputs), `${folder}/inputs`),
      outputs: await job.each(toValues(expected ?? new Map()), `${folder}/expected`),
    };
    samples.push({ kind: 'self-test', name: title, ...(description === undefined ? {} : { description }), ...values });
  }
  for (const [index, { name, description, inputs, outputs }] of (pkg.samples?.examples ?? []).entries()) {
    const title = name ?? `example ${index + 1}`;
    const folder = `examples/${index + 1}-${toFileName(title)}`;
    const values = { inputs: await job.each(inputs, `${folder}/inputs`), outputs: await job.each(outputs, `${folder}/outputs`) };
    samples.push({ kind: 'example', name: title, ...(description === undefined ? {} : { description }), ...values });
  }
  return samples;
}

function toValues(tensors: ReadonlyMap<string, LazyTensor>): ReadonlyMap<string, SampleValue> {
  return new Map([...tensors].map(([name, load]) => [name, { kind: 'tensor', load }]));
}

class Extraction {
  files = 0;
  readonly findings: Finding[] = [];
  /** Files and folders that were not there before, the outer ones first. */
  readonly #made: string[] = [];

  constructor(
    readonly pkg: ModelPackage,
    readonly target: string | undefined,
    readonly context: OpsContext,
  ) {}

  async each(values: ReadonlyMap<string, SampleValue>, folder: string): Promise<SampleValueResult[]> {
    const results: SampleValueResult[] = [];
    const names = toFileNames([...values.keys()]);
    for (const [name, value] of values) {
      const { about, bytes, extension } = value.kind === 'tensor' ? encode(await value.load()) : await this.#readFile(value.path);
      const file = this.#write(`${folder}/${names.get(name)}${extension}`, bytes);
      results.push({ name, about, ...(file === undefined ? {} : { file }) });
    }
    return results;
  }

  /** Pictures and sound are told by their bytes; a name that says another thing is said. */
  async #readFile(path: string): Promise<Encoded> {
    const part = findPart(this.pkg, path);
    const bytes = await collect(await openVerified(part), this.context.limits.tensorBytes, path);
    const media = sniffMedia(bytes.subarray(0, mediaHeadBytes), bytes.byteLength);
    const extension = extname(path).toLowerCase();
    if (media !== undefined && extension !== '' && !extensionsOf[media.type]?.includes(extension))
      this.findings.push({
        level: 'warning',
        code: 'carton/misc-name',
        message: `Its name says ${JSON.stringify(extension)}, its bytes are ${media.type}`,
        where: path,
      });
    const suffix = /^\.[a-z0-9]{1,8}$/.test(extension) ? extension : (extensionsOf[media?.type ?? '']?.[0] ?? '');
    return { about: describeMedia(media, bytes.byteLength), bytes, extension: suffix };
  }

  #write(path: string, bytes: Uint8Array): string | undefined {
    if (this.target === undefined) return undefined;
    const absolute = join(this.target, path);
    const folder = mkdirSync(dirname(absolute), { recursive: true });
    if (folder !== undefined) this.#made.push(folder);
    if (!existsSync(absolute)) this.#made.push(absolute);
    replaceFile(absolute, bytes);
    this.files++;
    return path;
  }

  undo(): void {
    for (const path of this.#made.toReversed()) rmSync(path, { recursive: true, force: true });
  }
}

interface Encoded {
  readonly about: string;
  readonly bytes: Uint8Array;
  readonly extension: string;
}

function encode(tensor: Tensor): Encoded {
  const { extension, bytes } = encodeTensorFile(tensor);
  return { about: describeTensor(tensor), bytes, extension: `.${extension}` };
}

const extensionsOf: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['.png'],
  'image/jpeg': ['.jpg', '.jpeg'],
  'audio/mpeg': ['.mp3'],
  'video/mp4': ['.mp4', '.m4v', '.m4a'],
};

function describeMedia(media: ReturnType<typeof sniffMedia>, bytes: number): string {
  if (media === undefined) return `${bytes} bytes`;
  const size = media.width === undefined || media.height === undefined ? '' : ` ${media.width}x${media.height}`;
  return `${media.type}${size}${media.seconds === undefined ? '' : ` ${media.seconds.toFixed(1)} s`}`;
}
