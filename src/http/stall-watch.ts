import type { Socket } from 'node:net';

/** Notices a peer that does nothing. The time that we take ourselves does not count. */
export interface StallWatch {
  /** From now on it is the peer's turn. */
  expect(): void;
  rest(): void;
  /** Once and for all, before the socket goes to someone else. */
  stop(): void;
}

/** `stalled` is called after `ms` without a byte in either direction while the peer is expected to do something. */
export function watchStall(socket: Socket, ms: number, stalled: () => void): StallWatch {
  let isOver = false;
  socket.on('timeout', stalled);
  // Each byte starts the time anew, and a write that goes on counts too.
  const set = (time: number) => {
    if (!isOver) socket.setTimeout(time);
  };
  return {
    expect: () => set(ms),
    rest: () => set(0),
    stop: () => {
      isOver = true;
      socket.off('timeout', stalled);
    },
  };
}
