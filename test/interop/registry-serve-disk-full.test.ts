/** A registry whose disk fills up, for real (a small tmpfs, mounted by root): it says so, keeps what it has, and goes on when there is room. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openRegistryStore, scrub } from '../../src/store/index.js';
import { CrashServer } from '../support/registry-crash/crash-server.js';
import { type Blob, Ledger, type Manifest, toBlob } from '../support/registry-crash/ledger.js';
import { config, makeManifest } from '../support/registry-crash/manifests.js';
import { askSize, beginUpload, pushBlob, pushStyles, putManifest, resumeUpload, toPiece } from '../support/registry-crash/pushing.js';
import { Random } from '../support/registry-crash/random.js';
import { type Answer, Wire } from '../support/registry-crash/wire.js';
import { Workplace } from './support/workplace.js';

const mebibyte = 1024 * 1024;
const pieceBytes = 4 * mebibyte;
const repository = 'team/model';

const random = new Random(1);
const small = toBlob(random.bytes(100_000));
const large = toBlob(random.bytes(40 * mebibyte));
const kept = makeManifest([small], 'kept');

let place: Workplace;
let disk: string;
let server: CrashServer;
let wire: Wire;
let ledger: Ledger;

beforeEach(async () => {
  place = new Workplace();
  disk = place.path('disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]);
  server = new CrashServer(join(disk, 'store'), place.folder);
  await server.start();
  wire = new Wire(server.url);
  ledger = new Ledger(repository);
  for (const blob of [config, small]) await pushBlob(wire, ledger, blob, 'single post');
  await putManifest(wire, repository, kept, 'v1');
});
afterEach(async () => {
  wire.close();
  server.kill();
  await server.ended();
  execFileSync('umount', [disk]);
  await place.close();
});

const makeRoom = () => execFileSync('mount', ['-o', 'remount,size=160m', disk]);
const get = (target: string) => wire.ask('GET', `/v2/${repository}/${target}`);

function expectFull({ status, body }: Answer): void {
  expect([status, JSON.parse(body.toString())]).toMatchObject([507, { errors: [{ code: 'UNKNOWN', message: expect.stringContaining('full') }] }]);
}

/** What was there before the disk was full. */
async function expectKept(): Promise<void> {
  expect((await get('manifests/v1')).body).toEqual(kept.bytes);
  expect((await get(`blobs/${small.digest}`)).body.equals(small.bytes)).toBe(true);
  expect(await scrub(await openRegistryStore(server.dir), { dryRun: true })).toMatchObject({ bad: [], missing: [] });
}

async function expectStored(blob: Blob): Promise<void> {
  expect((await get(`blobs/${blob.digest}`)).body.equals(blob.bytes)).toBe(true);
  expect(readdirSync(server.dir)).not.toContain('ingest');
}

it('a push in pieces goes on where the disk was full', async () => {
  const upload = await beginUpload(wire, ledger, large);
  const send = (start: number) => {
    const { headers, body } = toPiece(large, start, start + pieceBytes);
    return wire.ask('PATCH', upload.location, { headers, body });
  };
  let start = 0;
  let answer = await send(start);
  for (; answer.status === 202; answer = await send(start)) start += pieceBytes;
  expectFull(answer);
  await expectKept();
  const size = (await askSize(wire, upload)) ?? 0;
  expect(size).toBeGreaterThanOrEqual(start);
  expect(size).toBeLessThan(16 * mebibyte);
  makeRoom();
  await resumeUpload(wire, ledger, upload, size);
  await expectStored(large);
});

it.each(pushStyles)('%s: it is refused, and works once there is room', async (style) => {
  await expect(pushBlob(wire, ledger, large, style)).rejects.toThrow(/was answered with 507 .*disk of the registry is full/);
  expect((await get(`blobs/${large.digest}`)).status).toBe(404);
  await expectKept();
  for (const { location } of ledger.uploads) expect((await wire.ask('DELETE', location)).status).toBe(204);
  expect(existsSync(join(server.dir, 'ingest'))).toBe(false);
  makeRoom();
  await pushBlob(wire, ledger, large, style);
  await expectStored(large);
});

it('without a single byte left it still reads, and changes nothing by halves', async () => {
  const other: Manifest = makeManifest([small], 'other');
  expect(() => execFileSync('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=4k'], { stdio: 'ignore' })).toThrow(/dd/);
  const headers = { 'content-type': other.mediaType };
  expectFull(await wire.ask('PUT', `/v2/${repository}/manifests/v1`, { headers, body: other.bytes }));
  expectFull(await wire.ask('DELETE', `/v2/${repository}/manifests/v1`));
  expectFull(await wire.ask('POST', `/v2/${repository}/blobs/uploads/`));
  await expectKept();
  expect((await get(`manifests/${other.digest}`)).status).toBe(404);
  rmSync(join(disk, 'filler'));
  await putManifest(wire, repository, other, 'v1');
  expect((await get('manifests/v1')).body).toEqual(other.bytes);
  expect((await get(`manifests/${kept.digest}`)).body).toEqual(kept.bytes);
  expect(existsSync(join(server.dir, 'ingest'))).toBe(false);
});
