/** Compressed layers that are cut, padded, mislabelled or made to burst: refused while they are read, or read as what they are. */
import { readdirSync } from 'node:fs';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect, compress, fromBytes } from '../../src/bytes/index.js';
import { createHostileSandbox, type HostileSandbox, sha256 } from '../support/hostile-layout.js';
import { tarLayer, writePackage } from '../support/hostile-package.js';
import { expectRefused, isAlarm, listComplaints, tryAllVerbs } from '../support/hostile-verbs.js';
import { rawTar } from '../support/raw-tar.js';

let sandbox: HostileSandbox;
beforeEach(() => {
  sandbox = createHostileSandbox();
});
afterEach(() => sandbox.close());

const everyVerb = () => tryAllVerbs(sandbox, `oci:${sandbox.layout.path}:v1`);

const plain = rawTar({ name: 'plain.txt', content: 'plain' });
const zstd = (bytes: Uint8Array) => collect(compress(fromBytes(bytes), 'zstd'), 1e9, 'a layer');

/** A frame that says how much it decompresses to, and does so from almost nothing. */
function zstdBomb(blocks: number): Uint8Array {
  const windowOf8MiB = 13 << 3;
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, windowOf8MiB]);
  const repeated = Buffer.alloc(4);
  repeated.writeUIntLE(((128 * 1024) << 3) | (1 << 1), 0, 3);
  const last = Buffer.from(repeated);
  last[0] = (last[0] ?? 0) | 1;
  return Buffer.concat([header, ...Array.from({ length: blocks - 1 }, () => repeated), last]);
}

const zstdWindow = (byte: number) => Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, byte]), Buffer.from([1, 0, 0])]);

function gzipWith(trailer: 'crc' | 'size'): Uint8Array {
  const end = Buffer.alloc(8);
  end.writeUInt32LE(trailer === 'crc' ? 1 : crc32(plain), 0);
  end.writeUInt32LE(trailer === 'size' ? 7 : plain.length, 4);
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]), deflateRawSync(plain), end]);
}

const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);

describe.each(['cncf', 'draft'] as const)('compressed layers of %s', (vintage) => {
  const broken: readonly (readonly [string, 'gzip' | 'zstd', () => Uint8Array | Promise<Uint8Array>, RegExp])[] = [
    ['C1 other bytes behind gzip', 'gzip', () => Buffer.concat([gzipSync(plain), Buffer.from('junk')]), /bad-compression/],
    ['C1 gzip that is cut', 'gzip', () => gzipSync(plain).subarray(0, 40), /bad-compression/],
    ['C1 gzip with a wrong checksum', 'gzip', () => gzipWith('crc'), /bad-compression/],
    ['C1 gzip with a wrong size', 'gzip', () => gzipWith('size'), /bad-compression/],
    ['C2 a window of 2^31', 'zstd', () => zstdWindow(21 << 3), /bytes\/limit.*window/],
    ['C2 a dictionary', 'zstd', () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x58, 0x07, 1, 0, 0]), /bad-compression.*dictionary/],
    ['C2 zstd that is cut', 'zstd', async () => (await zstd(plain)).subarray(0, 20), /bad-compression/],
    ['C2 other bytes behind zstd', 'zstd', async () => Buffer.concat([await zstd(plain), Buffer.from('junk')]), /bad-compression/],
    ['C2 a skippable frame of 4 GiB', 'zstd', () => Buffer.from([0x50, 0x2a, 0x4d, 0x18, 255, 255, 255, 255]), /bytes\/limit|bad-compression/],
    ['C3 zeros without end', 'zstd', () => zstdBomb(8000), /bytes\/limit.*ratio/],
  ];

  it.each(broken)('%s', async (_, compression, make, words) => {
    writePackage(sandbox.layout, { vintage, layers: [tarLayer(vintage, await make(), { compression })] });
    const verdicts = await everyVerb();
    expectRefused(sandbox, verdicts, words);
    expect(listComplaints(verdicts.inspect).length).toBeGreaterThan(0);
  });

  it.each([
    ['C1 two members of gzip', 'gzip', () => Buffer.concat([gzipSync(plain.subarray(0, 700)), gzipSync(plain.subarray(700))])],
    [
      'C2 skippable frames',
      'zstd',
      async () => Buffer.concat([skippable, await zstd(plain.subarray(0, 700)), skippable, await zstd(plain.subarray(700)), skippable]),
    ],
  ] as const)('%s are one layer', async (_, compression, make) => {
    writePackage(sandbox.layout, { vintage, layers: [tarLayer(vintage, await make(), { compression, diffId: sha256(plain) })] });
    const { unpack, verify } = await everyVerb();
    expect(verify).toMatchObject({ result: { ok: true } });
    expect(unpack).toMatchObject({ result: { files: 1 } });
    expect(readdirSync(sandbox.target)).toEqual(['plain.txt']);
  });

  it.each([
    ['plain tar', () => plain],
    ['zstd', () => zstd(plain)],
  ] as const)('C4 called gzip and is %s: said, and read as what it is', async (_, make) => {
    writePackage(sandbox.layout, { vintage, layers: [tarLayer(vintage, await make(), { compression: 'gzip', diffId: sha256(plain) })] });
    const { validate, unpack } = await everyVerb();
    expect(isAlarm(validate)).toBe(true);
    expect(unpack).toMatchObject({ result: { files: 1 } });
  });

  it('C5 a diffId of other bytes', async () => {
    writePackage(sandbox.layout, { vintage, layers: [tarLayer(vintage, gzipSync(plain), { compression: 'gzip', diffId: sha256('other') })] });
    const { verify } = await everyVerb();
    expect(verify).toMatchObject({ result: { ok: false, problems: [{ level: 'error', code: 'verify/diff-id' }] } });
  });
});
