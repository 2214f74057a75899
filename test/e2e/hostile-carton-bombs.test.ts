/** Cartons that burst, cartons of very many members, cartons that are merely odd, and cartons with any byte changed. */
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect, compress, createZip, fromBytes } from '../../src/bytes/index.js';
import {
  type CartonSandbox,
  createCartonSandbox,
  hostileCarton,
  type HostileParts,
  soundFiles,
  testedToml,
  toOddMember,
  type Verb,
} from '../support/hostile-carton.js';
import { expectContentRefused, expectSound } from '../support/hostile-carton-verdicts.js';
import { withManifest } from '../support/carton-files.js';
import { runCli } from '../support/cli-process.js';
import { isAlarm, listComplaints } from '../support/hostile-verbs.js';
import { numbers, oddZip, type OddMember, zip64Extra } from '../support/odd-zip.js';

let sandbox: CartonSandbox;
beforeEach(() => {
  sandbox = createCartonSandbox();
});
afterEach(() => sandbox.close());

const MiB = 1024 * 1024;
const zeros = Buffer.alloc(100 * MiB);
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

describe('Z6, C2, C3 a member of the model that bursts', () => {
  it.each(shapes)('%s', async (_, method, make, size, words) => {
    sandbox.put(hostileCarton({ replaced: { 'model/a': bomb('model/a', method, make(), size) } }));
    expectContentRefused(await sandbox.tryAll(), words);
  });
});

const documents = ['carton.toml', 'MANIFEST', 'tensor_data/index.toml', 'tensor_data/x.bin', 'misc/picture.png'];

describe.each(documents)('%s that bursts', (path) => {
  it.each(shapes.slice(1, 4))('%s', async (_, method, make, size) => {
    const files = { [path]: soundFiles[path] ?? 'x' };
    sandbox.put(hostileCarton({ files, replaced: { [path]: bomb(path, method, make(), size) } }));
    const outcomes = await sandbox.tryAll({ only: ['inspect', 'validate', 'verify', 'unpack', 'test', 'copy to a file'] });
    expect(isAlarm(outcomes.verify)).toBe(true);
    for (const verb of ['unpack', 'copy to a file'] as const) expect(outcomes[verb]).toMatchObject({ kind: 'error', exitCode: 1 });
    if (path !== 'misc/picture.png') expect(outcomes.test).not.toMatchObject({ result: { failed: 0 } });
  });
});

describe('memory does not grow with what comes out', () => {
  const most = 250;
  // Not what getrusage says: that counts the process before it became this program, too.
  const tell = `import { readFileSync } from 'node:fs';
    import { isMainThread } from 'node:worker_threads';
    if (isMainThread) process.on('exit', () => console.error(readFileSync('/proc/self/status', 'utf8')));`;

  /** MiB that the program took at most. */
  async function measure(...words: readonly string[]): Promise<number> {
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tell)}`, TMPDIR: join(sandbox.base, 'tmp') };
    const { stderr, code } = await runCli(words, { home: join(sandbox.base, 'home'), cwd: sandbox.base, env });
    expect([words[0], code === 0 || code === 1]).toEqual([words[0], true]);
    return Number(/VmHWM:\s*(\d+) kB/.exec(stderr)?.[1]) / 1024;
  }

  it('of an honest member of a thousand to one, verified, unpacked and copied', async () => {
    const large = { name: 'model/a', method: 8, content: deflatedZeros, size: zeros.length, crc32: crc32(zeros) };
    sandbox.put(hostileCarton({ files: { 'model/a': zeros }, replaced: { 'model/a': large } }));
    for (const words of [['verify'], ['unpack', '-o', 'out/target'], ['copy', 'out/copy.carton']])
      expect(await measure(words[0] ?? '', sandbox.carton, ...words.slice(1))).toBeLessThan(most);
  });

  it('of a small list of millions of tables', async () => {
    const bytes = Buffer.from(`tensor = [${'{},'.repeat(20_000_000)}]\n`);
    const index = { name: 'tensor_data/index.toml', method: 8, content: deflateRawSync(bytes), size: bytes.length, crc32: crc32(bytes) };
    sandbox.put(hostileCarton({ files: { 'tensor_data/index.toml': bytes }, replaced: { 'tensor_data/index.toml': index } }));
    expect(await measure('inspect', sandbox.carton)).toBeLessThan(500);
  });
});

it('A19 a hundred thousand members are listed, judged and proven', async () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`model/f${at}`, '']));
  const zip = await createZip(sandbox.carton);
  for (const [path, file] of Object.entries(withManifest({ ...soundFiles, ...many })))
    await zip.add({ path, content: { kind: 'bytes', bytes: Buffer.from(file as string | Uint8Array) }, method: 'none', mode: 0o644 });
  await zip.commit();
  const outcomes = await sandbox.tryAll({ only: ['ls', 'verify'], longestMs: 30_000 });
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
      Object.entries(all).map(async ([name, file]) => (name === 'MANIFEST' ? toOddMember(name, file) : toZstd(toOddMember(name, file)))),
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
    replaced: { 'model/z': { name: 'model/z', method: 8, content: deflateRawSync('zzzz'), size: 4, crc32: crc32('zzzz') } },
  };
  const whole = hostileCarton({ ...parts, files: { ...parts.files, 'model/z': 'zzzz' } });

  it.each(Array.from({ length: 10 }, (_, block) => block))('block %i of seeds: refused, or found, or harmless, never a crash', async (block) => {
    const wrong: unknown[] = [];
    for (let seed = block * 20; seed < block * 20 + 20; seed++) {
      sandbox.put(mutate(whole, seed));
      const outcomes = await sandbox.tryAll({ only: looks });
      for (const verb of looks) {
        const outcome = outcomes[verb];
        if (outcome.kind === 'error' && outcome.exitCode !== 1) wrong.push([seed, verb, outcome]);
      }
      // What is unpacked was proven: a change can only be where nothing is promised.
      if (outcomes.unpack.kind === 'result' && isAlarm(outcomes.verify)) wrong.push([seed, outcomes.verify]);
    }
    expect(wrong).toEqual([]);
  });
});
