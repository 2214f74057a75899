import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { openRegistryStore, prune, scrub } from '../../../src/store/index.js';
import { listTree } from '../list-tree.js';
import { CrashClient } from './client.js';
import { LocalVerbs, Pruner } from './companions.js';
import { CrashServer } from './crash-server.js';
import { inspectRepository, inspectUploads } from './inspect.js';
import { Ledger, settle, toBlob } from './ledger.js';
import { pushBlob } from './pushing.js';
import type { Random } from './random.js';
import { assertStatus, Broken, Wire } from './wire.js';

export interface LifePlan {
  readonly random: Random;
  /** Where everything lies. */
  readonly base: string;
  /** What the verbs of the command line pack. */
  readonly model: string;
  /** The pruner, as a file for `node`. */
  readonly pruner: string;
  readonly clients: number;
}

/** What happened, so that a loop that did nothing is noticed. */
export interface Tally {
  requests: number;
  /** Requests that the death of the server left without an answer. */
  broken: number;
  resumed: number;
  pruned: number;
}

const pruneGraceMs = 100;

/** One folder and the servers that die on it. */
export class CrashLife {
  readonly tally: Tally = { requests: 0, broken: 0, resumed: 0, pruned: 0 };
  readonly #random: Random;
  readonly #dir: string;
  readonly #server: CrashServer;
  readonly #verbs: LocalVerbs;
  readonly #common = new Ledger('common/base');
  readonly #clients: readonly CrashClient[];

  constructor(private readonly plan: LifePlan) {
    const { random, base, model, clients } = plan;
    this.#random = random;
    this.#dir = join(base, 'store');
    mkdirSync(base, { recursive: true });
    this.#server = new CrashServer(this.#dir, base);
    this.#verbs = new LocalVerbs(this.#dir, base, model);
    const blobs = [100, 50_000, 200_000, 2_000_000].map((size) => toBlob(random.bytes(size)));
    const common = { ledger: this.#common, blobs };
    this.#clients = Array.from({ length: clients }, (_, index) => new CrashClient(new Ledger(`team/client-${index}`), common, random.fork()));
  }

  async start(): Promise<void> {
    await this.#server.start();
  }

  /** Whatever happened before. */
  async end(): Promise<void> {
    this.#server.kill();
    await this.#server.ended();
  }

  /** Load, death, a new server, and a look at everything. */
  async round(): Promise<void> {
    const faults = [...(await this.#load()), ...(await this.#server.ended())];
    if (faults.length > 0) throw new Error(faults.join('\n'));
    if (this.#random.chance(0.25)) await this.#server.startInVain(this.#random.below(250));
    await this.#server.start();
    await this.#withWire((wire) => this.#inspect(wire));
  }

  /** Gives what went wrong. */
  async #load(): Promise<readonly string[]> {
    const { random } = this.plan;
    const pruner = random.chance(0.5) ? new Pruner(this.plan.pruner, this.#dir, pruneGraceMs) : undefined;
    const isPrunerKilled = random.chance(0.3);
    const kill = () => {
      this.#server.kill();
      if (isPrunerKilled) pruner?.kill();
    };
    const killAfter = random.chance(0.5) ? 1 + random.below(300) : Infinity;
    const timer = killAfter === Infinity ? setTimeout(kill, random.below(700)) : setTimeout(kill, 5000);
    let requests = 0;
    const wire = new Wire(this.#server.url, () => {
      this.tally.requests += 1;
      if (++requests === killAfter) kill();
    });
    const works = this.#clients.map((client) => this.#work(client, wire, kill));
    if (random.chance(0.3)) works.push(this.#verbs.work(random));
    const ended = await Promise.allSettled(works);
    clearTimeout(timer);
    wire.close();
    this.tally.pruned += (await pruner?.end()) ?? 0;
    return ended.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  }

  async #work(client: CrashClient, wire: Wire, kill: () => void): Promise<void> {
    try {
      await client.work(wire);
    } catch (error) {
      const isExpected = error instanceof Broken && this.#server.isDead;
      kill();
      if (!isExpected) throw error;
      this.tally.broken += 1;
    }
  }

  async #inspect(wire: Wire): Promise<void> {
    for (const ledger of this.#ledgers()) {
      await inspectRepository(wire, ledger);
      this.tally.resumed += await inspectUploads(wire, ledger, () => this.#random.chance(0.6));
    }
    await this.#verbs.inspect(wire);
    await this.#assertSound();
    await this.#assertTidy();
  }

  #ledgers(): readonly Ledger[] {
    return [this.#common, ...this.#clients.map(({ ledger }) => ledger)];
  }

  async #assertSound(): Promise<void> {
    const { bad, missing } = await scrub(await openRegistryStore(this.#dir), { dryRun: true });
    if (bad.length > 0 || missing.length > 0) throw new Error(`The store is damaged: ${JSON.stringify({ bad, missing })}`);
  }

  async #prune(uploadAgeMs?: number): Promise<void> {
    await prune(await openRegistryStore(this.#dir), { graceMs: 0, ...(uploadAgeMs === undefined ? {} : { uploadAgeMs }) });
  }

  /** Nothing but uploads: those that clients know, and at most one for each request that was never answered. */
  async #assertTidy(): Promise<void> {
    await this.#prune();
    const unowned = this.#listLeases();
    // The folder of a writer that died before its name stood in it goes with its age.
    for (const name of unowned) for (const path of [name, ...listNames(this.#toIngest(name)).map((file) => join(name, file))]) this.#age(path);
    if (unowned.length > 0) await this.#prune();
    const leases = this.#listLeases();
    const ids = listNames(this.#toIngest('uploads'));
    const known = new Set(this.#ledgers().flatMap(({ uploads }) => [...uploads].map(({ location }) => location.split('/').at(-1))));
    const lost = [...known].filter((id) => !ids.includes(id ?? ''));
    const strays = ids.filter((id) => !known.has(id));
    if (leases.length === 0 && lost.length === 0 && strays.length <= this.tally.broken) return;
    throw new Error(`The folder of what is on its way holds ${leases.join(', ')}, lacks ${lost.join(', ')}, has ${strays.length} strays`);
  }

  #toIngest(...names: readonly string[]): string {
    return join(this.#dir, 'ingest', ...names);
  }

  #age(path: string): void {
    utimesSync(this.#toIngest(path), 1, 1);
  }

  /** But for that of the server, which lives. */
  #listLeases(): string[] {
    return listNames(this.#toIngest()).filter((name) => name !== 'uploads' && !name.startsWith(`${this.#server.pid}-`));
  }

  /** Everything is deleted: then nothing is left but a layout. */
  async clear(): Promise<void> {
    await this.#withWire(async (wire) => {
      for (const ledger of this.#ledgers()) await deleteAll(wire, ledger);
    });
    await this.#verbs.removeAll();
    await this.end();
    for (const { path } of listTree(this.#dir)) utimesSync(join(this.#dir, path), 1, 1);
    await this.#prune(0);
    const left = listTree(this.#dir).flatMap(({ path, found }) => (found.isDirectory() ? [] : [path]));
    const expected = ['index.json', 'oci-layout', 'registry/serve.lock'];
    const others = left.filter((path) => !expected.includes(path) && !path.startsWith('cache/'));
    if (others.length > 0) throw new Error(`Everything is deleted, and there is still ${others.join(', ')}`);
  }

  /** Each client begins with a blob of its own, so that the first round finds something to work with. */
  async begin(): Promise<void> {
    await this.start();
    await this.#withWire(async (wire) => {
      for (const { ledger } of this.#clients) {
        const blob = toBlob(this.#random.bytes(1000));
        await pushBlob(wire, ledger, blob, 'single post');
        settle(ledger.blob(blob), true);
      }
    });
  }

  async #withWire(work: (wire: Wire) => Promise<void>): Promise<void> {
    const wire = new Wire(this.#server.url);
    try {
      await work(wire);
    } finally {
      wire.close();
    }
  }
}

function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** What an index lists cannot be deleted before it. */
async function deleteAll(wire: Wire, ledger: Ledger): Promise<void> {
  const remove = async (target: string) => assertStatus(await wire.ask('DELETE', `/v2/${ledger.repository}/${target}`), 202, 404);
  const findFree = () => ledger.listManifests().find(({ digest }) => !ledger.isNamed(digest));
  for (let manifest = findFree(); manifest !== undefined; manifest = findFree()) {
    await remove(`manifests/${manifest.digest}`);
    settle(ledger.manifest(manifest), false);
  }
  for (const { digest } of ledger.listBlobs()) await remove(`blobs/${digest}`);
}
