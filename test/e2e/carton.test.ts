/** A folder becomes a carton, and a carton is looked at, proven, compared and taken apart. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../../src/bytes/index.js';
import { defaultLimits, type Descriptor } from '../../src/core/index.js';
import { pack } from '../../src/ops/index.js';
import { openLayout } from '../../src/store/index.js';
import { type CartonBench, createCartonBench, echoModel, echoToml, floatsNpy, png, sha256Of } from '../support/carton-bench.js';
import { minimalToml } from '../support/carton-files.js';
import { listFiles, readTree, touchAll } from '../support/workbench.js';

let bench: CartonBench;
beforeEach(() => {
  bench = createCartonBench();
});
afterEach(() => bench.close());

const listed = async (location: string) => (await bench.run('ls', location)).stdout.trim().split('\n');
const member = async (location: string, path: string) => (await bench.run('cat', location, path)).stdout;
const bare = ['--runner', 'noop', '--framework-version', '*'] as const;
const members = [
  'MANIFEST',
  'carton.toml',
  'misc/media/sample.png',
  'model/config.json',
  'model/weights.bin',
  'tensor_data/index.toml',
  'tensor_data/tensor_0.bin',
];

describe('packed', () => {
  it('from modelport.toml: model, tests, examples, pictures and the text about it', async () => {
    const document = await bench.pack('echo', echoModel);
    expect(document).toMatchObject({ format: 'carton', vintage: 'v1', digest: null, modelHash: expect.stringMatching(/^[0-9a-f]{64}$/), lost: [] });
    expect(await listed('echo.carton')).toEqual(members);
    const { document: seen } = await bench.json('inspect', 'echo.carton');
    expect(seen).toMatchObject({
      format: 'carton',
      modelHash: document['modelHash'],
      identity: { name: 'echo', licenses: ['MIT'], description: expect.stringContaining('![what it sees](@misc/media/sample.png)') },
      io: { inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 2] }], outputs: [{ name: 'x' }], selfTests: 1, examples: 1 },
      run: { runtime: 'noop', version: '=1.0.0' },
      findings: [],
    });
    expect(seen['extra']).not.toHaveProperty('shortDescription');
    expect(await bench.json('validate', 'echo.carton', '--strict')).toMatchObject({ code: 0, document: { valid: true, findings: [] } });
    expect(await bench.json('inspect', 'echo.carton', '--digest')).toMatchObject({ document: { digest: `sha256:${bench.sha256('echo.carton')}` } });
    expect(await bench.run('test', 'echo.carton')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed') });
  });

  it('from a carton.toml beside the model, which stays byte for byte', async () => {
    const toml = `# mine\n${minimalToml}\n[runner.opts]\nbig = 9007199254740993\nratio = 1.0\n\n[lab]\nnote = "kept"\n`;
    await bench.pack('flat', { 'carton.toml': toml, 'net.bin': 'abc', 'sub/more.bin': 'def' });
    expect(await listed('flat.carton')).toEqual(['MANIFEST', 'carton.toml', 'model/net.bin', 'model/sub/more.bin', 'tensor_data/index.toml']);
    expect(await member('flat.carton', 'carton.toml')).toBe(toml);
    await bench.pack('deep', { 'carton.toml': toml, 'model/net.bin': 'abc', 'model/sub/more.bin': 'def', 'notes.txt': 'mine' });
    expect(await listed('deep.carton')).toEqual(await listed('flat.carton'));
    expect(bench.sha256('deep.carton')).toBe(bench.sha256('flat.carton'));
  });

  it('from a runner and a version, and nothing else', async () => {
    const { findings } = await bench.pack('plain', { 'net.bin': 'abc', 'README.md': '# Plain\n' }, ...bare, '--opt', 'depth=3', '--opt', 'ratio=1.0');
    expect(findings.filter(({ level }) => level !== 'note')).toEqual([]);
    expect((await bench.json('inspect', 'plain.carton')).document).toMatchObject({ run: { runtime: 'noop', version: '*' } });
    expect(await member('plain.carton', 'carton.toml')).toMatch(/depth = 3\n(.*\n)*ratio = 1\.0/);
    expect(await listed('plain.carton')).toContain('model/net.bin');
  });

  it('the same whenever and from wherever', async () => {
    await bench.pack('echo', echoModel);
    bench.write('elsewhere/echo', Object.fromEntries(Object.entries(echoModel).toReversed()));
    touchAll(bench.path('elsewhere'), 1_000_000_000);
    await bench.run('pack', './elsewhere/echo', '--format', 'carton', '-o', 'again.carton', '--concurrency', '1');
    expect(readFileSync(bench.path('again.carton')).equals(readFileSync(bench.path('echo.carton')))).toBe(true);
    await bench.run('pack', './elsewhere/echo', '--format', 'carton', '-o', 'small.carton', '--compress');
    const [plain, small] = await Promise.all(['echo', 'small'].map(async (name) => (await bench.json('inspect', `${name}.carton`)).document));
    expect(small?.['modelHash']).toBe(plain?.['modelHash']);
    expect(readFileSync(bench.path('small.carton')).byteLength).toBeLessThan(20_000);
  });

  it('into the store, a layout and an archive, each with its name', async () => {
    bench.write('echo', echoModel);
    const { document: stored } = await bench.json('pack', './echo', '--format', 'carton', '-t', 'demo/echo:v1');
    expect(stored).toMatchObject({ name: 'demo/echo:v1', path: null, digest: expect.stringMatching(/^sha256:/) });
    for (const place of ['oci:layout:v1', 'echo.tar'])
      expect((await bench.json('pack', './echo', '--format', 'carton', '-o', place)).document).toMatchObject({
        digest: stored.digest,
        modelHash: stored['modelHash'],
      });
    expect((await bench.json('list')).document.packages).toMatchObject([{ name: 'demo/echo:v1', format: 'carton', digest: stored.digest }]);
    for (const place of ['demo/echo:v1', 'oci:layout:v1', 'echo.tar'])
      expect((await bench.json('inspect', place)).document).toMatchObject({
        format: 'carton',
        modelHash: stored['modelHash'],
        identity: { name: 'echo' },
      });
  });
});

describe('what cannot be packed leaves nothing', () => {
  const refused = async (files: Parameters<CartonBench['write']>[1], ...args: readonly string[]) => {
    bench.write('model', files);
    const before = listFiles(bench.base);
    const { code, document } = await bench.json('pack', './model', '--format', 'carton', '-o', 'out.carton', ...args);
    expect(listFiles(bench.base)).toEqual(before);
    return { code, ...document.error };
  };

  it.each([
    ['nobody says what runs it', { 'net.bin': 'x' }, [], 1, 'carton/cannot-write'],
    ['no version for python', { 'main.py': 'x' }, ['--runner', 'python'], 1, 'carton/cannot-write'],
    ['a version that is none', { 'net.bin': 'x' }, ['--runner', 'noop', '--framework-version', 'new'], 1, 'carton/cannot-write'],
    ['a carton.toml that is no TOML', { 'carton.toml': 'spec_version = \n', 'net.bin': 'x' }, [], 1, 'carton/cannot-write'],
    ['a carton.toml of another version', { 'carton.toml': minimalToml.replace('= 1', '= 2'), 'net.bin': 'x' }, [], 1, 'carton/cannot-write'],
    ['options of ModelPacks', { 'net.bin': 'x' }, [...bare, '--layers', 'raw'], 2, 'ops/bad-option'],
    ['--set over a carton.toml', { 'carton.toml': minimalToml, 'net.bin': 'x' }, ['--set', 'name=x'], 2, 'ops/bad-option'],
    ['an option without a value', { 'net.bin': 'x' }, [...bare, '--opt', 'depth'], 2, 'ops/bad-option'],
    ['an empty folder', {}, bare, 1, 'ops/nothing-to-pack'],
    [
      'a self test that names no file',
      { ...echoModel, 'modelport.toml': echoToml.replace('"tests/x.npy"', '"tests/y.npy"') },
      [],
      1,
      'buildfile/invalid',
    ],
    ['a tensor that is none', { ...echoModel, 'tests/x.npy': 'no numbers' }, [], 1, 'tensors/bad-array'],
  ])('%s', async (_, files, args, status, code) => {
    expect(await refused(files as Parameters<CartonBench['write']>[1], ...args)).toMatchObject({ code, hint: expect.any(String) });
    expect((await bench.json('pack', './model', '--format', 'carton', '-o', 'out.carton', ...args)).code).toBe(status);
  });

  it('and says file, line and column of what is wrong', async () => {
    const toml = minimalToml.replace('runner_name = "noop"', 'runner_name = 5');
    expect(await refused({ 'carton.toml': toml, 'net.bin': 'x' })).toMatchObject({ where: expect.stringMatching(/carton\.toml:\d+:\d+/) });
  });

  it('an earlier carton stays, and what is no carton is never written over', async () => {
    await bench.pack('echo', echoModel);
    const before = bench.sha256('echo.carton');
    bench.write('broken', { ...echoModel, 'tests/x.npy': 'no numbers' });
    expect((await bench.run('pack', './broken', '--format', 'carton', '-o', 'echo.carton')).code).toBe(1);
    expect(bench.sha256('echo.carton')).toBe(before);
    bench.write('other', { ...echoModel, 'config.json': '{}' });
    expect((await bench.run('pack', './other', '--format', 'carton', '-o', 'echo.carton')).code).toBe(0);
    expect(bench.sha256('echo.carton')).not.toBe(before);
    writeFileSync(bench.path('notes.txt'), 'precious');
    const { code, stderr } = await bench.run('pack', './echo', '--format', 'carton', '-o', 'notes.txt');
    expect([code, stderr]).toEqual([3, expect.stringMatching(/notes\.txt.*no carton/)]);
    const folder = await bench.run('pack', './echo', '--format', 'carton', '-o', './echo');
    expect([folder.code, folder.stderr]).toEqual([3, expect.stringMatching(/it is a folder, and a carton is one file/)]);
    expect(readFileSync(bench.path('notes.txt'), 'utf8')).toBe('precious');
    writeFileSync(bench.path('empty'), '');
    expect((await bench.run('pack', './echo', '--format', 'carton', '-o', './empty')).code).toBe(3);
    expect(readFileSync(bench.path('empty'), 'utf8')).toBe('');
  });

  it('an interrupt in the middle leaves neither a name nor a scrap', async () => {
    bench.write('big', { 'net.bin': Buffer.alloc(8_000_000, 3) });
    const before = listFiles(bench.base);
    const control = new AbortController();
    const context = bench.context({
      signal: control.signal,
      progress: { start: () => ({ advance: () => control.abort(), done: () => {} }) },
    });
    const options = { dir: 'big', format: 'carton', runner: 'noop', frameworkVersion: '*' };
    await expect(pack({ ...options, output: 'big.carton' }, context)).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(listFiles(bench.base)).toEqual(before);
    await expect(pack({ ...options, name: 'demo/big:v1' }, context)).rejects.toMatchObject({ code: 'core/cancelled' });
    expect((await bench.json('list')).document.packages).toEqual([]);
  });
});

describe('looked at', () => {
  it('ls and cat name members, tensors and pictures', async () => {
    await bench.pack('echo', echoModel);
    const { files } = (await bench.json('ls', 'echo.carton')).document;
    const weights = Buffer.alloc(100_000, 7);
    expect(files.find(({ path }) => path === 'model/weights.bin')).toEqual({
      path: 'model/weights.bin',
      role: expect.any(String),
      size: 100_000,
      digest: `sha256:${sha256Of(weights)}`,
      mode: '0644',
    });
    expect(await member('echo.carton', 'model/config.json')).toBe('{"layers":1}\n');
    expect(await member('echo.carton', './model/config.json')).toBe('{"layers":1}\n');
    expect((await bench.run('carton', 'examples', 'echo.carton', '-o', 'shown')).code).toBe(0);
    expect(listFiles(bench.path('shown'))).toEqual([
      'examples/1-picture/inputs/x.png',
      'examples/1-picture/outputs/x.npy',
      'self-tests/1-same/expected/x.npy',
      'self-tests/1-same/inputs/x.npy',
    ]);
    expect(readFileSync(bench.path('shown/self-tests/1-same/inputs/x.npy'))).toEqual(Buffer.from(floatsNpy([1, 2], 1, 2)));
    expect(readFileSync(bench.path('shown/examples/1-picture/inputs/x.png'))).toEqual(png);
    expect((await bench.run('carton', 'examples', 'echo.carton')).stdout).toMatch(/image\/png 3x2/);
  });

  it('cat gives a tensor as .npy, text as JSON, and says what is not there', async () => {
    const index = '[[tensor]]\nname = "words"\ndtype = "string"\nshape = [2]\nfile = "w.toml"\ninner = []\n';
    await bench.pack('flat', {
      'carton.toml': minimalToml,
      'model/net.bin': 'abc',
      'tensor_data/index.toml': index,
      'tensor_data/w.toml': 'data = ["a", "ü"]\n',
    });
    expect(JSON.parse(await member('flat.carton', '@tensor_data/words'))).toMatchObject({ dtype: 'string', shape: [2], data: ['a', 'ü'] });
    expect(await bench.run('cat', 'flat.carton', '@tensor_data/none')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('"words"'),
    });
    expect(await bench.run('cat', 'flat.carton', '@misc/none.png')).toMatchObject({ code: 3, stdout: '' });
    expect(await bench.run('cat', 'flat.carton', 'net.bin')).toMatchObject({ code: 3, stderr: expect.stringContaining('model/net.bin') });
  });

  it('validate: 0 for good, 1 for errors, and with --strict for warnings', async () => {
    await bench.pack('echo', echoModel);
    await bench.run('unpack', 'echo.carton', '-o', 'open');
    expect(await bench.json('validate', './open', '--strict')).toMatchObject({ code: 0, document: { valid: true } });
    bench.write('open', { 'model/extra.bin': 'not listed' });
    expect(await bench.json('validate', './open')).toMatchObject({ code: 0, document: { valid: true, findings: [{ level: 'warning' }] } });
    expect(await bench.json('validate', './open', '--strict')).toMatchObject({ code: 1, document: { valid: false } });
    const toml = readFileSync(bench.path('open/carton.toml'), 'utf8').replace('"=1.0.0"', '"newest"');
    bench.write('open', { 'carton.toml': toml });
    const { code, document } = await bench.json('validate', './open');
    expect([code, document['valid']]).toEqual([1, false]);
    expect(document.findings).toContainEqual(
      expect.objectContaining({ level: 'error', where: expect.stringMatching(/carton\.toml:\d+:\d+/), rule: expect.stringMatching(/^CT-/) }),
    );
  });
});

/** As `v2` of a layout, the carton `v1` with one small member changed: every blob is what its digest says, and MANIFEST is not. */
async function tamper(path: string): Promise<void> {
  const layout = await openLayout(path, { limits: defaultLimits });
  const root = await layout.resolve('v1');
  const manifest = JSON.parse(Buffer.from(await collect(await layout.open(root as Descriptor), 1e6, 'manifest')).toString());
  const last = manifest.layers.at(-1) as Descriptor;
  const tar = Buffer.from(await collect(await layout.open(last), 1e6, 'tar'));
  tar[tar.indexOf('{"layers":1}') + 10] = 0x32;
  const changed = await layout.put({ kind: 'bytes', bytes: tar });
  const layers = [...manifest.layers.slice(0, -1), { ...last, digest: changed.digest }];
  const { digest, size } = await layout.put({ kind: 'bytes', bytes: Buffer.from(JSON.stringify({ ...manifest, layers })) });
  await layout.tag('v2', { mediaType: manifest.mediaType, digest, size });
}

describe('proven', () => {
  /** The same zip with a byte of the weights changed. */
  const damage = () => {
    const bytes = readFileSync(bench.path('echo.carton'));
    const at = bytes.indexOf(Buffer.alloc(1000, 7)) + 500;
    bytes[at] = 8;
    writeFileSync(bench.path('damaged.carton'), bytes);
  };

  it('verify counts what is right and names what is not', async () => {
    await bench.pack('echo', echoModel);
    const whole = (await bench.json('verify', 'echo.carton')).document;
    expect(whole).toMatchObject({ ok: true, checked: { files: 6 }, problems: [] });
    damage();
    const { code, document } = await bench.json('verify', 'damaged.carton');
    expect(code).toBe(1);
    expect(document).toMatchObject({ ok: false, checked: { files: 6 }, problems: [{ level: 'error', where: 'model/weights.bin' }] });
  });

  it('nothing of a damaged carton is used: unpack, run, cat, copy', async () => {
    await bench.pack('echo', echoModel);
    damage();
    const before = listFiles(bench.base);
    for (const line of [
      ['unpack', 'damaged.carton', '-o', 'out'],
      ['run', 'damaged.carton', '-i', 'x=[[1,2]]'],
      ['copy', 'damaged.carton', 'demo/echo:v1'],
      ['copy', 'damaged.carton', 'fresh.carton'],
    ]) {
      expect(await bench.run(...line)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('model/weights.bin') });
      expect(existsSync(bench.path('out'))).toBe(false);
    }
    expect(listFiles(bench.base).filter((path) => !path.startsWith('home/'))).toEqual(before.filter((path) => !path.startsWith('home/')));
    expect((await bench.json('list')).document.packages).toEqual([]);
    expect((await bench.run('cat', 'damaged.carton', 'model/weights.bin')).code).toBe(1);
    expect((await bench.run('cat', 'damaged.carton', 'model/config.json')).code).toBe(0);
  });

  it('verify of a carton in a store looks behind the blobs, at what MANIFEST says', async () => {
    await bench.pack('echo', echoModel);
    expect(await bench.json('copy', 'echo.carton', 'oci:layout:v1')).toMatchObject({ code: 0 });
    expect((await bench.json('verify', 'oci:layout:v1')).document).toMatchObject({ ok: true, problems: [] });
    await tamper(bench.path('layout'));
    expect(await bench.json('verify', 'oci:layout:v2')).toMatchObject({
      code: 1,
      document: { ok: false, problems: [{ level: 'error', code: 'carton/wrong-hash', where: 'model/config.json' }] },
    });
    for (const line of [
      ['unpack', 'oci:layout:v2', '-o', 'out'],
      ['copy', 'oci:layout:v2', 'out.carton'],
    ])
      expect(await bench.run(...line)).toMatchObject({ code: 1, stderr: expect.stringContaining('model/config.json') });
    expect(existsSync(bench.path('out')) || existsSync(bench.path('out.carton'))).toBe(false);
  });
});

describe('taken apart', () => {
  it('unpack leaves exactly the files, and takes some by glob', async () => {
    await bench.pack('echo', echoModel);
    expect(await bench.json('unpack', 'echo.carton', '-o', 'out')).toMatchObject({ code: 0, document: { files: 7, findings: [] } });
    expect(listFiles(bench.path('out'))).toEqual(members);
    expect(readFileSync(bench.path('out/model/weights.bin')).equals(Buffer.alloc(100_000, 7))).toBe(true);
    await bench.run('unpack', 'echo.carton', '-o', 'some', '--include', 'model/**', '--exclude', '**/*.bin');
    expect(listFiles(bench.path('some'))).toEqual(['model/config.json']);
    expect(await bench.run('unpack', 'echo.carton', '-o', 'none', '--include', 'modle/**')).toMatchObject({ code: 3 });
    expect(existsSync(bench.path('none'))).toBe(false);
    expect(await bench.run('unpack', 'echo.carton', '-o', 'out')).toMatchObject({ code: 3, stderr: expect.stringContaining('out') });
  });

  it('what was unpacked is the carton again', async () => {
    await bench.pack('echo', echoModel);
    await bench.run('unpack', 'echo.carton', '-o', 'out');
    expect((await bench.json('inspect', './out')).document['modelHash']).toBe((await bench.json('inspect', 'echo.carton')).document['modelHash']);
    expect(await bench.json('verify', './out')).toMatchObject({ code: 0, document: { ok: true } });
    await bench.run('copy', './out', 'again.carton');
    expect(bench.sha256('again.carton')).toBe(bench.sha256('echo.carton'));
    await bench.run('pack', './out', '--format', 'carton', '-o', 'packed.carton');
    expect(bench.sha256('packed.carton')).toBe(bench.sha256('echo.carton'));
    expect(readTree(bench.path('out'))['model/config.json']?.[0]).toBe('644');
  });

  it('diff says what changed between two', async () => {
    await bench.pack('echo', echoModel);
    await bench.pack('next', {
      ...echoModel,
      'modelport.toml': echoToml.replace('"echo"', '"next"'),
      'config.json': '{"layers":2}\n',
      'new.bin': 'new',
    });
    expect(await bench.json('diff', 'echo.carton', 'echo.carton')).toMatchObject({ code: 0, document: { equal: true } });
    const { code, document } = await bench.json('diff', 'echo.carton', 'next.carton');
    expect(code).toBe(1);
    expect(document).toMatchObject({
      equal: false,
      metadata: [{ field: 'identity.name', a: 'echo', b: 'next' }],
      files: { added: ['model/new.bin'], removed: [], changed: ['MANIFEST', 'carton.toml', 'model/config.json'] },
    });
  });
});
