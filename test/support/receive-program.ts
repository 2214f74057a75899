/**
 * A process of its own that takes a blob from a slow place: node FILE put|unpack PLACE SIZE HANG. `put` puts it into the store PLACE, `unpack` unpacks it
 * as a file to the folder PLACE. At byte HANG it writes a line and waits for ever; when it is done it says on stderr what the bytes went through.
 */
import { writeSync } from 'node:fs';
import { unpackPackage } from '../../src/bytes/index.js';
import { createCounters, defaultLimits } from '../../src/core/index.js';
import { openLocalStore } from '../../src/store/index.js';
import { createDistantBlob } from './distant-blob.js';

async function hang(): Promise<void> {
  writeSync(1, '.\n');
  await new Promise((resolve) => void setInterval(resolve, 2 ** 30).ref());
}

async function main([verb, place = '', size = '0', stop = 'Infinity']: readonly string[]): Promise<void> {
  const blob = createDistantBlob(Number(size), { beforeChunk: async (at) => (at >= Number(stop) ? hang() : undefined) });
  const { blobs, descriptor } = blob;
  const counters = createCounters();
  if (verb === 'put') await (await openLocalStore({ home: place, counters })).put({ kind: 'blob', blobs, descriptor }, { expected: descriptor });
  else
    await unpackPackage([{ kind: 'blob', path: 'deep/model.bin', blobs, descriptor }], place, {
      policy: 'package',
      limits: defaultLimits,
      resumeKey: descriptor.digest,
      counters,
    });
  writeSync(2, JSON.stringify({ ...counters, received: blob.sent }));
}

await main(process.argv.slice(2));
