import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactOf, cartonOf, minimalToml, sourceOf, treeOf, withManifest } from '../../../test/support/carton-files.js';
import { createZip, digestOf, openFileRanges, openZip } from '../../bytes/index.js';
import { createError, defaultLimits, type PackageSource, silentProgress } from '../../core/index.js';
import { sharedMemberBytes } from './spec.js';
import { verifyCarton } from './verify.js';

const options = { limits: defaultLimits, progress: silentProgress, concurrency: 4 };
const files = { 'carton.toml': minimalToml, 'model/a': 'aaa', 'model/b': 'b'.repeat(sharedMemberBytes) };
const size = minimalToml.length + 3 + sharedMemberBytes;

async function problemsOf(source: PackageSource): Promise<string[]> {
  return (await verifyCarton(source, options)).problems.map(({ level, code, where }) => `${level} ${code} ${where}`);
}

describe('verifyCarton', () => {
  it('hashes every member, in a folder, a zip and an artifact', async () => {
    const whole = { files: 3, bytes: size, problems: [] };
    expect(await verifyCarton(cartonOf(files), options)).toEqual(whole);
    expect(await verifyCarton(cartonOf(files, 'zip'), options)).toEqual(whole);
    expect(await verifyCarton(await artifactOf(withManifest(files) as Readonly<Record<string, string>>), options)).toEqual(whole);
  });

  it('finds each wrong member, in every container', async () => {
    const wrong = { ...withManifest(files), 'model/a': 'aab', 'model/b': 'c'.repeat(sharedMemberBytes) } as Readonly<Record<string, string>>;
    const expected = ['error carton/wrong-hash model/b', 'error carton/wrong-hash model/a'];
    expect(await problemsOf(sourceOf(wrong))).toEqual(expected);
    expect(await problemsOf(sourceOf(wrong, 'zip'))).toEqual(expected);
    expect(await problemsOf(await artifactOf(wrong))).toEqual(expected);
  });

  it('says what was expected and what was found', async () => {
    const { problems } = await verifyCarton(sourceOf({ ...withManifest(files), 'model/a': 'aab' }), options);
    expect(problems[0]?.message).toBe(`Cannot use "model/a": expected ${digestOf(Buffer.from('aaa'))}, found ${digestOf(Buffer.from('aab'))}`);
  });

  it('names what is missing, not listed or only linked, and lines that say nothing', async () => {
    const hex = digestOf(Buffer.from('www')).slice(7);
    const listed = withManifest({ ...files, LINKS: `version = 1\n[urls]\n${hex} = ["https://a/w"]\n` }, { 'model/v': 'v', 'model/w': 'www' });
    const source = sourceOf({ ...listed, MANIFEST: `${listed.MANIFEST}model/x=12\n`, 'model/x': 'x' });
    expect((await problemsOf(source)).sort()).toEqual([
      'error carton/bad-manifest MANIFEST:6',
      'error carton/missing-member model/v',
      'note carton/linked-only model/w',
      'warning carton/unlisted-member model/x',
    ]);
  });

  it('promises nothing without MANIFEST', async () => {
    const source = sourceOf({ 'carton.toml': minimalToml }, 'zip');
    expect(await verifyCarton(source, options)).toMatchObject({ files: 0, bytes: 0, problems: [{ level: 'error', code: 'carton/bad-manifest' }] });
  });

  it('hashes what a link leads to: once where both have one hash, and against its own where they differ', async () => {
    const linked = { ...files, 'model/l': { link: 'a' } };
    expect(await verifyCarton(cartonOf(linked), options)).toEqual({ files: 3, bytes: size, problems: [] });
    const listed = withManifest(files, { 'model/l': 'other' });
    expect(await problemsOf(sourceOf({ ...listed, 'model/l': { link: 'a' } }))).toEqual(['error carton/wrong-hash model/l']);
  });

  it('hashes a real zip: stored, deflated and zstd members, and a link', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'carton-verify-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'model.carton');
    const zip = await createZip(path, {});
    const members = { ...files, 'model/c': 'c'.repeat(9) };
    const methods = ['none', 'deflate', 'zstd', 'none'] as const;
    for (const [index, [name, text]] of Object.entries(members).entries()) {
      await zip.add({ path: name, content: { kind: 'bytes', bytes: Buffer.from(text) }, method: methods[index] ?? 'none' });
    }
    await zip.add({ path: 'model/l', link: 'c' });
    const listed = withManifest({ ...members, 'model/l': { link: 'c' } });
    await zip.add({ path: 'MANIFEST', content: { kind: 'bytes', bytes: Buffer.from(listed.MANIFEST) } });
    await zip.commit();
    await zip.close();
    const ranges = await openFileRanges(path);
    onTestFinished(() => ranges.close());
    const tree = await openZip(ranges, { limits: defaultLimits, where: path });
    expect(await verifyCarton({ kind: 'files', location: path, tree }, options)).toEqual({ files: 4, bytes: size + 9, problems: [] });
  });

  it('goes on after a member that its container calls damaged, and stops when the disk fails', async () => {
    const tree = treeOf(withManifest(files));
    const failing = (error: Error) => ({
      ...cartonOf(),
      tree: {
        entries: tree.entries,
        open: async (path: string) => {
          if (path === 'model/b') throw error;
          return tree.open(path);
        },
      },
    });
    const damaged = await verifyCarton(failing(createError('bytes/bad-archive', { message: 'Cannot read it: its CRC-32 is wrong' })), options);
    expect(damaged.problems).toMatchObject([{ code: 'carton/damaged-member', message: 'Cannot use "model/b": Cannot read it: its CRC-32 is wrong' }]);
    await expect(verifyCarton(failing(createError('bytes/io', { message: 'Cannot read' })), options)).rejects.toMatchObject({ code: 'bytes/io' });
  });

  it('tells how far it is, and stops when asked', async () => {
    const told: string[] = [];
    const progress = {
      start: (task: string, item: string, total?: number) => {
        let done = 0;
        return { advance: (bytes: number) => void (done += bytes), done: () => void told.push(`${task} ${item} ${done}/${total}`) };
      },
    };
    await verifyCarton(cartonOf(files), { ...options, progress, concurrency: 1 });
    expect(told).toEqual([
      `verify model/b ${sharedMemberBytes}/${sharedMemberBytes}`,
      `verify carton.toml ${minimalToml.length}/${minimalToml.length}`,
      'verify model/a 3/3',
    ]);
    await expect(verifyCarton(cartonOf(files), { ...options, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'core/cancelled' });
  });
});
