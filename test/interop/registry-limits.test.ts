/** What a registry and a machine have little of: manifest bytes, descriptors, memory, passes over the data; and the same package each time. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTensors } from '../support/weight-files.js';
import { readFiles } from './support/folders.js';
import { makeModel } from './support/models.js';
import { type DockerRegistry, startDockerRegistry } from './support/registry.js';
import { writeShards } from './support/shards.js';
import { until } from './support/until.js';
import { program, Workplace } from './support/workplace.js';

let place: Workplace;
let registry: DockerRegistry;
beforeAll(async () => {
  place = new Workplace();
  registry = await place.open(startDockerRegistry());
});
afterAll(() => place.close());

const MiB = 1 << 20;

/** `count` files of a few bytes, 500 a folder. */
function writeMany(folder: string, count: number): void {
  for (let at = 0; at < count; at++) {
    const inner = join(folder, `part-${Math.floor(at / 500)}`);
    if (at % 500 === 0) mkdirSync(inner, { recursive: true });
    writeFileSync(join(inner, `module_${at}.py`), `value = ${at}\n`);
  }
}

describe('many small files', () => {
  it('20,000 in one command each way, with 256 descriptors', async () => {
    const folder = place.path('many');
    writeMany(folder, 20_000);
    const name = `${registry.host}/demo/many:v1`;
    const output = place.path('pulled');
    for (const args of [
      ['push', folder, name],
      ['pull', name, '-o', output],
    ]) {
      await place.tool('busybox', ['sh', '-c', 'ulimit -n 256; exec "$@"', 'sh', process.execPath, program, ...args]);
    }
    expect(readFiles(output)).toEqual(readFiles(folder));
    const manifest = await place.tool('crane', ['manifest', name]);
    expect(Buffer.byteLength(manifest)).toBeLessThan(4_000_000);
  });

  it('more layers than a manifest holds: refused before a byte is sent', async () => {
    const folder = place.path('too-many');
    writeMany(folder, 9000);
    const { code, stderr } = await place.run(['push', folder, `${registry.host}/demo/too-many:v1`, '--layers', 'raw']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('4000000')]);
    expect(registry.readLog()).not.toMatch(/"(POST|PATCH|PUT) [^"]*too-many/);
  });
});

describe('512 MiB', () => {
  const size = 512 * MiB;
  const mostKiB = 150 * 1000;
  const script = `
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)`;

  /** Of a process that does nothing else than this. */
  async function measurePeakKiB(args: readonly string[]): Promise<number> {
    const printed = await place.tool('python3', ['-c', script, process.execPath, program, ...args, '--concurrency', '8', '--quiet']);
    return Number(printed.trim().split('\n').at(-1));
  }

  it('eight shards at a time take less than 150 MB of memory, both ways', async () => {
    const folder = place.path('large');
    writeShards(folder, 8, size / 8, 'sparse');
    const name = `${registry.host}/demo/large:v1`;
    expect(await measurePeakKiB(['push', folder, name])).toBeLessThan(mostKiB);
    expect(await measurePeakKiB(['pull', name, '-o', place.path('pulled')])).toBeLessThan(mostKiB);
  });
});

it('each byte is read, hashed and sent once, and written nowhere; fetched, hashed and written once', async () => {
  const folder = place.path('model');
  writeShards(folder, 2, 20 * MiB);
  const name = `${registry.host}/demo/once:v1`;
  const [total, small] = [40 * MiB, 16 * 1024];
  const about = (bytes: number) => bytes >= total && bytes <= total + small;
  const { counted: pushed } = await place.tell(['push', folder, name]);
  expect([pushed.read, pushed.hashed, pushed.sent].map(about)).toEqual([true, true, true]);
  expect(pushed.written).toBeLessThan(small);
  const { counted: pulled } = await place.tell(['pull', name, '-o', place.path('pulled')]);
  expect([pulled.received, pulled.hashed, pulled.written].map(about)).toEqual([true, true, true]);
  expect(pulled.read).toBeLessThan(small);
});

it('inspecting what is remote fetches headers, not weights', async () => {
  const folder = place.path('model');
  writeShards(folder, 2, 20 * MiB);
  await place.must(['push', folder, `${registry.host}/demo/headers:v1`]);
  const { result, counted } = await place.tell(['inspect', '--tensors', `${registry.host}/demo/headers:v1`]);
  expect(result).toMatchObject({ tensors: [{ name: 'layer.1' }, { name: 'layer.2' }] });
  expect(counted.received).toBeLessThan(MiB);
});

it('the precision is that of the weights, whatever config.json says', async () => {
  const folder = place.path('model');
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ model_type: 'llama', torch_dtype: 'bfloat16' }));
  writeFileSync(join(folder, 'model.safetensors'), makeTensors({ weight: ['F32', [64, 64], 16_384] }));
  const name = `${registry.host}/demo/precision:v1`;
  await place.must(['push', folder, name]);
  expect(await place.json(['inspect', name])).toMatchObject({ weights: { precision: 'float32', parameters: 4096 } });
});

it('another second, another store, other times of files, another folder: the same digest', async () => {
  const [folder, elsewhere] = [place.path('model'), place.path('elsewhere')];
  makeModel('varied', folder);
  makeModel('varied', elsewhere);
  for (const entry of readdirSync(elsewhere)) utimesSync(join(elsewhere, entry), 86_400, 86_400);
  const push = (from: string, repository: string) =>
    place.json<{ digest: string }>(['push', from, `${registry.host}/${repository}:v1`], { env: { MODELPORT_HOME: place.path('store') } });
  const first = await push(folder, 'same/one');
  const second = Math.floor(Date.now() / 1000);
  await until('the next second', () => Math.floor(Date.now() / 1000) > second);
  expect((await push(elsewhere, 'same/two')).digest).toBe(first.digest);
});
