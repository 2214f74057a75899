import type { ByteStream } from '../../core/index.js';
import { findByteThread } from '../threads/byte-thread.js';
import { loadZstdEncoder } from './zstd-encoder.js';

/** Frames of this much content each, so that any of them can be read alone and memory stays flat. */
const frameContentBytes = 4 * 1024 * 1024;

/** As many as can be worked on at a time, and one that waits. */
const framesAhead = 2;

/** Independent frames without checksums; an empty stream gives one empty frame. Frames are made in threads, several at a time. */
export async function* zstd(stream: ByteStream): ByteStream {
  const underWay: Promise<Uint8Array>[] = [];
  for await (const content of gather(stream)) {
    underWay.push(encode(content));
    if (underWay.length > framesAhead) yield await (underWay.shift() as Promise<Uint8Array>);
  }
  for (const frame of underWay) yield await frame;
}

/** Pieces of `frameContentBytes`, the last one shorter, each in memory of its own that threads can read. */
async function* gather(stream: ByteStream): ByteStream {
  let content = allocate();
  let filled = 0;
  let isEmpty = true;
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.byteLength;) {
      const count = Math.min(frameContentBytes - filled, chunk.byteLength - at);
      content.set(chunk.subarray(at, at + count), filled);
      at += count;
      filled += count;
      if (filled < frameContentBytes) continue;
      yield content;
      content = allocate();
      filled = 0;
      isEmpty = false;
    }
  }
  if (filled > 0 || isEmpty) yield content.subarray(0, filled);
}

function allocate(): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(frameContentBytes));
}

async function encode(content: Uint8Array): Promise<Uint8Array> {
  // One short frame is made sooner than a thread is started.
  const thread = content.byteLength < frameContentBytes ? undefined : findByteThread();
  const answer = await thread?.ask({ kind: 'zstd', bytes: content });
  return answer?.frame ?? (await loadZstdEncoder())(content);
}
