/** A pull onto a disk that fills up, for real (a small tmpfs, mounted by root): it says so, keeps what came, and goes on when there is room. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readTree } from '../support/workbench.js';
import { startDockerRegistry } from './support/registry.js';
import { writeShards } from './support/shards.js';
import { Workplace } from './support/workplace.js';

const mebibyte = 1024 * 1024;
const shardBytes = 20 * mebibyte;

let place: Workplace;
let disk: string;
let name: string;
let model: string;

beforeEach(async () => {
  place = new Workplace();
  const registry = await place.open(startDockerRegistry());
  name = `${registry.host}/demo/model:v1`;
  model = place.path('model');
  writeShards(model, 2, shardBytes);
  await place.must(['push', model, name]);
  disk = place.path('disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]);
});
afterEach(async () => {
  execFileSync('umount', [disk]);
  await place.close();
});

async function expectFull(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const { code, stdout } = await place.run([...args, '--json'], { env });
  expect([code, JSON.parse(stdout)]).toMatchObject([3, { error: { code: 'bytes/disk-full', hint: expect.stringMatching(/[Ff]ree/) as string } }]);
}

it.each([
  ['a folder', (): string[] => ['-o', join(disk, 'out')]],
  ['the store', (): string[] => []],
])('a pull to %s', async (_where, options) => {
  const env = { MODELPORT_HOME: join(disk, 'home') };
  const args = ['pull', name, ...options()];
  await expectFull(args, env);
  expect(readdirSync(disk).filter((entry) => entry === 'out')).toEqual([]);
  expect(await place.json(['list'], { env })).toMatchObject({ packages: [] });
  execFileSync('mount', ['-o', 'remount,size=160m', disk]);
  const { counted } = await place.tell(args, { env });
  expect(counted.resumed).toBeGreaterThan(mebibyte);
  expect(counted.received).toBeLessThan(2 * shardBytes);
  if (options().length > 0) expect(readTree(join(disk, 'out'))).toEqual(readTree(model));
  else expect(await place.json(['verify', name], { env })).toMatchObject({ ok: true });
});
