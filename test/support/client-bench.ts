import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type BlobContent,
  type ByteCounters,
  type ByteStream,
  createCounters,
  defaultLimits,
  type Descriptor,
  type Digest,
  parseDigest,
} from '../../src/core/index.js';
import type { Credentials, CredentialStore } from '../../src/registry/client/auth/auth.js';
import { createRegistryClient, type RegistryClient, type RegistryClientOptions } from '../../src/registry/client/client.js';
import type { RemoteRepository } from '../../src/registry/client/repository.js';
import type { RetryPolicy } from '../../src/http/retry.js';
import { noPlaces } from '../../src/registry/client/blob-places.js';
import { noJournal } from '../../src/registry/client/upload-journal.js';
import type { Behaviour } from './registry/behaviour.js';
import { type FlakyPlan, type FlakyProxy, startFlakyProxy } from './registry/flaky-proxy.js';
import { startTestRegistry, type TestRegistry, type TestRegistryOptions } from './registry/test-registry.js';
import { startTokenServer, type TokenServer, type TokenServerOptions } from './registry/token-server.js';

export const quick: RetryPolicy = { attempts: 4, first: 1, longest: 4, longestAsked: 2000 };

export const octets = 'application/octet-stream';

/** Ends with the test that started it; the registry itself must not have stumbled. */
export async function startRegistry(behaviour: Partial<Behaviour> = {}, options: TestRegistryOptions = {}): Promise<TestRegistry> {
  const registry = await startTestRegistry({ behaviour, ...options });
  onTestFinished(async () => {
    await registry.close();
    if (registry.mishaps.length > 0) throw new AggregateError(registry.mishaps, 'the registry stumbled');
  });
  return registry;
}

export async function startProxy(registry: TestRegistry, plan?: FlakyPlan): Promise<FlakyProxy> {
  const proxy = await startFlakyProxy(registry.host, plan);
  onTestFinished(() => proxy.close());
  return proxy;
}

export async function startTokens(options: TokenServerOptions): Promise<TokenServer> {
  const server = await startTokenServer(options);
  onTestFinished(() => server.close());
  return server;
}

export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'client-bench-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface ClientBench {
  readonly client: RegistryClient;
  readonly counters: ByteCounters;
  readonly warnings: readonly string[];
  /** Of the registry the client was made for. */
  readonly open: (name?: string) => RemoteRepository;
}

export interface BenchOptions extends Partial<RegistryClientOptions> {
  /** Host → what to log in with. */
  readonly logins?: Readonly<Record<string, Credentials>>;
}

export function createBench(host: string, { logins = {}, ...options }: BenchOptions = {}): ClientBench {
  const counters = createCounters();
  const warnings: string[] = [];
  const client = createRegistryClient({
    env: {},
    limits: defaultLimits,
    counters,
    credentials: toStore(logins),
    journal: noJournal,
    places: noPlaces,
    isPlainHttp: () => undefined,
    tls: {},
    tokenHostsOf: () => [],
    mirrorsOf: () => [],
    concurrency: 4,
    retry: quick,
    warn: (from, text) => warnings.push(`${from}: ${text}`),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, counters, warnings, open: (name = 'demo/model') => client.repository(host, name) };
}

function toStore(logins: Readonly<Record<string, Credentials>>): CredentialStore {
  return { find: async (host) => logins[host], save: async () => ({ where: 'nowhere', encrypted: false }), remove: async () => false };
}

/** A registry without anything odd, and a client for it. */
export async function startBench(
  behaviour: Partial<Behaviour> = {},
  options: BenchOptions = {},
): Promise<ClientBench & { readonly registry: TestRegistry }> {
  const registry = await startRegistry(behaviour);
  return { registry, ...createBench(registry.host, options) };
}

/** Bytes in which every part looks different. */
export function patternBytes(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0, state = seed; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

export function digestOf(bytes: Uint8Array, algorithm: 'sha256' | 'sha512' = 'sha256'): Digest {
  return parseDigest(`${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`);
}

export function descriptorOf(bytes: Uint8Array, mediaType = octets): Descriptor {
  return { mediaType, digest: digestOf(bytes), size: bytes.byteLength };
}

/** In chunks, and of a size that is told or not. */
export function toStream(bytes: Uint8Array, { size = true, chunkBytes = 10_000 } = {}): BlobContent & { opened: number } {
  const content = {
    kind: 'stream' as const,
    ...(size ? { size: bytes.byteLength } : {}),
    opened: 0,
    open: async () => {
      content.opened++;
      return inChunks(bytes, chunkBytes);
    },
  };
  return content;
}

async function* inChunks(bytes: Uint8Array, chunkBytes: number): ByteStream {
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

export function toFile(bytes: Uint8Array): BlobContent {
  const path = join(createFolder(), 'weights.bin');
  writeFileSync(path, bytes);
  return { kind: 'file', path, size: bytes.byteLength };
}

export async function readAll(stream: Promise<ByteStream>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** A manifest whose only layer is a blob that has to be there already. */
export function makeManifest(layer: Descriptor, more: Readonly<Record<string, unknown>> = {}): Buffer {
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: 'application/vnd.test.model',
    config: layer,
    layers: [layer],
    ...more,
  };
  return Buffer.from(JSON.stringify(manifest));
}

/** What a registry was asked, as `METHOD path-behind-the-repository status`. */
export function requestsOf({ log }: Pick<TestRegistry, 'log'>): string[] {
  return log.map(
    ({ method, path, status }) => `${method} ${path.replace(/^\/v2\/demo\/model\//, '').replace(/uploads\/.+/, 'uploads/ID')} ${status}`,
  );
}
