import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Registries } from './embedded-transfers.js';
import { median } from './rounds.js';
import type { Bench, Table, Target } from './section.js';
import { answers, type Registry, serve } from './served.js';

const rounds = 10;
const packages = 2000;
const layers = 3;

export interface Starts {
  readonly table: Table;
  readonly targets: readonly Target[];
}

/** From the start of the process to what a person waits for: the first answer, and the first of each kind over a store with much in it. */
export async function measureStarts({ say, signal }: Bench, { ours, theirs, folder }: Registries): Promise<Starts> {
  const served = join(folder, 'served');
  const times = { ours: [] as number[], theirs: [] as number[], full: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.theirs.push(await measureStart(theirs, served));
    times.ours.push(await measureStart(ours, served));
    const some = await writeLayout(join(served, 'root'), signal);
    times.full.push(await measureStart(ours, served, () => askForEach(ours, some)));
  }
  say(
    `starts: docker-registry ${median(times.theirs).toFixed(0)} ms, modelport ${median(times.ours).toFixed(0)} ms, full ${median(times.full).toFixed(0)} ms`,
  );
  const blobs = packages * (layers + 2);
  const toRow = (name: string, each: readonly number[]) => [name, ...[Math.min(...each), median(each), Math.max(...each)].map((ms) => ms.toFixed(0))];
  return {
    table: {
      titles: [`from start to answer, ${rounds} runs`, 'min, ms', 'median, ms', 'max, ms'],
      rows: [
        toRow('docker-registry', times.theirs),
        toRow('**modelport registry serve**', times.ours),
        toRow(`**the same with ${blobs} blobs: tags, a manifest, a blob**`, times.full),
      ],
    },
    targets: [
      { what: 'start of the registry to its first answer', unit: 'ms', bound: 'at most', limit: 400, measured: median(times.ours) },
      {
        what: `start with ${blobs} blobs to tags, a manifest and a blob`,
        unit: 's',
        bound: 'at most',
        limit: 2,
        measured: median(times.full) / 1000,
      },
    ],
  };
}

async function measureStart(registry: Registry, folder: string, ask: () => Promise<void> = async () => {}): Promise<number> {
  const since = performance.now();
  const served = await serve(registry, folder);
  try {
    await ask();
    return performance.now() - since;
  } finally {
    await served.close();
  }
}

interface Package {
  readonly repository: string;
  readonly layer: string;
}

async function askForEach({ host }: Registry, { repository, layer }: Package): Promise<void> {
  const url = `http://${host}/v2/${repository}`;
  const given = [await answers(`${url}/tags/list`), await answers(`${url}/manifests/v1`), await answers(`${url}/blobs/${layer}`, 'HEAD')];
  if (given.includes(false)) throw new Error('Cannot measure: the registry does not give what is in its store');
}

/** An OCI layout of packages that share nothing. Gives one of them. */
async function writeLayout(folder: string, signal: AbortSignal): Promise<Package> {
  const blobs = join(folder, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (mediaType: string, text: string) => {
    const hex = createHash('sha256').update(text).digest('hex');
    writeFileSync(join(blobs, hex), text);
    return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
  };
  const manifests: unknown[] = [];
  let layer = '';
  for (let at = 0; at < packages; at++) {
    if (at % 100 === 0) await setImmediate(undefined, { signal });
    const config = put('application/vnd.oci.image.config.v1+json', JSON.stringify({ package: at }));
    const own = Array.from({ length: layers }, (_, number) => put('application/vnd.oci.image.layer.v1.tar', `layer ${number} of package ${at}`));
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const manifest = put(mediaType, JSON.stringify({ schemaVersion: 2, mediaType, config, layers: own }));
    manifests.push({ ...manifest, annotations: { 'org.opencontainers.image.ref.name': `bench/package-${at}:v1` } });
    layer = own[0]?.digest ?? '';
  }
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests }));
  return { repository: `bench/package-${packages - 1}`, layer };
}
