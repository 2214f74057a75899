import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { documentsOf, MemoryCarton, noop, richPackage, writeOptions, writeToMemory } from '../../../test/support/carton-write.js';
import { sourceOf, withManifest } from '../../../test/support/carton-files.js';
import { fromBytes } from '../../bytes/index.js';
import { defaultLimits, type Digest, type LinkedPart } from '../../core/index.js';
import { createMemoryStore } from '../../store/index.js';
import type { Links } from './carton.js';
import { read } from './read.js';
import { inflateCarton, type OpenLinked, shrinkCarton } from './shrink.js';
import { validate } from './validate.js';

const hashOf = (text: string): Digest => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const url = 'https://example.com/weights';

async function shrink(carton: MemoryCarton, links: Links) {
  const documents = await documentsOf(carton.source);
  const small = new MemoryCarton();
  return { ...(await shrinkCarton(documents.members, documents, links, small, writeOptions)), carton: small };
}

async function inflate(carton: MemoryCarton, openLinked: OpenLinked) {
  const documents = await documentsOf(carton.source);
  const whole = new MemoryCarton();
  return { ...(await inflateCarton(documents.members, documents, openLinked, whole, writeOptions)), carton: whole };
}

const serve =
  (content: string): OpenLinked =>
  async () => ({ kind: 'stream', size: content.length, open: async () => fromBytes(Buffer.from(content)) });

const packed = () => writeToMemory(richPackage(), {}, noop);

describe('shrinkCarton', () => {
  it('leaves out what is linked, and changes neither MANIFEST nor the model hash', async () => {
    const { carton, modelHash } = await packed();
    const small = await shrink(carton, new Map([[hashOf('weights'), [url]]]));
    expect(small).toMatchObject({ left: ['model/weights.bin'], savedBytes: 7, unused: [], modelHash });
    expect(small.carton.paths).toEqual([...carton.paths.filter((path) => path !== 'model/weights.bin'), 'LINKS']);
    expect(small.carton.text('MANIFEST')).toBe(carton.text('MANIFEST'));
    expect(small.carton.text('LINKS')).toBe(`version = 1\n\n[urls]\n${hashOf('weights').slice(7)} = [ "${url}" ]\n`);
    const findings = await validate(small.carton.source, { limits: defaultLimits });
    expect(findings.filter(({ level }) => level === 'error')).toEqual([]);
    expect((await read(small.carton.source, { limits: defaultLimits })).linked).toEqual([
      expect.objectContaining({ path: 'model/weights.bin', digest: hashOf('weights'), urls: [url] }),
    ]);
  });

  it('never leaves out what a reader opens first', async () => {
    const { carton } = await packed();
    const links: Links = new Map(['carton.toml', 'tensor_data/index.toml', 'MANIFEST'].map((path) => [hashOf(carton.text(path)), [url]]));
    const small = await shrink(carton, links);
    expect(small.left).toEqual([]);
    expect(small.unused).toEqual([hashOf(carton.text('MANIFEST'))]);
    expect(small.carton.paths).toEqual([...carton.paths, 'LINKS']);
  });

  it('adds to the links that are there, each URL once', async () => {
    const { carton } = await packed();
    const once = await shrink(carton, new Map([[hashOf('weights'), [url]]]));
    const twice = await shrink(
      once.carton,
      new Map([
        [hashOf('weights'), [`${url}2`, url, `${url}2`]],
        [hashOf('picture'), [url]],
        [hashOf('nobody'), [url]],
      ]),
    );
    const { linked } = await read(twice.carton.source, { limits: defaultLimits });
    expect(linked?.map(({ path, urls }) => [path, urls])).toEqual([
      ['misc/picture.png', [url]],
      ['model/weights.bin', [url, `${url}2`]],
    ]);
    expect(twice).toMatchObject({ left: ['misc/picture.png'], unused: [hashOf('nobody')] });
  });

  it('writes no LINKS where nothing fits', async () => {
    const { carton } = await packed();
    const small = await shrink(carton, new Map([[hashOf('nobody'), [url]]]));
    expect(small.carton.fingerprint).toBe(carton.fingerprint);
  });

  it('leaves links to a linked file out too, and keeps the others', async () => {
    const files = withManifest({
      'carton.toml': 'spec_version = 1\n',
      'model/a': 'a',
      'model/to-a': { link: 'a' },
      'model/b': 'b',
      'model/to-b': { link: 'b' },
    });
    const documents = await documentsOf(sourceOf(files, 'zip'));
    const small = new MemoryCarton();
    const { left } = await shrinkCarton(documents.members, documents, new Map([[hashOf('a'), [url]]]), small, writeOptions);
    expect(left).toEqual(['model/a', 'model/to-a']);
    expect(small.paths.slice(0, 2)).toEqual(['model/b', 'model/to-b']);
  });

  it('writes an artifact as well', async () => {
    const { carton, modelHash } = await packed();
    const documents = await documentsOf(carton.source);
    const links: Links = new Map([[hashOf('weights'), [url]]]);
    const written = await shrinkCarton(documents.members, documents, links, { kind: 'oci', blobs: createMemoryStore() }, writeOptions);
    expect(written).toMatchObject({ modelHash, root: { artifactType: 'application/vnd.modelport.carton.v1' }, left: ['model/weights.bin'] });
  });

  it('refuses a LINKS that it cannot read', async () => {
    const { carton } = await packed();
    const broken = sourceOf({ ...carton.files, LINKS: 'version = 2\n' }, 'zip');
    const documents = await documentsOf(broken);
    await expect(shrinkCarton(documents.members, documents, new Map(), new MemoryCarton(), writeOptions)).rejects.toMatchObject({
      code: 'carton/cannot-write',
    });
  });
});

describe('inflateCarton', () => {
  it('undoes shrinking, byte for byte', async () => {
    const { carton, modelHash } = await packed();
    const small = await shrink(carton, new Map([[hashOf('weights'), [url]]]));
    const asked: LinkedPart[] = [];
    const whole = await inflate(small.carton, async (part) => (asked.push(part), serve('weights')(part)));
    expect(asked).toEqual([expect.objectContaining({ path: 'model/weights.bin', urls: [url] })]);
    expect(whole).toMatchObject({ modelHash, fetched: ['model/weights.bin'] });
    expect(whole.carton.fingerprint).toBe(carton.fingerprint);
  });

  it('refuses other bytes than promised', async () => {
    const { carton } = await packed();
    const small = await shrink(carton, new Map([[hashOf('weights'), [url]]]));
    await expect(inflate(small.carton, serve('WEIGHTS'))).rejects.toMatchObject({ code: 'bytes/digest-mismatch', where: 'model/weights.bin' });
  });

  it('refuses a file that is neither there nor linked', async () => {
    const { carton } = await packed();
    const { 'model/weights.bin': _gone, ...rest } = carton.files;
    const documents = await documentsOf(sourceOf(rest, 'zip'));
    const failing = inflateCarton(documents.members, documents, serve(''), new MemoryCarton(), writeOptions);
    await expect(failing).rejects.toMatchObject({ code: 'carton/cannot-write', where: 'model/weights.bin' });
  });
});
