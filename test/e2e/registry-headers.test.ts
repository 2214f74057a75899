/** What a package is, asked from afar: a model of 100 GB costs some requests and little else. */
import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';
import { startTokenServer, type TokenServer } from '../support/registry/token-server.js';
import { makeSafetensors } from '../support/weight-files.js';

const GiB = 1024 ** 3;
const shards = 50;

let bench: RegistryBench;
let tokens: TokenServer | undefined;
afterEach(async () => {
  await bench.end();
  await tokens?.close();
  tokens = undefined;
});

/** The header of a file of 2 GiB. */
function makeHeader(index: number): Uint8Array {
  const tensors = Array.from({ length: 40 }, (_, at) => {
    const span = Math.floor((2 * GiB - 2 ** 20) / 40 / 2) * 2;
    return [`model.layers.${index}.block.${at}.weight`, { dtype: 'BF16', shape: [span / 2], data_offsets: [at * span, (at + 1) * span] }] as const;
  });
  return makeSafetensors({ __metadata__: { format: 'pt' }, ...Object.fromEntries(tensors) }, 0);
}

/** A blob that is mostly a hole: nobody reads so far that its digest matters. */
function putSparse(start: Uint8Array, size: number): { digest: string; size: number } {
  const digest = `sha256:${createHash('sha256').update(start).digest('hex')}`;
  const { folder } = bench.registry;
  const path = join(folder, 'blobs', digest.replace(':', '/'));
  bench.registry.putBlob('big', 'a repository is known by its blobs');
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'w');
  writeSync(file, start);
  ftruncateSync(file, size);
  closeSync(file);
  closeSync(openSync(join(folder, 'repositories', 'big', 'blobs', digest.replace(':', '-')), 'w'));
  return { digest, size };
}

const emptyConfig = {
  descriptor: { name: 'big' },
  config: {},
  modelfs: { type: 'layers', diffIds: [] as string[] },
};

function putModel(layers: readonly { readonly path: string; readonly mediaType: string; readonly digest: string; readonly size: number }[]): void {
  const config = { ...emptyConfig, modelfs: { type: 'layers', diffIds: layers.map(({ digest }) => digest) } };
  bench.registry.putManifest('big', 'v1', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: 'application/vnd.cncf.model.manifest.v1+json',
    config: { ...bench.registry.putBlob('big', JSON.stringify(config)), mediaType: 'application/vnd.cncf.model.config.v1+json' },
    layers: layers.map(({ path, ...layer }) => ({ ...layer, annotations: { 'org.cncf.model.filepath': path } })),
  });
}

function putShards(): void {
  putModel(
    Array.from({ length: shards }, (_, index) => {
      const header = makeHeader(index);
      const span = Math.floor((2 * GiB - 2 ** 20) / 40 / 2) * 2;
      return {
        path: `model-${String(index + 1).padStart(5, '0')}-of-00050.safetensors`,
        mediaType: 'application/vnd.cncf.model.weight.v1.raw',
        ...putSparse(header, header.byteLength + 40 * span),
      };
    }),
  );
}

function receivedBytes(): number {
  return bench.registry.log.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
}

it('50 shards of 2 GiB take 55 requests and 5 MB at most', async () => {
  bench = await createRegistryBench();
  putShards();
  const { code, document } = await bench.json('inspect', `${bench.registry.host}/big:v1`);
  expect([code, document]).toMatchObject([
    0,
    { from: 'registry', findings: [], weights: { format: 'safetensors', precision: 'bfloat16', tensors: 2000 }, parts: { length: shards } },
  ]);
  expect(document['weights']).toMatchObject({ parameters: expect.any(Number), paramSize: expect.stringMatching(/^5\d(\.\d)?B$/) });
  expect(bench.registry.log.length).toBeLessThanOrEqual(55);
  expect(receivedBytes()).toBeLessThanOrEqual(5_000_000);
});

it('the same with a token service, its requests counted', async () => {
  tokens = await startTokenServer();
  bench = await createRegistryBench({ auth: { kind: 'token', server: tokens } });
  putShards();
  const { code, document } = await bench.json('inspect', '--tensors', `${bench.registry.host}/big:v1`);
  expect([code, document['tensors']]).toMatchObject([0, { length: 2000 }]);
  expect(bench.registry.log.length + tokens.requests.length).toBeLessThanOrEqual(55);
  expect(receivedBytes()).toBeLessThanOrEqual(5_000_000);
});

it.each([
  ['gzip', gzipSync('a beginning')],
  ['zstd', Buffer.from('28b52ffd2000010000', 'hex')],
])('a large tar+%s layer is not fetched to be looked into, and it is said', async (compression, start) => {
  bench = await createRegistryBench();
  putModel([
    {
      path: 'model.safetensors',
      mediaType: `application/vnd.cncf.model.weight.v1.tar+${compression}`,
      ...putSparse(start, 2 * GiB),
    },
  ]);
  const { code, document } = await bench.json('inspect', `${bench.registry.host}/big:v1`);
  expect([code, document.parts]).toMatchObject([0, [{ size: 2 * GiB }]]);
  expect(document.findings).toEqual([expect.objectContaining({ message: expect.stringMatching(/compressed/) })]);
  expect(receivedBytes()).toBeLessThanOrEqual(1_000_000);
});
