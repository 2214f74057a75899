import { type AddressInfo, type Server, type Socket } from 'node:net';

/** A server that accepts connections on loopback. */
export interface Listening {
  readonly port: number;
  /** Stops accepting and destroys every connection, so that the port is free when it settles. */
  close(): Promise<void>;
}

/** `port` 0 takes a free one. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  const sockets = new Set<Socket>();
  const remember = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  server.on('connection', remember);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
