import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, parseJson, type RuntimeEnvironment } from '../../core/index.js';
import { childEnvironment } from '../child/child-environment.js';
import { runProgram } from '../child/run-program.js';
import { listInterpreters } from './list-interpreters.js';

/** A package that an interpreter finds. `folder` is what has to be on the search path for it. */
export interface FoundPackage {
  readonly version?: string;
  readonly folder: string;
}

export interface Interpreter {
  /** Absolute; of a virtual environment its own. */
  readonly path: string;
  readonly prefix: string;
  readonly version: string;
  readonly numpy?: FoundPackage;
  readonly torch?: FoundPackage;
  /** Environment markers of PEP 508. */
  readonly markers: Readonly<Record<string, string>>;
}

/** A Python that does not answer in this time is none; the first start after a boot takes seconds. */
const probeMs = 15_000;

const probeFile = fileURLToPath(new URL('./probe.py', import.meta.url));

/** What Pythons have said already: whoever asks whether a model can be started asks again when it starts. */
const answers = new WeakMap<RuntimeEnvironment, Map<string, Promise<Interpreter | undefined>>>();

/** The interpreters of this machine, each environment once, asked one after the other as they are wanted; of one `environment` each is asked once. */
export async function* findInterpreters(environment: RuntimeEnvironment): AsyncGenerator<Interpreter> {
  const { env, signal } = environment;
  const known = answers.get(environment) ?? new Map<string, Promise<Interpreter | undefined>>();
  answers.set(environment, known);
  const seen = new Set<string>();
  for (const path of listInterpreters(env)) {
    const asked = known.get(path) ?? probe(path, env, signal);
    known.set(path, asked);
    const found = await asked;
    const key = `${found?.prefix}\0${found?.version}`;
    if (found === undefined || seen.has(key)) continue;
    seen.add(key);
    yield found;
  }
}

async function probe(command: string, env: RuntimeEnvironment['env'], signal: AbortSignal | undefined): Promise<Interpreter | undefined> {
  const program = { command, args: ['-I', '-B', probeFile], cwd: dirname(probeFile), env: childEnvironment(env, 'cpu') };
  const { exit, isLate, answer } = await runProgram(program, probeMs, signal);
  if (isLate || exit.code !== 0) return undefined;
  try {
    return parseInterpreter(parseJson(Buffer.from(answer), 'what a Python says of itself', { bytes: 64 * 1024 }));
  } catch {
    return undefined;
  }
}

function parseInterpreter(value: unknown): Interpreter | undefined {
  if (!isJsonObject(value)) return undefined;
  const { path, prefix, version, numpy, torch, markers } = value;
  if (typeof path !== 'string' || path === '' || typeof prefix !== 'string' || typeof version !== 'string' || !isJsonObject(markers))
    return undefined;
  const texts = Object.entries(markers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return {
    path,
    prefix,
    version,
    ...(isJsonObject(numpy) && { numpy: parsePackage(numpy) }),
    ...(isJsonObject(torch) && { torch: parsePackage(torch) }),
    markers: Object.fromEntries(texts),
  };
}

function parsePackage({ version, folder }: Readonly<Record<string, unknown>>): FoundPackage {
  return { folder: String(folder), ...(typeof version === 'string' && { version }) };
}
