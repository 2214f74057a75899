import { type EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { type ByteCounters, type ByteStream, createCounters } from '../../src/core/index.js';
import type { HttpClient, HttpOptions } from '../../src/http/http.js';
import { createHttpClient } from '../../src/http/http-client.js';
import type { Network } from '../../src/http/reach.js';

const pem = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');

/** For `localhost`, `127.0.0.1` and `::1`. */
export const certificate = { ca: pem('ca'), cert: pem('server'), key: pem('server-key') };

export interface BenchServer {
  readonly port: number;
  /** `HOST:PORT` on 127.0.0.1. */
  readonly host: string;
  readonly url: string;
  /** How many connections were made so far. */
  connections: number;
}

async function listen(server: Server, scheme: string, address: string): Promise<BenchServer> {
  const sockets = new Set<Socket>();
  const bench = { port: 0, host: '', url: '', connections: 0 };
  server.on('connection', (socket: Socket) => {
    bench.connections++;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server.listen(0, address), 'listening');
  bench.port = (server.address() as AddressInfo).port;
  bench.host = `${address.includes(':') ? `[${address}]` : address}:${bench.port}`;
  bench.url = `${scheme}://${bench.host}`;
  return bench;
}

/** A server for one test. */
export function serve(handler: RequestListener, address = '127.0.0.1'): Promise<BenchServer> {
  return listen(createServer(handler), 'http', address);
}

export function serveTls(handler: RequestListener, options: Record<string, unknown> = {}, address = '127.0.0.1'): Promise<BenchServer> {
  const server = createTlsServer({ cert: certificate.cert, key: certificate.key, ...options }, handler);
  server.on('tlsClientError', () => {});
  return listen(server, 'https', address);
}

/** A server that says whatever it likes once it has read something; `turn` counts what it was asked, over all connections. */
export function serveRaw(answer: (socket: Socket, request: string, turn: number) => void): Promise<BenchServer> {
  let turn = 0;
  const server = createNetServer((socket) => socket.on('data', (data) => answer(socket, data.toString('latin1'), ++turn)));
  return listen(server, 'http', '127.0.0.1');
}

/** A client for one test. */
export function createBenchClient(options: Partial<HttpOptions> = {}, network?: Network): HttpClient & { readonly counters: ByteCounters } {
  const counters = createCounters();
  const client = createHttpClient({ env: {}, counters, tls: {}, ...options }, network);
  onTestFinished(() => client.close());
  return { ...client, counters };
}

export async function readAll(stream: ByteStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Resolves when it is closed, whatever happened to it. */
export function closing(emitter: EventEmitter): Promise<void> {
  return new Promise((resolve) => emitter.once('close', resolve));
}

/** Bytes that differ from place to place. */
export function pattern(length: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at, 2654435761);
  return Buffer.from(words.buffer, 0, length);
}

/** Until the clock says so; the world goes on meanwhile. */
export async function passTime(ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end;) await setImmediate();
}
