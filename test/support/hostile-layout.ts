/** Packages that no decent tool would write, put into an OCI layout byte by byte. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defaultLimits, isToolkitError, type Limits } from '../../src/core/index.js';
import { createContext, type OpsContext } from '../../src/ops/index.js';

export function sha256(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** A layout that anything can be put into. */
export class HostileLayout {
  constructor(readonly path: string) {
    mkdirSync(join(path, 'blobs/sha256'), { recursive: true });
    writeFileSync(join(path, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  }

  /** Under its digest, or a false one. */
  put(bytes: Uint8Array | string, digest = sha256(bytes)): { digest: string; size: number } {
    const path = this.blobPath(digest);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    return { digest, size: Buffer.from(bytes).byteLength };
  }

  blobPath(digest: string): string {
    return join(this.path, 'blobs', digest.replace(':', '/'));
  }

  index(...roots: readonly object[]): void {
    const manifests = roots.map((root) => ({
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      annotations: { 'org.opencontainers.image.ref.name': 'v1' },
      ...root,
    }));
    writeFileSync(join(this.path, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
  }
}

/** What a verb said: a result, or why not. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: string; readonly message: string; readonly exitCode: number };

/** A folder with a layout, a place to unpack to, and a neighbour that must stay as it is. */
export interface HostileSandbox {
  readonly base: string;
  readonly layout: HostileLayout;
  readonly target: string;
  context(limits?: Partial<Limits>): OpsContext;
  /** Runs a verb that may refuse but neither crash nor take long. */
  attempt(work: () => Promise<unknown>): Promise<Outcome>;
  /** Throws when anything stands where it should not. */
  assertClean(): void;
  close(): void;
}

const longestMs = 5000;
const secret = 'nobody may read or change this';

export function createHostileSandbox(): HostileSandbox {
  const base = mkdtempSync(join(tmpdir(), 'hostile-'));
  mkdirSync(join(base, 'neighbour'));
  mkdirSync(join(base, 'deep/out'), { recursive: true });
  writeFileSync(join(base, 'neighbour/secret'), secret);
  const target = join(base, 'deep/out/target');
  return {
    base,
    target,
    layout: new HostileLayout(join(base, 'layout')),
    context: (limits = {}) => createContext({ home: join(base, 'home'), cwd: base, env: { HOME: base }, limits: { ...defaultLimits, ...limits } }),
    attempt,
    assertClean: () => assertClean(base),
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

async function attempt(work: () => Promise<unknown>): Promise<Outcome> {
  const since = performance.now();
  const outcome = await work().then((result): Outcome => ({ kind: 'result', result }), toOutcome);
  const took = performance.now() - since;
  if (took > longestMs) throw new Error(`A verb took ${Math.round(took)} ms`);
  return outcome;
}

function toOutcome(error: unknown): Outcome {
  if (!isToolkitError(error)) throw new Error('A verb crashed', { cause: error });
  const { code, message, exitCode } = error;
  if (exitCode === 70) throw new Error('A verb says that this is a bug', { cause: error });
  return { kind: 'error', code, message, exitCode };
}

function assertClean(base: string): void {
  const strangers = [
    ...readdirSync(base).filter((name) => !['deep', 'home', 'layout', 'neighbour', 'copy.tar'].includes(name)),
    ...readdirSync(join(base, 'deep')).filter((name) => name !== 'out'),
    ...readdirSync(join(base, 'deep/out')).filter((name) => name !== 'target'),
    ...readdirSync(join(base, 'neighbour')).filter((name) => name !== 'secret'),
  ];
  if (strangers.length > 0) throw new Error(`Written outside: ${strangers.join(', ')}`);
  const now = existsSync(join(base, 'neighbour/secret')) ? readFileSync(join(base, 'neighbour/secret'), 'utf8') : 'gone';
  if (now !== secret) throw new Error(`Changed outside: the secret is ${now}`);
}
