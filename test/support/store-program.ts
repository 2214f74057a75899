/** A process of its own at a store: node FILE pack|tag|prune HOME NAME COUNT. Writes a line after each step. */
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { defaultLimits } from '../../src/core/index.js';
import { emptyDescriptor, emptyJson, mediaTypes, serialize } from '../../src/oci/index.js';
import { type LayoutStore, openLocalStore, prune } from '../../src/store/index.js';

const step = () => writeSync(1, '.\n');

/** Two layers of its own, one that all share, the manifest, the name. */
async function pack(store: LayoutStore, name: string): Promise<void> {
  const lease = await store.lease();
  const layers = [];
  for (const bytes of [randomBytes(200_000), randomBytes(10), Buffer.from('shared by all')]) {
    const { digest, size } = await store.put({ kind: 'bytes', bytes });
    layers.push({ mediaType: mediaTypes.octetStream, digest, size });
    step();
  }
  await store.put({ kind: 'bytes', bytes: emptyJson });
  const { bytes, descriptor } = serialize({ schemaVersion: 2, mediaType: mediaTypes.manifest, config: emptyDescriptor, layers }, mediaTypes.manifest);
  await store.put({ kind: 'bytes', bytes }, { expected: descriptor });
  step();
  await store.tag(name, descriptor);
  lease.release();
  step();
}

async function tag(store: LayoutStore, name: string): Promise<void> {
  const { digest, size } = await store.put({ kind: 'bytes', bytes: Buffer.from(name) });
  await store.tag(name, { mediaType: mediaTypes.octetStream, digest, size });
}

async function main([verb, home = '', name = '', count = '0']: readonly string[]): Promise<void> {
  const store = await openLocalStore({ home });
  for (let round = 0; round < Number(count); round++) {
    if (verb === 'pack') await pack(store, `${name}:${round}`);
    else if (verb === 'tag') await tag(store, `${name}:${round}`);
    else await prune(store, { limits: defaultLimits });
    step();
  }
}

await main(process.argv.slice(2));
