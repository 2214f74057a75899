import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rawTar } from '../../../test/support/raw-tar.js';
import { createSandbox, failure, file, folder, symlink, tar, type UnpackSandbox } from '../../../test/support/unpack-sandbox.js';
import { type ByteStream, createError, defaultLimits } from '../../core/index.js';
import { temporaryName } from '../durable.js';
import { unpackPackage } from './unpack.js';

let box: UnpackSandbox;

beforeEach(() => {
  box = createSandbox();
});

afterEach(() => box.close());

describe('unpackPackage: failures leave nothing', () => {
  async function* failing(): ByteStream {
    yield Buffer.from('half');
    throw createError('bytes/digest-mismatch', { message: 'Cannot use the layer: wrong digest' });
  }

  it('bytes that turn out wrong', async () => {
    expect(await box.refusal(box.unpack([file('good'), { ...file('bad', 'half'), open: async () => failing() }]))).toMatchObject(
      failure('bytes/digest-mismatch', /wrong digest/),
    );
    const damaged = async function* (): ByteStream {
      yield rawTar({ name: 'a', content: 'A' });
      yield* failing();
    };
    expect(await box.refusal(box.unpack([{ ...tar(), open: async () => damaged() }]))).toMatchObject(
      failure('bytes/digest-mismatch', /wrong digest/),
    );
  });

  it.each(['ab', 'abcd'])('bytes that are not three but %s', async (content) => {
    expect(await box.refusal(box.unpack([file('a', content, { size: 3 })]))).toMatchObject(failure('bytes/size-mismatch', /expected 3 bytes/));
  });

  it('a source that cannot be opened, while others are under way', async () => {
    const open = async () => {
      throw createError('oci/not-found', { message: 'Cannot fetch the layer: it is missing' });
    };
    const endless = async function* (): ByteStream {
      for (;;) yield await new Promise<Uint8Array>((resolve) => setImmediate(() => resolve(Buffer.alloc(1))));
    };
    expect(
      await box.refusal(box.unpack([{ ...file('e'), size: 2 ** 40, open: async () => endless() }, { ...file('a'), open }, file('b')])),
    ).toMatchObject(failure('oci/not-found', /missing/));
  });

  it('a signal', async () => {
    const controller = new AbortController();
    const open = async function* (): ByteStream {
      yield Buffer.from('a');
      controller.abort();
      yield Buffer.from('b');
    };
    expect(await box.refusal(box.unpack([{ ...file('a', 'ab'), open: async () => open() }], { signal: controller.signal }))).toMatchObject(
      failure('core/cancelled', /cancelled/),
    );
  });

  it('a place that cannot be written', async () => {
    writeFileSync(box.target, 'a file');
    await expect(box.unpack([file('a')])).rejects.toMatchObject({ code: 'bytes/exists' });
    await expect(unpackPackage([file('a')], join(box.target, 'x'), { policy: 'package', limits: defaultLimits })).rejects.toMatchObject({
      code: 'bytes/not-found',
    });
    expect(readFileSync(box.target, 'utf8')).toBe('a file');
  });

  it('a link to nothing where the target should be', async () => {
    symlinkSync('nowhere', box.target);
    await expect(box.unpack([file('a')])).rejects.toMatchObject({ code: 'bytes/exists' });
  });
});

describe('unpackPackage: into an existing folder', () => {
  beforeEach(() => mkdirSync(box.target));

  it('keeps an empty folder and fills it', async () => {
    const { ino } = statSync(box.target);
    await box.unpack([file('d/a')]);
    expect(box.tree()).toEqual(['d/', 'd/a: d/a']);
    expect(statSync(box.target).ino).toBe(ino);
  });

  it('clears away what a crashed run left', async () => {
    const left = temporaryName(join(box.target, 'x')).replace(String(process.pid), '999999999');
    mkdirSync(left);
    await box.unpack([file('a')]);
    expect(readdirSync(box.target)).toEqual(['a']);
  });

  it('refuses one that holds something', async () => {
    writeFileSync(join(box.target, 'mine'), 'mine');
    await expect(box.unpack([file('a')])).rejects.toMatchObject({ code: 'bytes/exists', hint: expect.stringMatching(/--overwrite/) });
    expect(box.tree()).toEqual(['mine: mine']);
  });

  it('replaces files and links of the same name and keeps the others', async () => {
    mkdirSync(join(box.target, 'd/new'), { recursive: true });
    for (const path of ['a', 'd/old', 'mine']) writeFileSync(join(box.target, path), 'old');
    symlinkSync('../sentinel', join(box.target, 'link'));
    await box.unpack(
      [
        tar(
          folder('d/', { mtime: 5000 }),
          { name: 'a', content: 'A' },
          { name: 'd/b', content: 'B' },
          { name: 'd/new/c', content: 'C' },
          { name: 'link', content: 'L' },
          symlink('to', 'a'),
        ),
      ],
      { overwrite: true },
    );
    expect(box.tree()).toEqual(['a: A', 'd/', 'd/b: B', 'd/new/', 'd/new/c: C', 'd/old: old', 'link: L', 'mine: old', 'to -> a']);
    expect(statSync(join(box.target, 'd')).mtimeMs).toBe(5_000_000);
  });

  it.each([
    ['a file where the package has a folder', 'a/b'],
    ['a folder where the package has a file', 'd'],
  ])('changes nothing when there is %s', async (_what, path) => {
    mkdirSync(join(box.target, 'd'));
    writeFileSync(join(box.target, 'a'), 'old');
    writeFileSync(join(box.target, 'b'), 'old');
    await expect(box.unpack([file('b', 'new'), file(path)], { overwrite: true })).rejects.toMatchObject({ code: 'bytes/exists' });
    expect(box.tree()).toEqual(['a: old', 'b: old', 'd/']);
  });

  it('changes nothing when bytes turn out wrong', async () => {
    writeFileSync(join(box.target, 'a'), 'old');
    await expect(box.unpack([file('a', 'new'), file('b', 'x', { size: 2 })], { overwrite: true })).rejects.toMatchObject({
      code: 'bytes/size-mismatch',
    });
    expect(box.tree()).toEqual(['a: old']);
  });
});
