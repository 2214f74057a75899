import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sourceOf, withManifest } from '../../../test/support/carton-files.js';
import { documentsOf, floats, noop, richPackage, testOf, texts, writeOptions, writeToMemory } from '../../../test/support/carton-write.js';
import { packageOf, part } from '../../../test/support/parts.js';
import { defaultLimits, emptyDescription, type FilesSource, type ModelPackage, silentProgress, type Tensor } from '../../core/index.js';
import { parseTypedToml } from '../../text/index.js';
import { describeCartonToml } from './carton-toml.js';
import { read } from './read.js';
import { validate } from './validate.js';
import { verifyCarton } from './verify.js';
import { writeCarton } from './write.js';

const verifyOptions = { limits: defaultLimits, concurrency: 2, progress: silentProgress };
const toml = (text: string) => parseTypedToml(text, 'carton.toml', defaultLimits).value;

/** As far as tests of single things need it: one input, one output, one self test. */
function tested(test: Record<string, Tensor>, io: Partial<ModelPackage['io']> = {}): ModelPackage {
  const spec = { name: 'x', dtype: 'float32', shape: '*' } as const;
  return packageOf([part('m')], {
    io: { inputs: [spec], outputs: [{ ...spec, name: 'y' }], selfTests: 1, examples: 0, ...io },
    samples: { selfTests: [testOf(test)], examples: [] },
  });
}

describe('writeCarton', () => {
  it('writes what its own rules find nothing wrong with, and verifies', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, noop);
    const findings = await validate(carton.source, { limits: defaultLimits });
    expect(findings.filter(({ level }) => level === 'error')).toEqual([]);
    expect((await verifyCarton(carton.source, verifyOptions)).problems).toEqual([]);
  });

  it('orders the members so that the metadata stands last', async () => {
    const { carton, members } = await writeToMemory(richPackage(), {}, noop);
    expect(carton.paths).toEqual([
      'model/b/ü.txt',
      'model/weights.bin',
      'tensor_data/index.toml',
      'tensor_data/tensor_0.bin',
      'tensor_data/tensor_1.toml',
      'tensor_data/tensor_2.bin',
      'tensor_data/tensor_3.toml',
      'misc/picture.png',
      'carton.toml',
      'MANIFEST',
    ]);
    expect(members).toBe(carton.added.length);
  });

  it('is read back as it was', async () => {
    const pkg = richPackage();
    const { carton, modelHash } = await writeToMemory(pkg, {}, noop);
    const found = await read(carton.source, { limits: defaultLimits });
    expect(found.identity).toMatchObject({
      name: 'demo',
      description: 'A model, 🎉',
      licenses: ['MIT AND (Apache-2.0 OR BSD-3-Clause)'],
      homepage: 'https://example.com',
    });
    expect(found.io).toEqual(pkg.io);
    expect(found.modelHash).toBe(modelHash);
    expect(found.run).toMatchObject({ runtime: 'noop', version: '=1.0.0' });
    const [one, two] = found.samples?.selfTests ?? [];
    expect(one).toMatchObject({ name: 'one', description: 'first', rtol: 1e-3, atol: 0 });
    expect(await one?.inputs.get('s')?.()).toEqual(texts([2], 'ü', '🎉'));
    expect(await two?.inputs.get('x')?.()).toMatchObject({ kind: 'numeric', dtype: 'float32', shape: [1, 2, 1] });
    expect(two?.expected).toBeUndefined();
    expect(found.samples?.examples[0]?.inputs.get('s')).toEqual({ kind: 'file', path: 'misc/picture.png' });
  });

  it('writes carton.toml in the order of the specification, with what older readers insist on', async () => {
    const { carton } = await writeToMemory(richPackage(), { run: { options: { threads: 4, rate: 0.5, fast: true, word: 'a' } } }, noop);
    const value = toml(carton.text('carton.toml'));
    expect(Object.keys(value)).toEqual([
      'spec_version',
      'model_name',
      'short_description',
      'license',
      'repository',
      'homepage',
      'input',
      'output',
      'self_test',
      'example',
      'runner',
    ]);
    expect(value['runner']).toEqual({
      runner_name: 'noop',
      required_framework_version: '=1.0.0',
      runner_compat_version: 1n,
      opts: { threads: 4n, rate: 0.5, fast: true, word: 'a' },
    });
    expect(value['example']).toEqual([{ name: 'shown', inputs: { x: '@tensor_data/_tensor_4', s: '@misc/picture.png' }, sample_out: {} }]);
    expect((value['self_test'] as { expected_out?: unknown }[]).map((test) => test.expected_out)).toEqual([
      { y: '@tensor_data/_tensor_2' },
      undefined,
    ]);
  });

  it('numbers tensors in declared order, stores equal ones once and writes inner everywhere', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, noop);
    const rows = toml(carton.text('tensor_data/index.toml'))['tensor'];
    expect(rows).toEqual([
      { name: '_tensor_0', dtype: 'float32', shape: [1n, 2n, 1n], file: 'tensor_0.bin', inner: [] },
      { name: '_tensor_1', dtype: 'string', shape: [2n], file: 'tensor_1.toml', inner: [] },
      { name: '_tensor_2', dtype: 'int64', shape: [], file: 'tensor_2.bin', inner: [] },
      { name: '_tensor_3', dtype: 'string', shape: [1n], file: 'tensor_3.toml', inner: [] },
      { name: '_tensor_4', dtype: 'float32', shape: [2n], file: 'tensor_0.bin', inner: [] },
    ]);
    expect(carton.text('tensor_data/tensor_1.toml')).toMatch(/^data = \[ "ü", "🎉" \]\n$/);
  });

  it('writes an empty index where there are no tensors', async () => {
    const { carton } = await writeToMemory(packageOf([part('m')]), {}, noop);
    expect(carton.text('tensor_data/index.toml')).toBe('tensor = []\n');
  });

  it('writes nested tensors by the names of their inner ones', async () => {
    const nested: Tensor = { kind: 'nested', inner: [floats([1], 1) as never, floats([2], 1, 2) as never] };
    const { carton } = await writeToMemory(tested({ x: nested, z: nested }), {}, noop);
    expect(toml(carton.text('tensor_data/index.toml'))['tensor']).toEqual([
      { name: '_carton_nested_inner_0', dtype: 'float32', shape: [1n], file: 'tensor_0.bin', inner: [] },
      { name: '_carton_nested_inner_1', dtype: 'float32', shape: [2n], file: 'tensor_1.bin', inner: [] },
      { name: '_tensor_0', dtype: 'nested', inner: ['_carton_nested_inner_0', '_carton_nested_inner_1'] },
    ]);
    const found = await read(carton.source, { limits: defaultLimits });
    expect(await found.samples?.selfTests[0]?.inputs.get('z')?.()).toMatchObject({ kind: 'nested', inner: [{ shape: [1] }, { shape: [2] }] });
  });

  it('gives the same bytes for the same parts in any order', async () => {
    const pkg = richPackage();
    const [one, two] = [await writeToMemory(pkg, {}, noop), await writeToMemory({ ...pkg, parts: pkg.parts.toReversed() }, {}, noop)];
    expect(two.carton.fingerprint).toBe(one.carton.fingerprint);
    expect(two.modelHash).toBe(one.modelHash);
  });

  it('compresses below model/ only, and only when asked to', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, { ...noop, compression: 'zstd' });
    const methods = carton.added.map((member) => ('link' in member ? '' : `${member.path.split('/')[0]} ${member.method}`));
    expect([...new Set(methods)]).toEqual(['model zstd', 'tensor_data none', 'misc none', 'carton.toml none', 'MANIFEST none']);
    expect((await writeToMemory(richPackage(), {}, noop)).carton.added).not.toContainEqual(expect.objectContaining({ method: 'zstd' }));
  });

  it('reads each part once', async () => {
    let opened = 0;
    const content = { kind: 'stream', open: async () => (opened++, [Buffer.from('12345')] as never) } as const;
    await writeToMemory(packageOf([{ role: 'weights', path: 'w', size: 5, content }]), {}, noop);
    expect(opened).toBe(1);
  });

  it('refuses parts that are not what their digest says', async () => {
    const wrong = part('w', 'weights', 'text', { digest: `sha256:${'0'.repeat(64)}` });
    await expect(writeToMemory(packageOf([wrong]), {}, noop)).rejects.toMatchObject({ code: 'bytes/digest-mismatch', where: 'model/w' });
  });

  it('keeps permissions as far as they travel', async () => {
    const { carton } = await writeToMemory(packageOf([part('a', 'code', 'a', { mode: 0o775 }), part('b', 'code', 'b', { mode: 0o600 })]), {}, noop);
    expect(carton.added.slice(0, 2)).toMatchObject([
      { path: 'model/a', mode: 0o755 },
      { path: 'model/b', mode: 0o644 },
    ]);
  });

  it('keeps what version 1 does not know', async () => {
    const unknown = { later_field: 1.0, big: 9_007_199_254_740_993n, modelport: { a: ['b'] } };
    const { carton } = await writeToMemory(richPackage(), {}, { ...noop, unknown });
    expect(toml(carton.text('carton.toml'))).toMatchObject(unknown);
    expect(carton.text('carton.toml')).toMatch(/later_field = 1\.0\nbig = 9007199254740993\n/);
  });

  it('leaves out files that stand for tensors, and the text of the description', async () => {
    const pkg = {
      ...tested({ x: floats([1], 1) }),
      parts: [part('tests/x.npy', 'test'), part('tests/other.npy', 'test'), part('README.md', 'doc'), part('m')],
    };
    const description = { selfTests: [{ inputs: { x: './tests/x.npy' } }] };
    const { carton } = await writeToMemory(pkg, description, { ...noop, descriptionText: { text: '# Hi', path: 'README.md' } });
    expect(carton.paths.filter((path) => path.startsWith('model/'))).toEqual(['model/m', 'model/tests/other.npy']);
    expect(toml(carton.text('carton.toml'))['model_description']).toBe('# Hi');
  });

  it('puts parts that are named so into misc', async () => {
    const { carton } = await writeToMemory(
      packageOf([part('misc/a.png'), part('b/c.mp3'), part('m')]),
      {},
      { ...noop, miscPaths: ['misc/a.png', './b/c.mp3'] },
    );
    expect(carton.paths.slice(0, 4)).toEqual(['model/m', 'tensor_data/index.toml', 'misc/a.png', 'misc/b/c.mp3']);
  });

  it('says what a carton has no place for', async () => {
    const identity = { name: 'n', title: 'T', version: '1', authors: ['me'], vendor: 'v', family: 'f', datasets: [] };
    const run = { command: ['a'], resources: {}, entrypoint: 'a:b' };
    const { lost } = await writeToMemory(
      packageOf([part('m')], { format: 'modelpack', identity, run, capabilities: { reasoning: false } }),
      {},
      noop,
    );
    expect(lost.map(({ where }) => where)).toEqual([
      'package.title',
      'package.version',
      'package.authors',
      'package.vendor',
      'package.family',
      'capabilities.reasoning',
      'run.command',
      'run.entrypoint',
    ]);
    expect(new Set(lost.map(({ code }) => code))).toEqual(new Set(['carton/not-carried']));
  });

  it('moves a description of more than 100 characters', async () => {
    const [exact, long] = ['🎉'.repeat(100), '🎉'.repeat(101)];
    const write = async (description: string) => writeToMemory(packageOf([part('m')], { identity: { description } }), {}, noop);
    expect(toml((await write(exact)).carton.text('carton.toml'))).toMatchObject({ short_description: exact });
    const moved = await write(long);
    expect(toml(moved.carton.text('carton.toml'))).toMatchObject({ model_description: long });
    expect(toml(moved.carton.text('carton.toml'))).not.toHaveProperty('short_description');
    expect(moved.findings).toContainEqual(expect.objectContaining({ level: 'note', code: 'carton/long-description' }));
  });
});

describe('writeCarton of a carton', () => {
  const rewrite = async (source: FilesSource, change: (pkg: ModelPackage) => ModelPackage = (pkg) => pkg) => {
    const documents = await documentsOf(source);
    const info = documents.toml.kind === 'read' ? describeCartonToml(documents.toml.value) : undefined;
    return writeToMemory(change(await read(source, { limits: defaultLimits })), {}, { source: info });
  };
  const original = async () => {
    const runnerOptions = { float: 1, whole: 1n };
    const unknown = { later: 1.5, table: { a: 1n } };
    const settings = { required_platforms: ['x86_64-unknown-linux-gnu'], runner_compat_version: 3 };
    return writeToMemory(
      richPackage(),
      { format: { carton: settings } },
      { ...noop, runnerOptions, unknown, descriptionText: { text: '# Long', path: 'b/none.md' } },
    );
  };

  it('without a change gives the same bytes', async () => {
    const { carton } = await original();
    expect((await rewrite(carton.source)).carton.fingerprint).toBe(carton.fingerprint);
  });

  it('changes what was changed and keeps the rest, unknown fields too', async () => {
    const { carton } = await original();
    const text = carton.text('carton.toml').replace('[runner]\n', '[runner]\nnew = 2.0\n').replace('name = "x"', 'name = "x"\nnewer = "n"');
    const changed = sourceOf(withManifest({ ...carton.files, 'carton.toml': text }), 'zip');
    const again = await rewrite(changed, (pkg) => ({ ...pkg, identity: { ...pkg.identity, name: 'other', description: 'new' } }));
    const value = toml(again.carton.text('carton.toml'));
    expect(value).toEqual({ ...toml(text), model_name: 'other', short_description: 'new' });
    expect(again.carton.text('carton.toml')).toContain('new = 2.0\n');
  });

  it('keeps files that are only linked', async () => {
    const { carton } = await original();
    const { 'model/weights.bin': _gone, ...rest } = carton.files;
    const digest = createHash('sha256').update('weights').digest('hex');
    const LINKS = `version = 1\n\n[urls]\n${digest} = [ "https://example.com" ]\n`;
    const again = await rewrite(sourceOf({ ...rest, LINKS }, 'zip'));
    expect(again.carton.text('LINKS')).toBe(LINKS);
    expect(again.carton.text('MANIFEST')).toBe(carton.text('MANIFEST'));
  });
});

describe('writeCarton refuses', () => {
  const io = (dtype?: 'bool' | 'float16') => {
    const spec = { name: 'mask', ...(dtype === undefined ? {} : { dtype }) };
    return packageOf([part('m')], { io: { inputs: [spec], outputs: [spec], selfTests: 0, examples: 0 } });
  };

  it.each([
    ['a dtype that a carton does not have', io('bool'), /"mask".*float32.*found bool/],
    ['another', io('float16'), /"mask".*found float16/],
    ['an input without dtype', io(), /"mask".*found none/],
    ['what has no file for model/', packageOf([]), /no file is left for model/],
    ['inputs without outputs', tested({}, { outputs: [] }), /declares inputs only/],
    ['self tests without inputs and outputs', tested({}, { inputs: [], outputs: [] }), /self tests.*declares no inputs and outputs/],
    [
      'a test tensor of another dtype',
      tested({ x: { kind: 'numeric', dtype: 'bool', shape: [1], bytes: Uint8Array.of(1) } }),
      /"x" of self_test\[0\].*bool/,
    ],
    ['a tensor that contradicts its shape', tested({ x: floats([3], 1) }), /"x" of self_test\[0\].*12 bytes/],
  ])('%s', async (_, pkg, message) => {
    await expect(writeToMemory(pkg, {}, noop)).rejects.toMatchObject({
      code: 'carton/cannot-write',
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    ['a\nb', 'bytes/unsafe-path'],
    ['../evil', 'bytes/unsafe-path'],
    ['/etc/passwd', 'bytes/unsafe-path'],
  ])('the path %j', async (path, code) => {
    await expect(writeToMemory(packageOf([part(path)]), {}, noop)).rejects.toMatchObject({ code });
  });

  it.each([
    ['A.txt', 'a.txt'],
    ['a', 'a/b'],
  ])('%j beside %j', async (one, two) => {
    await expect(writeToMemory(packageOf([part(one), part(two)]), {}, noop)).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
  });

  it.each([
    [{ run: { options: { list: [1] } } }, /"list"/],
    [{ format: { carton: { runner_compat_version: -1 } } }, /runner_compat_version/],
    [{ format: { carton: { required_platforms: ['my computer'] } } }, /"my computer"/],
    [{ format: { carton: { required_platforms: 'linux' } } }, /required_platforms/],
    [{ format: { carton: { short_description: 3 } } }, /short_description/],
  ])('%j', async (description, message) => {
    const written = writeToMemory(packageOf([part('m')]), description, noop);
    await expect(written).rejects.toMatchObject({ code: 'carton/cannot-write', message: expect.stringMatching(message) as string });
  });

  it('requirements that Rust does not take', async () => {
    const written = writeToMemory(packageOf([part('m')]), {}, { runner: 'noop', frameworkVersion: '1 || 2' });
    await expect(written).rejects.toMatchObject({ code: 'carton/cannot-write', message: expect.stringContaining('||') as string });
  });

  it('before anything is written', async () => {
    const sink = { kind: 'zip', add: () => Promise.reject(new Error('nothing may be written')) } as const;
    await expect(writeCarton(io('bool'), emptyDescription, sink, { ...writeOptions, ...noop })).rejects.toMatchObject({
      code: 'carton/cannot-write',
    });
  });
});
