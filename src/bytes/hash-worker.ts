import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { HashAnswer, HashRequest } from './hash-messages.js';

/** The body of a hash thread: any number of hashes side by side. */
const hashes = new Map<number, Hash>();

parentPort?.on('message', (request: HashRequest) => {
  if (request.kind === 'drop') {
    hashes.delete(request.hash);
    return;
  }
  const { id, hash: key } = request;
  const hash = hashes.get(key) ?? createHash(request.algorithm);
  if (request.kind === 'digest') {
    hashes.delete(key);
    return reply({ id, hex: hash.digest('hex') });
  }
  hashes.set(key, hash.update(request.bytes));
  reply({ id });
});

function reply(answer: HashAnswer): void {
  parentPort?.postMessage(answer);
}
