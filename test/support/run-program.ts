import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** A program of test/support as one file in `folder`, ready for `node`. */
export function bundleProgram(name: string, folder: string): string {
  const outfile = join(folder, `${name}.mjs`);
  const entry = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    define: { MODELPORT_VERSION: '"test"' },
  });
  return outfile;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** Runs it to its end. `onLine` is told of each line on stdout. */
export function runProgram(
  program: string,
  args: readonly string[],
  onLine: (child: ChildProcess, lines: number) => void = () => {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let lines = 0;
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      lines += chunk.toString().split('\n').length - 1;
      onLine(child, lines);
    });
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stderr }));
  });
}
