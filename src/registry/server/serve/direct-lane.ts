import { type Server } from 'node:http';
import { Socket } from 'node:net';

/** Where the bytes of a connection go when they pass the HTTP parser by. */
export interface DirectSink {
  /** What comes next is written here. */
  space(): Uint8Array;
  /** So many bytes lie in the last space, or in `copied`. False: no more for now. */
  take(count: number, copied: Uint8Array | undefined): boolean;
}

/** Of all connections: it holds bytes for no longer than a call. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** What a socket of Node is made of. No documented call gives a socket that was accepted a buffer to read into. */
interface Accepted {
  _handle: { readonly useUserBuffer?: unknown } | null;
}

const lanes = new WeakMap<Socket, DirectLane>();

/**
 * A connection whose bytes can be read past its HTTP parser, right where they are worked on. (measured: Node makes a buffer of every 64 KiB of a body;
 * making, copying and collecting these took nearly half the processor time of a large push)
 */
export class DirectLane {
  #socket: Socket | undefined;
  #sink: DirectSink | undefined;

  /** A socket in the place of the one that was accepted; that one where this Node has no such sockets. */
  static open(accepted: Socket, highWaterMark: number): Socket {
    const { _handle: handle } = accepted as unknown as Accepted;
    if (typeof handle?.useUserBuffer !== 'function') return accepted;
    Object.assign(accepted, { _handle: null } satisfies Accepted);
    const lane = new DirectLane();
    const onread = { buffer: () => lane.#space(), callback: (count: number, buffer: Uint8Array) => lane.#take(count, buffer) };
    const options = { handle, onread, allowHalfOpen: true, highWaterMark };
    const socket = new Socket(options);
    lane.#socket = socket;
    lanes.set(socket, lane);
    // The server counts the one that it knows.
    socket.once('close', () => accepted.destroy());
    return socket;
  }

  /** From now on what comes goes into `sink`; the parser gets no more of this connection, so that its answer has to be the last one. Begins to flow with `resume`. */
  begin(sink: DirectSink): void {
    if (this.#sink === undefined) this.#socket?.pause().on('data', () => {});
    this.#sink = sink;
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** Nothing is read any more. */
  end(): void {
    this.#socket?.pause();
    this.#sink = { space: () => scratch, take: () => false };
  }

  #space(): Uint8Array {
    return this.#sink?.space() ?? scratch;
  }

  #take(count: number, buffer: Uint8Array): boolean {
    return this.#sink?.take(count, buffer === scratch ? scratch.subarray(0, count) : undefined) ?? false;
  }
}

export function findLane(socket: Socket): DirectLane | undefined {
  return lanes.get(socket);
}

/** The server gets its connections with lanes. `tell` hears of each first. */
export function openLanes(server: Server, highWaterMark: number, tell: (socket: Socket) => void): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (accepted: Socket) => {
    const socket = DirectLane.open(accepted, highWaterMark);
    tell(socket);
    for (const listener of listeners) listener.call(server, socket);
  });
}

/** To be read into, of no interest. */
export const nowhere = (): Uint8Array => scratch;
