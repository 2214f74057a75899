import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { isSystemError } from '../../../bytes/index.js';
import { createError } from '../../../core/index.js';
import type { RegistryHandler } from '../http.js';
import { answerMalformed } from './answer-malformed.js';
import { Connection } from './connection.js';
import { openLanes } from './direct-lane.js';
import { Exchange, type ExchangeSettings } from './exchange.js';
import type { ListenAddress } from './parse-listen.js';
import { defaultServeLimits, type ServeLimits } from './serve-limits.js';

export interface ListenOptions {
  readonly address: ListenAddress;
  /** PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly limits?: Partial<ServeLimits>;
  /** Told what is no client's fault. */
  readonly announce?: (problem: string) => void;
}

/** A registry on a socket. Close it. */
export interface RegistryListener {
  /** With the port that was found. */
  readonly address: ListenAddress;
  readonly url: string;
  countConnections(): number;
  /**
   * Takes no more connections and ends those without a request. What is under way may go on for `graceMs`, then its connections are cut: bodies throw
   * `registry/interrupted`. Resolves when nothing is left.
   */
  close(graceMs: number): Promise<void>;
}

/** What Node keeps of a stream before it waits. */
const waterBytes = 64 * 1024;

/** Puts a handler on a socket. Throws `registry/cannot-listen`. */
export async function listen(handler: RegistryHandler, options: ListenOptions): Promise<RegistryListener> {
  const limits = { ...defaultServeLimits, ...options.limits };
  const server = openServer(limits, options);
  const gate = new Gate(server, limits, { handler, limits, isSecure: options.tls !== undefined, announce: options.announce ?? (() => {}) });
  const { host, port } = options.address;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(options.address, error)));
    server.listen({ host, port }, resolve);
  });
  const address = { host, port: (server.address() as AddressInfo).port };
  return {
    address,
    url: toUrl(address, options.tls !== undefined),
    countConnections: () => gate.connections,
    close: (graceMs) => gate.close(graceMs),
  };
}

function openServer(limits: ServeLimits, { address, tls }: ListenOptions): Server {
  const settings: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    connectionsCheckingInterval: limits.headerCheckMs,
    // Of the whole request, and a body may take any time.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    joinDuplicateHeaders: true,
    // Answered here, as everything else.
    requireHostHeader: false,
    insecureHTTPParser: false,
    highWaterMark: waterBytes,
    noDelay: true,
    keepAlive: true,
  };
  try {
    const server = tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...tls, handshakeTimeout: limits.headerMs });
    server.maxConnections = limits.connections;
    // All of them, or none: those beyond a limit would be left out silently.
    server.maxHeadersCount = 0;
    return server;
  } catch (error) {
    throw cannotListen(address, error);
  }
}

/** Knows who is connected. */
class Gate {
  readonly #server: Server;
  readonly #limits: ServeLimits;
  readonly #settings: ExchangeSettings;
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Map<Socket, Connection>();
  readonly #running = new Set<Promise<void>>();
  #isClosing = false;

  constructor(server: Server, limits: ServeLimits, settings: Omit<ExchangeSettings, 'isClosing'>) {
    this.#server = server;
    this.#limits = limits;
    this.#settings = { ...settings, isClosing: () => this.#isClosing };
    const know = (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    };
    if (settings.isSecure) server.on('connection', know);
    else openLanes(server, waterBytes, know);
    server.on('request', (message, response) => this.#take(message, response, false));
    server.on('checkContinue', (message, response) => this.#take(message, response, true));
    server.on('clientError', (error, socket) => answerMalformed(error, socket, this.#connections.get(socket as Socket)?.isBusy === true));
    const sweep = setInterval(() => this.#sweep(), limits.rateMs / 4);
    sweep.unref();
    server.once('close', () => clearInterval(sweep));
  }

  get connections(): number {
    return this.#sockets.size;
  }

  #take(message: IncomingMessage, response: ServerResponse, waitsForContinue: boolean): void {
    const connection = this.#connectionOf(message.socket);
    const exchange = new Exchange(this.#settings, connection, message, response, waitsForContinue);
    const running = connection.run(() => exchange.run()).then(() => void this.#running.delete(running));
    this.#running.add(running);
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = new Connection(socket, this.#limits);
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#connections.delete(socket));
    return connection;
  }

  #sweep(): void {
    for (const connection of this.#connections.values()) connection.watch.check();
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const [socket, { isBusy }] of this.#connections) if (!isBusy) socket.destroy();
    await this.#settled(graceMs);
    for (const socket of this.#sockets) socket.destroy();
    await this.#settled(this.#limits.lingerMs);
    await closed;
  }

  /** Until nothing runs, or the time is over. */
  async #settled(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([Promise.all(this.#running), over]);
    clearTimeout(timer);
  }
}

function cannotListen({ host, port }: ListenAddress, cause: unknown): Error {
  const code = isSystemError(cause) ? cause.code : '';
  const reason = reasons[code] ?? (cause instanceof Error ? cause.message : String(cause));
  const hint = code === 'EADDRINUSE' ? 'Choose another port, or 0 for any free one, with --listen' : 'See --listen, --tls-cert and --tls-key';
  return createError('registry/cannot-listen', { message: `Cannot listen on "${host}:${port}": ${reason}`, hint, cause });
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'the system does not allow it',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no host of that name',
};

/** One that works on this machine, also when all addresses are listened on. */
function toUrl({ host, port }: ListenAddress, isSecure: boolean): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${isSecure ? 'https' : 'http'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
