import { readFileSync } from 'node:fs';
import { finishCli, startCli } from '../cli-process.js';
import { type ServedRegistry, startServedRegistry } from '../served-registry.js';

/** `modelport registry serve` on one folder, killed and started again. */
export class CrashServer {
  #served: ServedRegistry | undefined;
  #isDead = true;

  constructor(
    readonly dir: string,
    private readonly cwd: string,
  ) {}

  get url(): string {
    return this.#served?.result.url ?? '';
  }

  get pid(): number | undefined {
    return this.#served?.child.pid;
  }

  /** From when it was killed. */
  get isDead(): boolean {
    return this.#isDead;
  }

  async start(): Promise<void> {
    const portFile = `${this.dir}.port`;
    this.#served = await startServedRegistry(this.#args(portFile), this.#surroundings());
    this.#isDead = false;
    const address = readFileSync(portFile, 'utf8');
    if (address !== this.#served.result.address) throw new Error(`The port file says ${address}, the server ${this.#served.result.address}`);
  }

  /** Is started, and killed before it may have come far. */
  async startInVain(afterMs: number): Promise<void> {
    const child = startCli(['registry', 'serve', '--listen', '127.0.0.1:0', ...this.#args(`${this.dir}.port`)], this.#surroundings());
    const ended = finishCli(child);
    const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
    const { signal, stderr } = await ended;
    clearTimeout(timer);
    if (signal !== 'SIGKILL') throw new Error(`The server ended by itself: ${stderr}`);
  }

  kill(): void {
    this.#isDead = true;
    this.#served?.child.kill('SIGKILL');
  }

  /** Resolves once it is dead. Gives what went wrong: that it ended by itself, or had to say anything. */
  async ended(): Promise<readonly string[]> {
    const ended = await this.#served?.ended;
    this.#isDead = true;
    if (ended === undefined || (ended.signal === 'SIGKILL' && ended.stderr === '')) return [];
    return [`The server ended with ${ended.signal ?? ended.code}: ${ended.stderr}`];
  }

  #args(portFile: string): string[] {
    return ['--dir', this.dir, '--port-file', portFile, '--gc-interval', '1s'];
  }

  #surroundings() {
    return { home: `${this.dir}.home`, cwd: this.cwd };
  }
}
