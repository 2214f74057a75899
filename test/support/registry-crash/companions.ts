import { type ChildProcess, spawn } from 'node:child_process';
import { finishCli, runCli } from '../cli-process.js';
import { manifestType } from '../ask-registry.js';
import type { Random } from './random.js';
import { assertStatus, type Wire } from './wire.js';

/** Prunes a layout again and again in a process of its own, which may be killed, too. */
export class Pruner {
  readonly #child: ChildProcess;
  readonly #ended: ReturnType<typeof finishCli>;

  constructor(program: string, dir: string, graceMs: number) {
    this.#child = spawn(process.execPath, [program, dir, String(graceMs)], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdin?.on('error', () => {});
    this.#ended = finishCli(this.#child);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Ends it. Gives how many blobs it removed; 0 when it was killed. */
  async end(): Promise<number> {
    this.#child.stdin?.end();
    const { code, signal, stdout, stderr } = await this.#ended;
    if (signal === 'SIGKILL') return 0;
    if (code !== 0) throw new Error(`The pruner ended with ${code}: ${stderr}`);
    return (JSON.parse(stdout) as { removed: number }).removed;
  }
}

/** The verbs of the command line at the folder of the server, which is their local store. */
export class LocalVerbs {
  readonly repository = 'local/model';
  readonly #tags = new Map<string, string>();
  #count = 0;

  constructor(
    private readonly home: string,
    private readonly cwd: string,
    private readonly model: string,
  ) {}

  get names(): readonly string[] {
    return [...this.#tags.keys()].map((tag) => `${this.repository}:${tag}`);
  }

  async work(random: Random): Promise<void> {
    const tag = `v${++this.#count}`;
    const name = `${this.repository}:${tag}`;
    const { digest } = await this.#run<{ digest: string }>('pack', this.model, '-t', name, '--set', `version=${this.#count}`);
    this.#tags.set(tag, digest);
    const { packages } = await this.#run<{ packages: { name: string }[] }>('list');
    const lost = this.names.filter((each) => !packages.some((listed) => listed.name === each));
    if (lost.length > 0) throw new Error(`list lacks ${lost.join(', ')}`);
    const { ok } = await this.#run<{ ok: boolean }>('verify', name);
    if (!ok) throw new Error(`verify found ${name} damaged`);
    const old = random.find([...this.#tags.keys()]);
    if (old !== undefined && this.#tags.size > 2) {
      await this.#run('rm', `${this.repository}:${old}`);
      this.#tags.delete(old);
    }
    await this.#run('prune');
  }

  /** The server shows what they did. */
  async inspect(wire: Wire): Promise<void> {
    for (const [tag, digest] of this.#tags) {
      const answer = await wire.ask('HEAD', `/v2/${this.repository}/manifests/${tag}`, { headers: { accept: manifestType } });
      assertStatus(answer, 200);
      if (answer.headers['docker-content-digest'] !== digest) throw new Error(`${this.repository}:${tag} is not ${digest}`);
    }
  }

  async removeAll(): Promise<void> {
    for (const tag of this.#tags.keys()) await this.#run('rm', `${this.repository}:${tag}`);
    this.#tags.clear();
  }

  async #run<T>(...args: string[]): Promise<T> {
    const { code, signal, stdout, stderr } = await runCli([...args, '--json'], { home: this.home, cwd: this.cwd });
    if (code !== 0) throw new Error(`modelport ${args.join(' ')} ended with ${signal ?? code}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as T;
  }
}
