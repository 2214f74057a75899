/** Cartons that no decent tool would write, and every verb over them. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { drain } from '../../src/bytes/index.js';
import { defaultLimits, isToolkitError, type Limits } from '../../src/core/index.js';
import {
  cat,
  copy,
  createContext,
  inspect,
  listExamples,
  ls,
  type OpsContext,
  run,
  shrinkCartonFile,
  test,
  unpack,
  validate,
  verify,
} from '../../src/ops/index.js';
import { type CartonFile, minimalToml, withManifest } from './carton-files.js';
import type { Outcome } from './hostile-layout.js';
import { listTree } from './list-tree.js';
import { oddZip, type OddArchive, type OddMember } from './odd-zip.js';

export const verbs = [
  'inspect',
  'ls',
  'cat',
  'validate',
  'verify',
  'unpack',
  'run',
  'test',
  'examples',
  'copy to a file',
  'copy to an artifact',
  'copy --inflate',
  'shrink',
] as const;
export type Verb = (typeof verbs)[number];
export type CartonOutcomes = Readonly<Record<Verb, Outcome>>;

/** A folder with one carton, places to write to, and a neighbour that must stay as it is. */
export interface CartonSandbox {
  readonly base: string;
  readonly carton: string;
  /** Where `unpack` writes. */
  readonly target: string;
  context(limits?: Partial<Limits>, given?: Partial<OpsContext>): OpsContext;
  put(bytes: Uint8Array): void;
  /** Every verb, or those named, over the carton. Throws when one crashes, takes long, fails with a status other than 1, or leaves something behind. */
  tryAll(options?: TryOptions): Promise<CartonOutcomes>;
  /** One verb that may refuse but neither crash nor take long. */
  attempt(work: (context: OpsContext) => Promise<unknown>, options?: TryOptions): Promise<Outcome>;
  close(): void;
}

export interface TryOptions {
  readonly limits?: Partial<Limits>;
  readonly context?: Partial<OpsContext>;
  readonly location?: string;
  /** A member, by default the one file of the model. */
  readonly path?: string;
  readonly only?: readonly Verb[];
  /** Of one verb. */
  readonly longestMs?: number;
}

/** Nothing here takes a second; a machine that does much else may be slow. */
const longestMs = 10_000;
const secret = 'nobody may read or change this';

export function createCartonSandbox(): CartonSandbox {
  const base = mkdtempSync(join(tmpdir(), 'hostile-carton-'));
  for (const folder of ['given', 'neighbour', 'out', 'tmp']) mkdirSync(join(base, folder));
  writeFileSync(join(base, 'neighbour/secret'), secret);
  const paths = { base, carton: join(base, 'given/model.carton'), target: join(base, 'out/target') };
  const env = { HOME: base, TMPDIR: join(base, 'tmp') };
  const context: CartonSandbox['context'] = (limits = {}, given = {}) =>
    createContext({ home: join(base, 'home'), cwd: base, env, limits: { ...defaultLimits, ...limits }, ...given });
  const attempt: CartonSandbox['attempt'] = (work, { limits, context: given, longestMs: most = longestMs } = {}) =>
    attemptIn(context(limits, given), base, most, work);
  return {
    ...paths,
    context,
    put: (bytes) => writeFileSync(paths.carton, bytes),
    attempt,
    tryAll: async (options = {}) => {
      const outcomes: Partial<Record<Verb, Outcome>> = {};
      for (const verb of options.only ?? verbs) {
        const work = workOf(verb, options.location ?? paths.carton, options.path ?? 'model/a', paths);
        outcomes[verb] = await attempt(work, options);
      }
      return outcomes as CartonOutcomes;
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

function workOf(verb: Verb, location: string, path: string, { base, target }: Pick<CartonSandbox, 'base' | 'target'>) {
  const output = (name: string) => join(base, 'out', name);
  const work: Record<Verb, (context: OpsContext) => Promise<unknown>> = {
    inspect: (context) => inspect({ location, tensors: true, digest: true }, context),
    ls: (context) => ls({ location, digests: true }, context),
    cat: async (context) => drain(await (await cat({ location, path }, context)).open()),
    validate: (context) => validate({ location }, context),
    verify: (context) => verify({ location }, context),
    unpack: (context) => unpack({ location, output: target }, context),
    run: (context) => run({ location, values: ['[1, 2]'] }, context),
    test: (context) => test({ location, allowCode: false }, context),
    examples: (context) => listExamples({ location, output: output('examples') }, context),
    'copy to a file': (context) => copy({ source: location, destination: output('copy.carton') }, context),
    'copy to an artifact': (context) => copy({ source: location, destination: `oci:${output('layout')}:v1` }, context),
    'copy --inflate': (context) => copy({ source: location, destination: output('whole.carton'), inflate: true }, context),
    shrink: (context) =>
      shrinkCartonFile({ source: location, destination: output('small.carton'), links: [`${'ab'.repeat(32)}=https://models.example/a`] }, context),
  };
  return work[verb];
}

/** What each verb may leave in `out/`, and only when it said that it did its work. The target of `unpack` is looked at by the test. */
const products = ['examples', 'copy.carton', 'layout', 'whole.carton', 'small.carton'];

async function attemptIn(context: OpsContext, base: string, most: number, work: (context: OpsContext) => Promise<unknown>): Promise<Outcome> {
  rmSync(join(base, 'out'), { recursive: true, force: true });
  mkdirSync(join(base, 'out'));
  const given = listAll(join(base, 'given'));
  const since = performance.now();
  const outcome = await settle(work, context);
  const took = performance.now() - since;
  if (took > most) throw new Error(`A verb took ${Math.round(took)} ms`);
  expect(listOpen(base)).toEqual([]);
  const written = listAll(join(base, 'out')).filter((path) => !path.includes('/'));
  // Blobs of a layout without a name are like those of a store: the next attempt takes them, and nobody sees them.
  if (outcome.kind === 'error') expect(written.filter((name) => name !== 'layout' || hasNames(join(base, 'out/layout')))).toEqual([]);
  else expect([...products, 'target']).toEqual(expect.arrayContaining(written));
  expect(listAll(join(base, 'given'))).toEqual(given);
  expect(listAll(join(base, 'tmp'))).toEqual([]);
  expect(listAll(base).filter((path) => !/^(home|given|neighbour|out|tmp)(\/|$)/.test(path))).toEqual([]);
  expect(listAll(join(base, 'neighbour'))).toEqual(['secret']);
  expect(readFileSync(join(base, 'neighbour/secret'), 'utf8')).toBe(secret);
  return outcome;
}

async function settle(work: (context: OpsContext) => Promise<unknown>, context: OpsContext): Promise<Outcome> {
  try {
    return { kind: 'result', result: await work(context) };
  } catch (error) {
    if (!isToolkitError(error)) throw new Error('A verb crashed', { cause: error });
    const { code, message, exitCode } = error;
    if (exitCode === 70) throw new Error('A verb says that this is a bug', { cause: error });
    return { kind: 'error', code, message, exitCode };
  } finally {
    await context.close();
  }
}

const descriptors = '/proc/self/fd';

/** Files below a folder that this process holds open, where the system tells. */
function listOpen(folder: string): string[] {
  const names = existsSync(descriptors) ? readdirSync(descriptors) : [];
  return names.map(readDescriptor).filter((path) => path.startsWith(folder));
}

/** Other threads open and close files meanwhile. */
function readDescriptor(name: string): string {
  try {
    return readlinkSync(join(descriptors, name));
  } catch {
    return '';
  }
}

function hasNames(layout: string): boolean {
  const index = join(layout, 'index.json');
  return existsSync(index) && (JSON.parse(readFileSync(index, 'utf8')) as { manifests: unknown[] }).manifests.length > 0;
}

function listAll(folder: string): string[] {
  return existsSync(folder)
    ? listTree(folder)
        .map(({ path }) => path)
        .sort()
    : [];
}

/** Two inputs of one symbol, an output, and a self test that the noop runtime passes. */
export const testedToml = `spec_version = 1
model_name = "hostile"

[[input]]
name = "x"
dtype = "float32"
shape = ["n"]

[[output]]
name = "x"
dtype = "float32"
shape = ["n"]

[[self_test]]
inputs = { x = "@tensor_data/x" }
expected_out = { x = "@tensor_data/x" }

${minimalToml.slice(minimalToml.indexOf('[runner]'))}`;

export const soundIndex = '[[tensor]]\nname = "x"\ndtype = "float32"\nshape = [2]\nfile = "x.bin"\ninner = []\n';

/** A carton with nothing wrong; the model is one file, `model/a`. */
export const soundFiles: Readonly<Record<string, CartonFile>> = {
  'carton.toml': testedToml,
  'model/a': 'hello',
  'tensor_data/index.toml': soundIndex,
  'tensor_data/x.bin': Buffer.from(Float32Array.of(1, 2).buffer),
};

export interface HostileParts {
  /** Over those of a sound carton; undefined leaves one out. */
  readonly files?: Readonly<Record<string, CartonFile | undefined>>;
  /** Listed in MANIFEST as it should be, and not there. */
  readonly promised?: Readonly<Record<string, string | Uint8Array>>;
  readonly manifest?: (text: string) => string | Uint8Array;
  /** Behind all others, not in MANIFEST. */
  readonly members?: readonly OddMember[];
  /** Instead of the plain member of that name. */
  readonly replaced?: Readonly<Record<string, OddMember>>;
  readonly archive?: OddArchive;
}

/** The zip of a carton that is sound but for what is said here. */
export function hostileCarton({ files = {}, promised, manifest = (text) => text, members = [], replaced = {}, archive }: HostileParts = {}): Buffer {
  const all = withManifest(definedOf({ ...soundFiles, ...files }), promised);
  const edited = { ...all, MANIFEST: manifest(all.MANIFEST) };
  const plain = Object.entries(edited).map(([name, file]) => replaced[name] ?? toOddMember(name, file));
  return oddZip([...plain, ...members], archive);
}

export function toOddMember(name: string, file: CartonFile): OddMember {
  return typeof file === 'object' && 'link' in file ? { name, content: file.link, mode: 0o120777 } : { name, content: file };
}

function definedOf<T>(files: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(Object.entries(files).filter((pair): pair is [string, T] => pair[1] !== undefined));
}
