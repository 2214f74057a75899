import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

/** Stands before the registry and counts what goes over the line, of any tool, and of one that is killed. */
export interface Relay {
  /** HOST:PORT; registries build the addresses of uploads from it. */
  readonly host: string;
  /** Bytes from the tool and to it since the last `reset`, HTTP included. */
  readonly sent: number;
  readonly received: number;
  reset(): void;
}

/** A relay to `port` of this machine while `action` runs. */
export async function withRelay<T>(port: number, action: (relay: Relay) => Promise<T>): Promise<T> {
  const counts = { sent: 0, received: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) sockets.add(socket.once('close', () => sockets.delete(socket)));
    client.on('data', ({ length }) => (counts.sent += length));
    upstream.on('data', ({ length }) => (counts.received += length));
    // A tool that is killed breaks its connections; that is what the relay is here for.
    pipeline(client, upstream, () => {});
    pipeline(upstream, client, () => {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const reset = () => Object.assign(counts, { sent: 0, received: 0 });
  try {
    return await action({
      host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      get sent() {
        return counts.sent;
      },
      get received() {
        return counts.received;
      },
      reset,
    });
  } finally {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
}
