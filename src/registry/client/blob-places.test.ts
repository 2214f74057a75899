import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startBench } from '../../../test/support/client-bench.js';
import { digestOf } from '../../bytes/index.js';
import { openBlobPlaces } from './blob-places.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'places-'));
  file = join(folder, 'cache', 'places.txt');
});
afterEach(() => rmSync(folder, { recursive: true }));

const digest = digestOf(Buffer.from('weights'));

describe('places of blobs', () => {
  it('are known to the next run, the last one counts', () => {
    const places = openBlobPlaces(file);
    expect(places.find('r.test', digest)).toBeUndefined();
    places.note('r.test', digest, 'team/a');
    places.note('r.test', digest, 'team/b');
    places.note('r.test', digest, 'team/b');
    expect(openBlobPlaces(file).find('r.test', digest)).toBe('team/b');
    expect(openBlobPlaces(file).find('other.test', digest)).toBeUndefined();
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3);
  });

  it('are not taken from lines that are torn or wrong', () => {
    openBlobPlaces(file).note('r.test', digest, 'team/a');
    appendFileSync(file, `r.test ${digest} ../../x\nr.test sha256:x team/b\nr.test ${digest} team/c more\nr.te`);
    expect(openBlobPlaces(file).find('r.test', digest)).toBe('team/a');
  });

  it('are forgotten, the oldest first, before the file grows without end', () => {
    openBlobPlaces(file).note('r.test', digest, 'team/old');
    writeFileSync(file, readFileSync(file, 'utf8') + `old.test ${digest} team/filler\n`.repeat(50_000));
    openBlobPlaces(file).note('r.test', digest, 'team/new');
    expect(statSync(file).size).toBeLessThan(3 * 1024 * 1024);
    expect(openBlobPlaces(file).find('r.test', digest)).toBe('team/new');
  });

  it('are no reason to fail where nothing can be written', () => {
    const places = openBlobPlaces(join('/dev/null', 'places.txt'));
    places.note('r.test', digest, 'team/a');
    expect(places.find('r.test', digest)).toBe('team/a');
  });

  it('let a second repository take the blob over, and cost nothing when they are wrong', async () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024, 7);
    const { registry, open, counters } = await startBench({}, { places: openBlobPlaces(file) });
    await open('team/a').put({ kind: 'bytes', bytes });
    const sent = counters.sent;
    await expect(open('team/b').put({ kind: 'bytes', bytes })).resolves.toMatchObject({ fresh: false });
    expect(counters.sent).toBe(sent);
    openBlobPlaces(file).note(registry.host, digest, 'team/nowhere');
    await expect(open('team/c').put({ kind: 'bytes', bytes: Buffer.from('weights') })).resolves.toMatchObject({ fresh: true });
  });
});
