import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { ByteAnswer, ByteRequest } from './byte-messages.js';
import { loadZstdEncoder } from '../compression/zstd-encoder.js';

/** The body of a thread: any number of hashes side by side, and zstd frames. */
const hashes = new Map<number, Hash>();

parentPort?.on('message', (request: ByteRequest) => {
  if (request.kind === 'drop') hashes.delete(request.hash);
  else if (request.kind === 'zstd') void compress(request.id, request.bytes);
  else reply(hash(request));
});

function hash(request: Extract<ByteRequest, { kind: 'update' | 'digest' }>): ByteAnswer {
  const { id, hash: key } = request;
  const running = hashes.get(key) ?? createHash(request.algorithm);
  if (request.kind === 'digest') {
    hashes.delete(key);
    return { id, hex: running.digest('hex') };
  }
  hashes.set(key, running.update(request.bytes));
  return { id };
}

async function compress(id: number, bytes: Uint8Array): Promise<void> {
  const encode = await loadZstdEncoder();
  const frame = encode(bytes);
  parentPort?.postMessage({ id, frame } satisfies ByteAnswer, [frame.buffer as ArrayBuffer]);
}

function reply(answer: ByteAnswer): void {
  parentPort?.postMessage(answer);
}
