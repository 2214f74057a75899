/** Cartons that burst, cartons of very many members, cartons that are merely odd, and cartons with any byte changed. */
import { crc32, deflateRawSync, deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect, compress, fromBytes } from '../../src/bytes/index.js';
import {
  type CartonSandbox,
  createCartonSandbox,
  hostileCarton,
  type HostileParts,
  soundFiles,
  testedToml,
  toOddMember,
  type Verb,
  verbs,
} from '../support/hostile-carton.js';
import { expectContentRefused, expectSound } from '../support/hostile-carton-verdicts.js';
import { withManifest } from '../support/carton-files.js';
import { isAlarm, listComplaints } from '../support/hostile-verbs.js';
import { numbers, oddZip, type OddMember, zip64Extra } from '../support/odd-zip.js';

let sandbox: CartonSandbox;
beforeEach(() => {
  sandbox = createCartonSandbox();
});
afterEach(() => sandbox.close());

const MiB = 1024 * 1024;
const mostGrown = 200 * MiB;
const zeros = Buffer.alloc(300 * MiB);
/** About a thousand to one, which is the most that deflate can do. */
const deflatedZeros = deflateRawSync(zeros, { level: 9 });

/** A frame without end: four bytes a block of 128 KiB. */
function zstdBomb(blocks: number): Buffer {
  const repeated = numbers([((128 * 1024) << 3) | (1 << 1), 4]);
  const last = Buffer.from(repeated);
  last[0] = (last[0] ?? 0) | 1;
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 13 << 3]), ...Array.from({ length: blocks - 1 }, () => repeated), last]);
}

/** A member that says to be as large as it is, or larger than anything. */
function bomb(name: string, method: 8 | 93, content: Uint8Array, size: number): OddMember {
  const large = size > 0xfffffffe ? { size: 0xffffffff, extra: zip64Extra(size) } : { size };
  return { name, method, content, crc32: 1, central: large, local: large };
}

const shapes: readonly (readonly [string, 8 | 93, () => Uint8Array, number, RegExp])[] = [
  ['deflate that says how large it is', 8, () => deflatedZeros, zeros.length, /bad-archive.*CRC-32|limit.*ratio/],
  ['deflate that says 16 bytes', 8, () => deflatedZeros, 16, /more than the 16 bytes/],
  ['deflate that says 8 PiB', 8, () => deflatedZeros, 2 ** 53 - 1, /limit/],
  ['zstd that says 1 GiB', 93, () => zstdBomb(8192), 1024 * MiB, /limit.*ratio/],
  ['zstd that says 16 bytes', 93, () => zstdBomb(8192), 16, /more than the 16 bytes|limit.*ratio/],
  ['zstd with a window of 2 GiB', 93, () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 1, 0, 0]), 5, /limit.*window/],
];

async function withoutGrowing(work: () => Promise<void>): Promise<void> {
  const before = process.memoryUsage.rss();
  await work();
  expect(process.memoryUsage.rss() - before).toBeLessThan(mostGrown);
}

describe('Z6, C2, C3 a member of the model that bursts', () => {
  it.each(shapes)('%s', async (_, method, make, size, words) => {
    sandbox.put(hostileCarton({ replaced: { 'model/a': bomb('model/a', method, make(), size) } }));
    await withoutGrowing(async () => expectContentRefused(await sandbox.tryAll(), words));
  });
});

const documents = ['carton.toml', 'MANIFEST', 'LINKS', 'tensor_data/index.toml', 'tensor_data/x.bin', 'misc/picture.png'];

describe.each(documents)('%s that bursts', (path) => {
  it.each(shapes.slice(1, 5))('%s', async (_, method, make, size) => {
    const files = { [path]: soundFiles[path] ?? 'x' };
    sandbox.put(hostileCarton({ files, replaced: { [path]: bomb(path, method, make(), size) } }));
    await withoutGrowing(async () => {
      const outcomes = await sandbox.tryAll();
      expect(isAlarm(outcomes.verify)).toBe(path !== 'LINKS' || listComplaints(outcomes.verify).length > 0);
      if (path !== 'LINKS')
        for (const verb of ['unpack', 'copy to a file', 'copy --inflate'] as const)
          expect(outcomes[verb]).toMatchObject({ kind: 'error', exitCode: 1 });
    });
  });
});

it('A19 a hundred thousand members are listed, judged and proven', async () => {
  const many = Array.from({ length: 100_000 }, (_, at) => [`model/f${at}`, ''] as const);
  sandbox.put(hostileCarton({ files: Object.fromEntries(many) }));
  const outcomes = await sandbox.tryAll({ only: ['inspect', 'ls', 'validate', 'verify'] });
  expect(outcomes.ls).toMatchObject({ kind: 'result', result: { findings: [] } });
  expect(outcomes.verify).toMatchObject({ result: { ok: true, checked: { files: 100_004 } } });
});

it('A19 a MANIFEST of a hundred thousand lies is told in ten thousand', async () => {
  const lies = (text: string) => text + Array.from({ length: 100_000 }, (_, at) => `z${at}=${'0'.repeat(64)}\n`).join('');
  sandbox.put(hostileCarton({ manifest: lies }));
  const { inspect, verify, unpack } = await sandbox.tryAll({ only: ['inspect', 'verify', 'unpack'] });
  for (const outcome of [inspect, verify]) expect(listComplaints(outcome)).toHaveLength(10_001);
  expect(listComplaints(verify).at(-1)).toMatch(/90000 more/);
  expect(unpack).toMatchObject({ kind: 'error', exitCode: 1 });
});

describe('what the library of the format writes', () => {
  it('compressed by zstd without size or checksum, documents first, in any order, dated or not, tensors named as they come', async () => {
    const all = withManifest({ ...soundFiles, 'model/b': Buffer.alloc(200_000, 'b'), 'misc/_example_misc_file_0': 'x', 'model/l': { link: 'b' } });
    const members = await Promise.all(
      Object.entries(all).map(([name, file]) => (name === 'MANIFEST' ? toOddMember(name, file) : toZstd(toOddMember(name, file)))),
    );
    for (const order of [members, members.toReversed()]) {
      sandbox.put(oddZip(order));
      expectSound(await sandbox.tryAll());
    }
  });

  it('with data descriptors, folders of their own and DOS as its origin', async () => {
    const descriptor = (content: Buffer) => numbers([0x08074b50, 4], [crc32(content), 4], [content.length, 4], [content.length, 4]);
    const toStreamed = (name: string, file: string | Uint8Array): OddMember => {
      const content = Buffer.from(file);
      return { name, content, flags: 8, host: 0, mode: 0, descriptor: descriptor(content), local: { crc32: 0, size: 0, packed: 0 } };
    };
    const all = Object.entries(withManifest(soundFiles)) as [string, string | Uint8Array][];
    sandbox.put(oddZip([{ name: 'model/', mode: 0o040755 }, ...all.map(([name, file]) => toStreamed(name, file))]));
    expectSound(await sandbox.tryAll());
  });
});

async function toZstd(member: OddMember): Promise<OddMember> {
  if (member.mode !== undefined) return member;
  const content = Buffer.from(member.content ?? '');
  const packed = await collect(compress(fromBytes(content), 'zstd'), 1e6, 'a member');
  return { ...member, method: 93, content: packed, packed: packed.length, size: content.length, crc32: crc32(content) };
}

/** A generator of numbers that gives the same for the same seed. (mulberry32) */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function mutate(bytes: Buffer, seed: number): Buffer {
  const next = random(seed);
  const changed = Buffer.from(bytes);
  for (let count = 1 + next(3); count > 0; count--) changed[next(changed.length)] = next(256);
  if (next(8) === 0) return changed.subarray(0, next(changed.length));
  return next(8) === 0 ? Buffer.concat([changed, bytes.subarray(next(bytes.length))]) : changed;
}

describe('any bytes changed', () => {
  const looks: readonly Verb[] = ['inspect', 'validate', 'verify', 'unpack'];
  const parts: HostileParts = {
    files: {
      'carton.toml': testedToml,
      LINKS: `version = 1\n\n[urls]\n${'ab'.repeat(32)} = ["https://models.example/x"]\n`,
      'model/l': { link: 'a' },
    },
    replaced: { 'model/z': { name: 'model/z', method: 8, content: deflateSync('zzzz').subarray(2, -4), size: 4, crc32: crc32('zzzz') } },
  };
  const whole = hostileCarton({ ...parts, files: { ...parts.files, 'model/z': 'zzzz' } });

  it.each(Array.from({ length: 15 }, (_, block) => block))('block %i of seeds: refused, or found, or harmless, never a crash', async (block) => {
    for (let seed = block * 20; seed < block * 20 + 20; seed++) {
      sandbox.put(mutate(whole, seed));
      const outcomes = await sandbox.tryAll({ only: looks });
      for (const verb of looks) {
        const outcome = outcomes[verb];
        if (outcome.kind === 'error') expect([seed, verb, outcome.exitCode]).toEqual([seed, verb, 1]);
      }
      // What is unpacked was proven: a change can only be where nothing is promised.
      if (outcomes.unpack.kind === 'result' && outcomes.verify.kind === 'result') expect([seed, isAlarm(outcomes.verify)]).toEqual([seed, false]);
    }
  });
});

it('nothing of this is known to be refused only because everything is', async () => {
  sandbox.put(hostileCarton());
  const outcomes = await sandbox.tryAll();
  for (const verb of verbs) expect([verb, outcomes[verb].kind]).toEqual([verb, 'result']);
});
