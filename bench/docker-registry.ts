import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Debian's build of distribution, on a free port of the loopback. Whoever started it closes it. */
export interface DockerRegistry {
  readonly port: number;
  /** Everything that was pushed; it may be removed while the registry runs, which then is empty again. */
  readonly storage: string;
  close(): Promise<void>;
}

const startMs = 10_000;

export async function startDockerRegistry(program: string, folder: string): Promise<DockerRegistry> {
  mkdirSync(folder);
  const root = join(folder, 'root');
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify(toDockerConfig(root, '127.0.0.1:0', 'info')));
  const child = spawn(program, ['serve', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()));
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { port: await waitForPort(child, ended), storage: join(root, 'docker'), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** JSON is YAML. Port 0 lets the system choose; the log, which goes to stderr from level info on, says what it chose. */
export function toDockerConfig(rootdirectory: string, addr: string, level: 'info' | 'error'): unknown {
  return {
    version: '0.1',
    log: { level, formatter: 'json', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory }, maintenance: { uploadpurging: { enabled: false } } },
    http: { addr },
  };
}

/** The log is read to its end, so that the registry never waits for a reader. */
function waitForPort(child: ChildProcess, ended: Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`Cannot start docker-registry: ${reason}`));
    const timer = setTimeout(() => fail(`it did not say within ${startMs / 1000} s where it listens`), startMs);
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on('line', (line) => {
        const port = /listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
        if (port !== undefined) resolve(Number(port));
      });
    }
    void ended.then(() => fail('it ended at once')).finally(() => clearTimeout(timer));
  });
}
