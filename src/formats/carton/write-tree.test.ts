import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CartonFile, minimalToml, sourceOf, withManifest } from '../../../test/support/carton-files.js';
import { documentsOf, MemoryCarton, membersOf, noop, richPackage, writeOptions, writeToMemory } from '../../../test/support/carton-write.js';
import { readFolder } from '../../bytes/index.js';
import { defaultLimits } from '../../core/index.js';
import { writeCartonTree } from './write-tree.js';

async function pack(files: Readonly<Record<string, CartonFile>>) {
  const carton = new MemoryCarton();
  const written = await writeCartonTree(await membersOf(sourceOf(files)), carton, writeOptions);
  return { ...written, carton };
}

const model = { 'carton.toml': `# mine\n${minimalToml}`, 'model/m': 'm', 'model/a/b': 'b' };
const index = 'tensor_data/index.toml';
const python = minimalToml.replace('noop', 'python');

describe('writeCartonTree', () => {
  it('packs the members of a carton again without a change', async () => {
    const { carton, modelHash } = await writeToMemory(richPackage(), {}, noop);
    const again = await pack(carton.files);
    expect(again.carton.fingerprint).toBe(carton.fingerprint);
    expect(again.modelHash).toBe(modelHash);
  });

  it('makes MANIFEST anew and keeps carton.toml as it is', async () => {
    const { carton, modelHash } = await pack({ ...model, MANIFEST: 'old', 'misc/p.png': 'p' });
    expect(carton.paths).toEqual(['model/a/b', 'model/m', index, 'misc/p.png', 'carton.toml', 'MANIFEST']);
    expect(carton.text('carton.toml')).toBe(model['carton.toml']);
    expect(carton.text(index)).toBe('tensor = []\n');
    expect(carton.text('MANIFEST')).toBe(withManifest({ ...model, 'misc/p.png': 'p', [index]: 'tensor = []\n' })['MANIFEST']);
    expect(modelHash).toBe(createHash('sha256').update(carton.text('MANIFEST')).digest('hex'));
  });

  it('gives every tensor the key that older readers want', async () => {
    const row = '[[tensor]]\nname = "t"\ndtype = "float32"\nshape = []\nfile = "t.bin"\nlater = 1.0\n';
    const { carton, findings } = await pack({ ...model, [index]: row, 'tensor_data/t.bin': '1234' });
    expect(carton.text(index)).toBe(`${row}inner = []\n`);
    expect(findings).toContainEqual(expect.objectContaining({ code: 'carton/completed' }));
  });

  it('leaves out what lies beside model/, unless MANIFEST listed it', async () => {
    const files = { ...model, 'README.md': 'r', 'other.txt': 'o' };
    const { MANIFEST } = withManifest({ ...model, 'other.txt': 'o' });
    const { carton, findings } = await pack({ ...files, MANIFEST });
    expect(carton.paths).not.toContain('README.md');
    expect(carton.paths).toContain('other.txt');
    expect(findings.map(({ where }) => where)).toEqual(['README.md']);
  });

  it('puts a bare model below model/, links as copies', async () => {
    const files = { 'carton.toml': minimalToml, 'misc/p': 'p', 'm.bin': 'm', 'sub/n': 'n', 'sub/link': { link: '../m.bin' } };
    const { carton } = await pack(files);
    expect(carton.paths).toEqual(['model/m.bin', 'model/sub/link', 'model/sub/n', index, 'misc/p', 'carton.toml', 'MANIFEST']);
    expect(carton.text('model/sub/link')).toBe('m');
  });

  it('gives a bare Python model the lock that its runner wants, and leaves a laid out one alone', async () => {
    const bare = await pack({ 'carton.toml': python, 'main.py': '', 'requirements.txt': 'numpy' });
    expect(bare.carton.paths).toContain('model/.carton/carton.lock');
    expect(bare.findings).toContainEqual(expect.objectContaining({ code: 'carton/unpinned-environment' }));
    const laidOut = await pack({ 'carton.toml': python, 'model/main.py': '' });
    expect(laidOut.carton.paths).not.toContain('model/.carton/carton.lock');
  });

  it('keeps links in model/, with the hash of what they lead to', async () => {
    const { carton } = await pack({ ...model, 'model/link': { link: 'a/b' } });
    expect(carton.added.find(({ path }) => path === 'model/link')).toEqual({ path: 'model/link', link: 'a/b' });
    expect(carton.text('MANIFEST')).toContain(`model/link=${createHash('sha256').update('b').digest('hex')}\n`);
  });

  it('keeps files that are only linked listed', async () => {
    const away = createHash('sha256').update('away').digest('hex');
    const LINKS = `version = 1\n\n[urls]\n${away} = [ "https://example.com/away" ]\n`;
    const { MANIFEST } = withManifest(model, { 'model/away': 'away' });
    const { carton } = await pack({ ...model, MANIFEST, LINKS });
    expect(carton.text('MANIFEST')).toContain(`model/away=${away}\n`);
    expect(carton.text('LINKS')).toBe(LINKS);
    expect(carton.paths.slice(-2)).toEqual(['MANIFEST', 'LINKS']);
  });

  it.each([
    ['no carton.toml', { 'model/m': 'm' }, 'carton.toml'],
    ['broken TOML', { 'carton.toml': 'spec_version = \n', 'model/m': 'm' }, /^carton\.toml:1:/],
    ['a broken rule', { 'carton.toml': minimalToml.replace('=1.0.0', '1 || 2'), 'model/m': 'm' }, /^carton\.toml:\d+:\d+/],
    [
      'an unknown reference',
      { 'carton.toml': `${minimalToml}\n[[example]]\ninputs = { x = "@misc/none.png" }\nsample_out = {}\n`, 'model/m': 'm' },
      /^carton\.toml:\d+:\d+/,
    ],
    ['a link that leads nowhere', { ...model, 'model/link': { link: 'none' } }, 'model/link'],
    ['a link that leads out', { ...model, 'model/link': { link: '../../etc/passwd' } }, 'model/link'],
  ])('refuses %s before anything is written, and says where', async (_, files, where) => {
    const carton = new MemoryCarton();
    const failure = await writeCartonTree(await membersOf(sourceOf(files as never)), carton, writeOptions).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'carton/cannot-write', where: typeof where === 'string' ? where : expect.stringMatching(where) });
    expect(carton.added).toEqual([]);
  });

  it('reads files of a folder as files', async () => {
    const root = mkdtempSync(join(tmpdir(), 'modelport-'));
    try {
      writeFileSync(join(root, 'carton.toml'), minimalToml);
      writeFileSync(join(root, 'm'), 'm');
      const tree = await readFolder(root, { limits: defaultLimits });
      const carton = new MemoryCarton();
      const { members } = await documentsOf({ kind: 'files', location: root, tree });
      await writeCartonTree(members, carton, { ...writeOptions, root: tree.root });
      expect(carton.added[0]).toMatchObject({ path: 'model/m', content: { kind: 'file', path: join(tree.root, 'm'), size: 1 } });
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
