import { createServer, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { listen, type Listening } from './listen.js';

/**
 * What happens to the bytes of one direction of a connection. Offsets count from the beginning of the connection, or from when the plan was
 * set if that is later.
 */
export type Fault =
  /**
   * `after` bytes arrive, then both sides lose the connection: by RST, or by a FIN in the midst of it. (Node tells an RST that arrives close
   * behind bytes as a plain end: libuv stops reading at the hang-up.)
   */
  | { readonly kind: 'cut'; readonly after: number; readonly how: 'reset' | 'close'; readonly times?: number }
  /** `after` bytes arrive, and no more until the connection is closed. */
  | { readonly kind: 'stall'; readonly after: number; readonly times?: number }
  /** The lowest bit of the byte at this offset. */
  | { readonly kind: 'flip'; readonly at: number; readonly times?: number }
  /** The `length` bytes before this offset arrive once more, as many of them as came in one piece with it. */
  | { readonly kind: 'repeat'; readonly at: number; readonly length: number; readonly times?: number }
  /** Each piece comes later, in milliseconds. */
  | { readonly kind: 'delay'; readonly milliseconds: number; readonly times?: number };

/** For each direction one fault at most; `times` limits how many connections it strikes, without it all of them. */
export type FlakyPlan =
  | { readonly kind: 'pass' }
  /** Connections are accepted and reset. */
  | { readonly kind: 'refuse'; readonly times?: number }
  /** `up` is towards the target. */
  | { readonly kind: 'faults'; readonly up?: Fault; readonly down?: Fault };

export interface FlakyProxy {
  /** `127.0.0.1:PORT` */
  readonly host: string;
  /** May be set at any time; holds for open connections too. */
  plan: FlakyPlan;
  /** Accepted so far. */
  readonly connections: number;
  readonly open: number;
  /** That were passed on, over all connections. */
  readonly bytes: { readonly up: number; readonly down: number };
  /** How many connections the present plan has struck. */
  readonly struck: number;
  /** Resets every open connection now. */
  breakAll(): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback in front of `target` (`HOST:PORT`), which does to connections what `plan` says. Close it. */
export async function startFlakyProxy(target: string, plan: FlakyPlan = { kind: 'pass' }): Promise<FlakyProxy> {
  const proxy = new RunningProxy(target, plan);
  await proxy.start();
  return proxy;
}

type Direction = 'up' | 'down';

class RunningProxy implements FlakyProxy {
  connections = 0;
  readonly bytes = { up: 0, down: 0 };
  readonly #links = new Set<Link>();
  #plan: FlakyPlan;
  #strikes = new Map<object, number>();
  #listening: Listening | undefined;

  constructor(
    private readonly target: string,
    plan: FlakyPlan,
  ) {
    this.#plan = plan;
  }

  get host(): string {
    return `127.0.0.1:${this.#listening?.port}`;
  }

  get open(): number {
    return this.#links.size;
  }

  get struck(): number {
    return [...this.#strikes.values()].reduce((sum, count) => sum + count, 0);
  }

  get plan(): FlakyPlan {
    return this.#plan;
  }

  set plan(plan: FlakyPlan) {
    this.#plan = plan;
    this.#strikes = new Map();
    for (const link of this.#links) link.startOver();
  }

  async start(): Promise<void> {
    this.#listening = await listen(createServer({ allowHalfOpen: true }, (client) => this.#accept(client)));
  }

  breakAll(): void {
    for (const link of this.#links) link.reset();
  }

  async close(): Promise<void> {
    this.breakAll();
    await this.#listening?.close();
  }

  faultOf(direction: Direction): Fault | undefined {
    const fault = this.#plan.kind === 'faults' ? this.#plan[direction] : undefined;
    return fault !== undefined && this.#mayStrike(fault) ? fault : undefined;
  }

  strike(fault: object): void {
    this.#strikes.set(fault, (this.#strikes.get(fault) ?? 0) + 1);
  }

  #mayStrike(fault: { readonly times?: number }): boolean {
    return (this.#strikes.get(fault) ?? 0) < (fault.times ?? Infinity);
  }

  #accept(client: Socket): void {
    this.connections++;
    if (this.#plan.kind === 'refuse' && this.#mayStrike(this.#plan)) {
      this.strike(this.#plan);
      client.on('error', () => {});
      return void client.resetAndDestroy();
    }
    const [, host = '127.0.0.1', port = ''] = /^(.+):(\d+)$/.exec(this.target) ?? [];
    const server = connect({ host, port: Number(port), allowHalfOpen: true });
    const link = new Link(client, server, this);
    this.#links.add(link);
    void link.run().then(() => this.#links.delete(link));
  }
}

/** One connection and its other half. */
class Link {
  readonly #passed = { up: 0, down: 0 };
  readonly #delayed = new Set<object>();

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly proxy: RunningProxy,
  ) {
    // Whoever loses one side is to lose the other.
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => other.resetAndDestroy());
      one.on('close', () => other.destroy());
    }
  }

  async run(): Promise<void> {
    await Promise.allSettled([this.#pass('up', this.client, this.server), this.#pass('down', this.server, this.client)]);
  }

  startOver(): void {
    this.#passed.up = 0;
    this.#passed.down = 0;
  }

  reset(): void {
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
  }

  async #pass(direction: Direction, from: Socket, to: Socket): Promise<void> {
    // A side that has said all may still listen.
    for await (const chunk of from.iterator({ destroyOnReturn: false })) {
      if (!(await this.#passChunk(direction, chunk as Buffer, to))) return;
    }
    to.end();
  }

  /** False when nothing more is to come. */
  async #passChunk(direction: Direction, chunk: Buffer, to: Socket): Promise<boolean> {
    const fault = this.proxy.faultOf(direction);
    const start = this.#passed[direction];
    const end = start + chunk.length;
    if (fault === undefined) return this.#write(direction, chunk, to);
    switch (fault.kind) {
      case 'cut':
      case 'stall':
        if (end < fault.after) return this.#write(direction, chunk, to);
        this.proxy.strike(fault);
        await this.#write(direction, chunk.subarray(0, Math.max(0, fault.after - start)), to);
        return fault.kind === 'cut' ? this.#cut(fault.how) : this.#stall();
      case 'flip':
        if (fault.at >= start && fault.at < end) {
          this.proxy.strike(fault);
          chunk.writeUInt8(chunk.readUInt8(fault.at - start) ^ 1, fault.at - start);
        }
        return this.#write(direction, chunk, to);
      case 'repeat': {
        if (fault.at <= start || fault.at > end) return this.#write(direction, chunk, to);
        this.proxy.strike(fault);
        const middle = fault.at - start;
        const again = chunk.subarray(Math.max(0, middle - fault.length), middle);
        return this.#write(direction, Buffer.concat([chunk.subarray(0, middle), again, chunk.subarray(middle)]), to);
      }
      case 'delay':
        if (!this.#delayed.has(fault)) this.proxy.strike(fault);
        this.#delayed.add(fault);
        await pause(fault.milliseconds);
        return this.#write(direction, chunk, to);
    }
  }

  /** Settles when the bytes have left, so that what comes next cannot overtake them. */
  async #write(direction: Direction, chunk: Uint8Array, to: Socket): Promise<boolean> {
    this.#passed[direction] += chunk.length;
    this.proxy.bytes[direction] += chunk.length;
    if (to.destroyed) return false;
    return new Promise((resolve) => to.write(chunk, (error) => resolve(error === null || error === undefined)));
  }

  #cut(how: 'reset' | 'close'): false {
    if (how === 'reset') this.reset();
    else {
      this.client.destroy();
      this.server.destroy();
    }
    return false;
  }

  /** Until one side closes. */
  async #stall(): Promise<false> {
    await new Promise((resolve) => {
      this.client.once('close', resolve);
      this.server.once('close', resolve);
      if (this.client.destroyed || this.server.destroyed) resolve(undefined);
    });
    return false;
  }
}
