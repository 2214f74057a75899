import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createContext } from '../../src/ops/context.js';
import { createFrontDoor } from '../../src/ops/registry/front-door.js';
import type { ServeOptions } from '../../src/ops/registry/serve-options.js';
import { parseServeOptions } from '../../src/ops/registry/serve-settings.js';
import { createMetrics, createRegistry, listen, type RegistryHandler, type RegistryListener } from '../../src/registry/server/index.js';
import type { ServeLimits } from '../../src/registry/server/serve/serve-limits.js';
import { openRegistryStore } from '../../src/store/index.js';
import { Wire } from '../suites/registry-conformance/wire.js';
import { type Answer, type Answered, type AskRegistry, pushPackage, sha256, toManifest } from './ask-registry.js';
import { listTree } from './list-tree.js';

export interface HostileOptions extends ServeOptions {
  readonly limits?: Partial<ServeLimits>;
}

/** A registry as `registry serve` puts it together, in this process, for clients that mean it ill. Close it. */
export interface HostileBench {
  /** Holds the layout, and what is none of the registry's business. */
  readonly base: string;
  readonly layout: string;
  readonly listener: RegistryListener;
  /** What was asked of the handler, as `METHOD target`: what the parser let through. */
  readonly seen: readonly string[];
  /** Lines of the access log, and what was announced. */
  readonly told: readonly string[];
  /** Over a socket. */
  readonly ask: AskRegistry;
  /** Sends bytes as they are, and resolves with all that came back once the connection is over. */
  sendRaw(text: string | Uint8Array): Promise<string>;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
  /** Everything below `base`, with its size: what an attack must not change. */
  tree(): readonly string[];
  /** The same folder with a server that remembers nothing. */
  restart(): Promise<void>;
  /** An honest client is served: whatever came before did no harm. Throws when the listener itself stumbled. */
  checkHonest(): Promise<void>;
  close(): Promise<void>;
}

interface Running {
  readonly listener: RegistryListener;
  readonly wire: Wire;
}

export async function startHostileBench(options: HostileOptions = {}): Promise<HostileBench> {
  const base = mkdtempSync(join(tmpdir(), 'hostile-registry-'));
  const layout = join(base, 'place', 'layout');
  mkdirSync(join(base, 'place'));
  writeFileSync(join(base, 'place', 'neighbour'), 'nobody asked for this');
  const records = { seen: [] as string[], told: [] as string[], mishaps: [] as string[], running: new Set<Promise<unknown>>() };
  let running = await start(layout, options, records);
  let honest = 0;
  const ask: AskRegistry = (method, target, given) => askOver(running.wire, method, target, given);
  const settled = async () => {
    while (records.running.size > 0) await Promise.allSettled(records.running);
  };
  return {
    base,
    layout,
    get listener() {
      return running.listener;
    },
    seen: records.seen,
    told: records.told,
    ask,
    sendRaw: (text) => sendRaw(running.listener.address.port, text),
    settled,
    tree: () => toLines(base),
    restart: async () => {
      await stop(running);
      running = await start(layout, options, records);
    },
    checkHonest: async () => {
      await settled();
      expect(records.mishaps).toEqual([]);
      await checkHonest(ask, `honest/n${++honest}`);
    },
    close: async () => {
      await stop(running);
      rmSync(base, { recursive: true, force: true });
    },
  };
}

async function start(
  layout: string,
  options: HostileOptions,
  { seen, told, mishaps, running }: { seen: string[]; told: string[]; mishaps: string[]; running: Set<Promise<unknown>> },
): Promise<Running> {
  const { limits = {}, ...serve } = options;
  const context = createContext({ home: layout, cwd: layout, env: {}, announce: (findings) => told.push(JSON.stringify(findings)) });
  const store = await openRegistryStore(layout, { create: true });
  const registry = createRegistry({ store, announce: (finding) => told.push(JSON.stringify(finding)) });
  const metrics = createMetrics({ countConnections: () => 0, countUploads: () => store.countUploads() });
  const log = { write: (line: string) => told.push(line) } as unknown as NodeJS.WritableStream;
  const sources = { metrics, findTrouble: async () => undefined, log };
  const door = await createFrontDoor(
    registry,
    { options: serve, settings: parseServeOptions({ listen: '127.0.0.1:0', ...serve }), sources },
    context,
  );
  const handler: RegistryHandler = (request) => {
    seen.push(`${request.method} ${request.target}`);
    const answer = door(request);
    running.add(answer);
    const end = () => void running.delete(answer);
    answer.then(end, end);
    return answer;
  };
  const listener = await listen(handler, { address: { host: '127.0.0.1', port: 0 }, limits, announce: (mishap) => mishaps.push(mishap) });
  return { listener, wire: new Wire(listener.url) };
}

async function stop({ listener, wire }: Running): Promise<void> {
  wire.close();
  await listener.close(0);
}

async function askOver(wire: Wire, method: string, target: string, { headers = {}, body }: Parameters<AskRegistry>[2] = {}): Promise<Answer> {
  if (typeof body === 'object' && Symbol.asyncIterator in body) throw new Error('Send streams over a socket of your own');
  const {
    status,
    headers: said,
    body: bytes,
  } = await wire.send(method, target, { headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) });
  const isJson = said['content-type']?.includes('json') === true && bytes.length > 0;
  const json = (isJson ? JSON.parse(bytes.toString()) : {}) as Answered;
  return { status, headers: said as Answer['headers'], bytes, json, code: (json.errors as Answered['errors'] | undefined)?.[0]?.code };
}

function sendRaw(port: number, text: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => void socket.write(text));
    socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
    socket.on('error', () => {}).on('close', () => resolve(received));
  });
}

function toLines(base: string): string[] {
  const lines = listTree(base).map(({ path, found }) => {
    if (!found.isFile()) return `${path} ${found.isDirectory() ? '/' : 'other'}`;
    const whole = join(base, path);
    return `${path} ${statSync(whole).size} ${statSync(whole).size < 4096 ? sha256(readFileSync(whole)) : ''}`;
  });
  return lines.sort();
}

async function checkHonest(ask: AskRegistry, repository: string): Promise<void> {
  const layer = `the weights of ${repository}`;
  const digest = await pushPackage(ask, repository, 'v1', [layer]);
  const pulled = await ask('GET', `/v2/${repository}/manifests/v1`);
  expect([pulled.status, pulled.bytes.toString()]).toEqual([200, toManifest([layer]).text]);
  expect((await ask('GET', `/v2/${repository}/manifests/${digest}`)).bytes.equals(pulled.bytes)).toBe(true);
  expect((await ask('GET', `/v2/${repository}/blobs/${sha256(layer)}`)).bytes.toString()).toBe(layer);
}

/** A refusal as the specification wants it: an error document, short, and nothing of the machine in it. */
export function expectRefused(answer: Answer, status: number | readonly number[], code: string | RegExp = /^[A-Z_]+$/): void {
  expect([status].flat()).toContain(answer.status);
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' });
  expect(answer.bytes.length).toBeLessThan(20_000);
  expect(answer.bytes.toString()).not.toContain(tmpdir());
  if (answer.bytes.length > 0) expect(answer.code).toMatch(code);
}

/** Nothing is there that was not there before, in the layout or beside it. */
export async function expectUntouched(bench: HostileBench, attack: () => Promise<void>): Promise<void> {
  const before = bench.tree();
  await attack();
  await bench.settled();
  expect(bench.tree()).toEqual(before);
}

/** Of what came back over a raw connection; 0 when that was no answer. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);
}

/** Cases for a table of tests, with names that can be read. */
export function shown(cases: readonly string[]): [string, string][] {
  return cases.map((text) => [JSON.stringify(text.slice(0, 60)), text]);
}
