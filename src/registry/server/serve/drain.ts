import type { IncomingMessage } from 'node:http';
import type { Interruption } from './interruption.js';

/** Reads on to nowhere, at most so many bytes and milliseconds. Whether that was the end of the message. */
export async function drain(message: IncomingMessage, mostBytes: number, mostMs: number, gone: Interruption): Promise<boolean> {
  let left = mostBytes;
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const stopped = new Promise<true>((resolve) => {
    stop = () => resolve(true);
    timer = setTimeout(stop, mostMs);
    message.on('end', stop).on('data', (piece: Buffer) => {
      left -= piece.byteLength;
      if (left < 0) stop();
    });
  });
  message.resume();
  if (!message.complete || !message.readableEnded) await gone.wait(stopped);
  clearTimeout(timer);
  return message.complete && left >= 0;
}
