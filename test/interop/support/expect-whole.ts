/** Proof that bytes arrived, not only that a program said so. */
import { expect } from 'vitest';
import { readFiles } from './folders.js';
import { Layout } from './layouts.js';
import type { Scene } from './scene.js';
import type { Surroundings } from './tools.js';

export interface PushedOptions {
  /** What was pushed, where the client may not make a manifest of its own. */
  readonly digest?: string;
  /** Of `modelport pull`. */
  readonly args?: readonly string[];
  readonly around?: Surroundings;
}

/** What a client has pushed: whole on the server's disk, and every byte of the model in what is served. Gives the digest. */
export async function expectPushed({ place, registry, model }: Scene, name: string, options: PushedOptions = {}): Promise<string> {
  expect(await place.json(['verify', `oci:${registry.dir}:${name}`])).toMatchObject({ ok: true, problems: [] });
  const output = place.path('pulled');
  const args = ['pull', `${registry.host}/${name}`, '-o', output, ...(options.args ?? [])];
  const { digest } = await place.json<{ digest: string }>(args, options.around);
  expect(readFiles(output)).toEqual(readFiles(model));
  if (options.digest !== undefined) expect(digest).toBe(options.digest);
  return digest;
}

/** What a client has pulled into a layout: one package with this digest, and every byte of the model in it. */
export async function expectPulled(scene: Scene, layout: string, digest: string): Promise<void> {
  expect(new Layout(layout).index().manifests.map((entry) => entry.digest)).toEqual([digest]);
  await expectUnpacked(scene, `oci:${layout}@${digest}`);
}

export async function expectUnpacked({ place, model }: Scene, location: string): Promise<void> {
  const output = place.path('unpacked');
  await place.must(['unpack', location, '-o', output]);
  expect(readFiles(output)).toEqual(readFiles(model));
}
