import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { closing } from './http-bench.js';
import type { ByteStream } from '../../src/core/index.js';
import type { RegistryHandler, RegistryRequest, RegistryResponse } from '../../src/registry/server/http.js';
import { listen, type ListenOptions, type RegistryListener } from '../../src/registry/server/serve/listen.js';

/** A listener for one test, on 127.0.0.1. */
export async function startListener(handler: RegistryHandler, options: Partial<ListenOptions> = {}): Promise<RegistryListener> {
  const listener = await listen(handler, { address: { host: '127.0.0.1', port: 0 }, ...options });
  onTestFinished(() => listener.close(0));
  return listener;
}

/** A client that says what it likes, byte by byte. */
export interface RawClient {
  readonly socket: Socket;
  /** All that came so far. */
  text(): string;
  send(text: string | Uint8Array): void;
  /** Resolves with all that came so far once that holds `part`; rejects when the connection ends before. */
  until(part: string): Promise<string>;
  /** All that came, once the connection is closed, whoever closed it. */
  ended(): Promise<string>;
}

export async function connectRaw(
  { address }: RegistryListener,
  toSocket: (port: number) => Socket = (port) => connect(port, '127.0.0.1'),
): Promise<RawClient> {
  const socket = toSocket(address.port);
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('error', () => {}).on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  const closed = closing(socket);
  await once(socket, 'connect');
  return {
    socket,
    text: () => received,
    send: (text) => void socket.write(text),
    until: (part) =>
      new Promise((resolve, reject) => {
        const look = () => received.includes(part) && resolve(received);
        socket.on('data', look);
        socket.once('close', () => reject(new Error(`Closed before ${JSON.stringify(part)}: ${received.slice(0, 500)}`)));
        look();
      }),
    ended: async () => {
      await closed;
      return received;
    },
  };
}

/** An answer of text. */
export function say(status: number, body = ''): RegistryResponse {
  return { status, headers: { 'Content-Length': String(Buffer.byteLength(body)) }, body: Buffer.from(body), subject: { endpoint: 'unknown' } };
}

/** An answer whose body comes piece by piece. */
export function stream(length: number | undefined, open: () => ByteStream): RegistryResponse {
  const headers: Record<string, string> = length === undefined ? {} : { 'Content-Length': String(length) };
  return { status: 200, headers, body: async () => open(), subject: { endpoint: 'blob' } };
}

/** Reads the whole body and says it back. */
export async function echo({ body }: RegistryRequest): Promise<RegistryResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk));
  return say(200, Buffer.concat(chunks).toString('latin1'));
}

/** The head of a request, with what is needed. */
export function head(method: string, target: string, ...fields: readonly string[]): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...fields, '', ''].join('\r\n');
}
