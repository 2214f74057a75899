import type { Readable, Writable } from 'node:stream';
import type { Limits } from '../../core/index.js';
import { encodeFrame } from './encode-frame.js';
import type { Frame } from './frame.js';
import { readFrames } from './read-frames.js';

/** Frames both ways; the same at either end. Several calls at a time are served in their order. */
export interface Channel {
  /** Resolves when the other end, or the system, has taken all of it. Rejects with what the system said. */
  send(frame: Frame): Promise<void>;
  /** Undefined at the end of the stream. Throws `runtime/protocol`. Nothing is read while nobody asks. */
  receive(): Promise<Frame | undefined>;
}

export function openChannel(input: Readable, output: Writable, limits: Limits, peer: string): Channel {
  const frames = readFrames(input, limits, peer);
  let last: Promise<void> = Promise.resolve();
  const sendNow = async (frame: Frame) => {
    for (const piece of encodeFrame(frame)) await write(output, piece);
  };
  return {
    send: (frame) => {
      const sent = last.then(() => sendNow(frame));
      last = sent.catch(() => {});
      return sent;
    },
    receive: async () => {
      const { value } = await frames.next();
      return value ?? undefined;
    },
  };
}

function write(output: Writable, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(piece, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
