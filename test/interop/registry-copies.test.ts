/** Packages on their way between registry, layout and archive, with what is attached to them, over a registry without a referrers API. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listPaths, readFiles } from './support/folders.js';
import { makeModel } from './support/models.js';
import { type DockerRegistry, startDockerRegistry } from './support/registry.js';
import { Workplace } from './support/workplace.js';

interface Copied {
  readonly digest: string;
  readonly bytes: { readonly total: number; readonly sent: number; readonly skipped: number };
  readonly copied: readonly { readonly name: string | null; readonly digest: string }[];
  readonly referrers?: readonly { readonly digest: string; readonly artifactType: string | null }[];
}

let place: Workplace;
let registry: DockerRegistry;
let model: string;
let source: string;
let digest: string;
beforeAll(async () => {
  place = new Workplace();
  registry = await place.open(startDockerRegistry());
  model = place.path('model');
  makeModel('varied', model);
  source = `${registry.host}/demo/source:v1`;
  ({ digest } = await place.json<Copied>(['push', model, source]));
});
afterAll(() => place.close());

const quiet = ['--no-tty', '--plain-http'];

async function attach(name: string, kind: string, text: string): Promise<void> {
  const file = place.path('note.txt');
  writeFileSync(file, text);
  await place.tool('oras', ['attach', ...quiet, '--disable-path-validation', '--artifact-type', kind, name, `${file}:text/plain`]);
}

async function discover(name: string): Promise<string[]> {
  const found = JSON.parse(await place.tool('oras', ['discover', '--plain-http', '--format', 'json', name])) as {
    referrers: { artifactType: string }[];
  };
  return found.referrers.map(({ artifactType }) => artifactType).toSorted();
}

const toLines = (printed: string): string[] => printed.trim().split('\n');

const typesOf = ({ referrers = [] }: Copied): (string | null)[] => referrers.map(({ artifactType }) => artifactType).toSorted();

describe('what is attached', () => {
  const kinds = ['application/vnd.example.sbom', 'application/vnd.example.scan'] as const;

  it('by oras is found through the fallback tag, and what we bring oras finds', async () => {
    const name = `${registry.host}/attached/source:v1`;
    await place.must(['copy', source, name]);
    for (const kind of kinds) await attach(name, kind, kind);
    expect(toLines(await place.tool('oras', ['repo', 'tags', '--plain-http', `${registry.host}/attached/source`]))).toContain(
      digest.replace(':', '-'),
    );

    const layout = place.path('layout');
    const taken = await place.json<Copied>(['copy', '--referrers', name, `oci:${layout}:v1`]);
    expect([taken.digest, typesOf(taken)]).toEqual([digest, kinds]);
    await place.must(['verify', `oci:${layout}:v1`]);

    const target = `${registry.host}/attached/target:v1`;
    await place.must(['copy', source, target]);
    await attach(target, 'application/vnd.example.there-before', 'stays');
    const brought = await place.json<Copied>(['copy', '--referrers', `oci:${layout}:v1`, target]);
    expect(typesOf(brought)).toEqual(kinds);
    expect(await discover(target)).toEqual([...kinds, 'application/vnd.example.there-before'].toSorted());

    const direct = `${registry.host}/attached/direct:v1`;
    await place.must(['copy', '--referrers', name, direct]);
    await place.must(['copy', '--referrers', name, direct]);
    expect(await discover(direct)).toEqual(kinds);
  });

  it('is of no interest unless it is asked for', async () => {
    const target = `${registry.host}/attached/alone:v1`;
    await attach(source, kinds[0], 'not wanted');
    await place.must(['copy', source, target]);
    expect(await discover(target)).toEqual([]);
  });
});

describe('a round trip', () => {
  it('registry, layout, archive, registry: one digest, and nothing is lost', async () => {
    const [layout, archive] = [place.path('layout'), place.path('package.tar')];
    const back = `${registry.host}/demo/back:v1`;
    const stations = [source, `oci:${layout}:v1`, `oci-archive:${archive}:v1`, back];
    for (const [at, station] of stations.slice(1).entries()) {
      expect((await place.json<Copied>(['copy', stations[at] as string, station])).digest).toBe(digest);
    }
    expect((await place.tool('crane', ['digest', back])).trim()).toBe(digest);
    await place.must(['verify', '--remote', back]);
    const output = place.path('pulled');
    await place.must(['pull', back, '-o', output]);
    expect(readFiles(output)).toEqual(readFiles(model));
  });

  it('--all takes every tag, to a layout and to another registry', async () => {
    const many = `${registry.host}/demo/many`;
    await place.must(['copy', source, `${many}:v1`]);
    await place.must(['copy', source, `${many}:stable`]);
    await place.must(['push', model, `${many}:raw`, '--layers', 'tar']);
    const other = await place.open(startDockerRegistry());
    const layout = place.path('layout');
    const taken = await place.json<Copied>(['copy', '--all', many, `oci:${layout}`]);
    expect(taken.copied.length).toBe(3);
    expect((await place.tool('oras', ['repo', 'tags', '--oci-layout', layout])).split('\n')).toEqual(expect.arrayContaining(['raw', 'stable', 'v1']));

    await place.must(['copy', '--all', many, `${other.host}/new/many`]);
    expect((await place.tool('crane', ['ls', `${other.host}/new/many`])).trim().split('\n').toSorted()).toEqual(['raw', 'stable', 'v1']);
    for (const tag of ['raw', 'stable', 'v1']) {
      expect(await place.tool('crane', ['digest', `${other.host}/new/many:${tag}`])).toBe(await place.tool('crane', ['digest', `${many}:${tag}`]));
      await place.must(['verify', `${other.host}/new/many:${tag}`]);
    }
  });
});

describe('a second repository', () => {
  it('of the same registry takes blobs from the first: nothing but the manifest is sent', async () => {
    const size = Buffer.byteLength(await place.tool('crane', ['manifest', source]));
    const { result, counted } = await place.tell(['copy', source, `${registry.host}/demo/mounted:v1`]);
    expect((result as Copied).digest).toBe(digest);
    // By its digest, and under its name.
    expect(counted.sent).toBe(2 * size);
    expect(counted.received).toBeLessThan(2 * size + 10_000);
    await place.must(['verify', `${registry.host}/demo/mounted:v1`]);
  });

  it('gets no manifest before its last blob: nobody can see half a package', async () => {
    const log = registry.readLog().split('\n');
    const mounts = log.findLastIndex((line) => / "POST \/v2\/demo\/mounted\/blobs\/uploads\/\?/.test(line));
    const manifest = log.findIndex((line) => / "PUT \/v2\/demo\/mounted\/manifests\/v1 /.test(line));
    expect(mounts).toBeGreaterThan(0);
    expect(manifest).toBeGreaterThan(mounts);
  });
});

it('the local store is a station like any other', async () => {
  await place.must(['pull', source]);
  await place.must(['verify', '--local', source]);
  const second = await place.tell(['pull', source]);
  expect((second.result as Copied).bytes.sent).toBe(0);
  const shared = place.path('shared');
  await place.must(['pull', '--shared', source, '-o', shared]);
  expect(readFiles(shared)).toEqual(readFiles(model));
  expect(listPaths(place.store).filter((path) => path.includes('ingest/') || path.endsWith('.tmp'))).toEqual([]);
});
