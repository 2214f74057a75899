import { describe, expect, it } from 'vitest';
import { plainStyle } from '../../terminal.js';
import { renderGc } from './gc.js';
import { renderScrub } from './scrub.js';
import { renderServe } from './serve.js';
import { renderWarm } from './warm.js';

const a = `sha256:${'a'.repeat(64)}` as const;
const b = `sha256:${'b'.repeat(64)}` as const;

describe('serve', () => {
  const serving = {
    address: '127.0.0.1:5000',
    url: 'http://127.0.0.1:5000',
    dir: '/store',
    repository: null,
    readOnly: false,
    mirror: null,
    auth: 'none',
  } as const;

  it('says where it listens and what it serves', () => {
    expect(renderServe(serving, plainStyle)).toEqual({
      out: ['Listening on http://127.0.0.1:5000 (store /store)'],
      err: [],
      quiet: ['http://127.0.0.1:5000'],
    });
  });

  it('says in which manner', () => {
    const { out, err } = renderServe({ ...serving, repository: 'digits', readOnly: true, mirror: 'https://ghcr.io', auth: 'write' }, plainStyle);
    expect(out).toEqual(['Listening on http://127.0.0.1:5000 (store /store), read-only, mirror of https://ghcr.io, who writes has to log in']);
    expect(err).toEqual(['Names of the layout that are a tag alone are served as digits:TAG']);
    expect(renderServe({ ...serving, auth: 'all' }, plainStyle).out[0]).toContain('everybody has to log in');
  });
});

describe('gc', () => {
  const collected = { dir: '/store', dryRun: false, removed: [{ digest: a, size: 1000 }], freedBytes: 1000, kept: 2, untagged: [], uploads: 0 };

  it('says what went', () => {
    expect(renderGc(collected, plainStyle)).toEqual({ out: ['Deleted 1 blob, 1 kB; 2 blobs kept'], err: [], quiet: [a] });
  });

  it('lists what would go, packages without a tag and uploads too', () => {
    const { out } = renderGc({ ...collected, dryRun: true, untagged: [{ repository: 'team/x', digest: b }], uploads: 2 }, plainStyle);
    expect(out).toEqual([
      `team/x  ${b}`,
      `${a}  1 kB`,
      'Would delete 1 blob, 1 kB; 2 blobs kept',
      'Would go, too: 1 package without a tag, 2 uploads that stopped',
    ]);
  });
});

describe('scrub', () => {
  const good = { dir: '/store', dryRun: false, ok: true, checked: 3, bytes: 2000, bad: [], missing: [], affected: [] };

  it('is short when all is well', () => {
    expect(renderScrub(good, plainStyle)).toEqual({ out: ['Good: 3 blobs, 2 kB'], err: [], quiet: [] });
  });

  it('says what is bad, which names need it, and what to do', () => {
    const bad = [{ digest: a, size: 1000, found: b, path: '/store/quarantine/sha256-a' }];
    const result = { ...good, ok: false, bad, missing: [{ digest: b, neededBy: 'team/x:v1' }], affected: ['team/x:v1'] };
    expect(renderScrub(result, plainStyle)).toEqual({
      out: [
        `bad     ${a} (1 kB) hashes to ${b}; it lies in /store/quarantine/sha256-a`,
        `missing ${b}, which team/x:v1 needs`,
        'These names are not whole:',
        '  team/x:v1',
        '  hint: Push or copy them again; a mirror fetches what is missing by itself',
        'Not good: 3 blobs, 2 kB, 1 bad blob, 1 missing blob',
      ],
      err: [],
      quiet: [a, b],
    });
  });

  it('of what no name needs says that, and without --dry-run what would happen', () => {
    const bad = [{ digest: a, size: 1000, found: null, path: '/store/blobs/sha256/a' }];
    expect(renderScrub({ ...good, ok: false, dryRun: true, bad }, plainStyle).out).toEqual([
      `bad     ${a} is no plain file; it lies in /store/blobs/sha256/a`,
      '  hint: Without --dry-run bad blobs are set aside, so that a push sends them again',
      'No name needs them',
      'Not good: 3 blobs, 2 kB, 1 bad blob',
    ]);
  });
});

describe('warm', () => {
  it('says what is there now, and what comes later', () => {
    const ready = { name: 'team/x:v1', digest: a, blobs: 3, bytes: 2000, skipped: 0 };
    expect(renderWarm({ packages: [ready, { ...ready, skipped: 1 }, { ...ready, skipped: 2 }] }, plainStyle)).toEqual({
      out: [
        `Ready team/x:v1 ${a}: 3 blobs, 2 kB`,
        `Ready team/x:v1 ${a}: 3 blobs, 2 kB, 1 more comes when asked for`,
        `Ready team/x:v1 ${a}: 3 blobs, 2 kB, 2 more come when asked for`,
      ],
      err: [],
      quiet: [a, a, a],
    });
  });
});
