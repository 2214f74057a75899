import { MessageChannel } from 'node:worker_threads';
import type { ByteStream } from '../core/index.js';

/** Frames of this much content each, so that any of them can be read alone and memory stays flat. */
const frameContentBytes = 4 * 1024 * 1024;

/** zstd's own default; another level would change every digest. */
const level = 3;

type Encoder = (bytes: Uint8Array, level: number) => Uint8Array;

let loading: Promise<Encoder> | undefined;

/** One wasm encoder on every version of Node: the native ones give different bytes. It finds its wasm file beside its own code, so it is never bundled. */
function loadEncoder(): Promise<Encoder> {
  loading ??= import('@bokuweb/zstd-wasm').then(async ({ init, compress }) => {
    await init();
    return compress;
  });
  return loading;
}

/** Independent frames without checksums; an empty stream gives one empty frame. */
export async function* zstd(stream: ByteStream): ByteStream {
  const encode = await loadEncoder();
  const content = Buffer.allocUnsafeSlow(frameContentBytes);
  let filled = 0;
  let empty = true;
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.byteLength;) {
      const count = Math.min(frameContentBytes - filled, chunk.byteLength - at);
      content.set(chunk.subarray(at, at + count), filled);
      at += count;
      filled += count;
      if (filled < frameContentBytes) continue;
      yield* brief(encode(content, level));
      filled = 0;
      empty = false;
    }
  }
  if (filled > 0 || empty) yield* brief(encode(content.subarray(0, filled), level));
}

/** A frame that is freed after its use. Left to the collector they pile up to 32 MiB a thread, and Node 20 cannot detach a buffer otherwise. */
function* brief(frame: Uint8Array): Generator<Uint8Array> {
  try {
    yield frame;
  } finally {
    shredder.postMessage(null, [frame.buffer as ArrayBuffer]);
  }
}

const shredder = openShredder();

/** What is posted to a port whose other end is closed is dropped at once. */
function openShredder() {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
