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
  let frames = 0;
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.byteLength; ) {
      const count = Math.min(frameContentBytes - filled, chunk.byteLength - at);
      content.set(chunk.subarray(at, at + count), filled);
      at += count;
      filled += count;
      if (filled < frameContentBytes) continue;
      yield encode(content, level);
      frames++;
      filled = 0;
    }
  }
  if (filled > 0 || frames === 0) yield encode(content.subarray(0, filled), level);
}
