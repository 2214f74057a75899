/** What scripts rely on: statuses, one document on standard output, field names, and that nothing of a package reaches the terminal raw. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-process.js';
import { HostileLayout } from '../support/hostile-layout.js';
import { rawLayer, tarLayer, writePackage } from '../support/hostile-package.js';
import { makeOnnx } from '../support/onnx-model.js';
import { rawTar } from '../support/raw-tar.js';
import { createWorkbench, tinyModel, type Workbench } from '../support/workbench.js';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

let bench: Workbench;
let digest: string;

const run = (...args: string[]) => runCli(args, { home: bench.home, cwd: bench.base });

/** The one document on standard output. */
async function json(...args: string[]): Promise<{ readonly code: number | null; readonly document: any; readonly stderr: string }> {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect(stdout.endsWith('\n')).toBe(true);
  return { code, document: JSON.parse(stdout), stderr };
}

beforeAll(async () => {
  bench = createWorkbench();
  bench.write('tiny', tinyModel);
  bench.write('other', { ...tinyModel, 'config.json': '{"model_type":"other"}\n' });
  digest = (await json('pack', './tiny', '-t', 'demo/tiny:v1', '--set', 'licenses=Apache-2.0')).document.digest;
  await run('pack', './other', '-t', 'demo/other:v1');
  await run('copy', 'demo/tiny:v1', 'tiny.tar');
  await run('copy', 'demo/tiny:v1', 'oci:layout:v1');
  await run('copy', 'demo/other:v1', 'oci:layout:v2');
  const broken = new HostileLayout(bench.path('broken'));
  writePackage(broken, { vintage: 'cncf', layers: [rawLayer('../x')], editConfig: (config) => (config.descriptor = 5) });
  const lying = new HostileLayout(bench.path('lying'));
  const layer = rawLayer('README.md', 'right');
  writePackage(lying, { vintage: 'cncf', layers: [layer] });
  for (const name of readdirSync(bench.path('lying/blobs/sha256'))) {
    const path = bench.path('lying/blobs/sha256', name);
    if (readFileSync(path, 'utf8') === 'right') writeFileSync(path, 'wrong');
  }
});
afterAll(() => bench.close());

const sha = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
const bytes = { total: expect.any(Number), sent: expect.any(Number), skipped: expect.any(Number) };
const finding = { level: expect.stringMatching(/^(error|warning|note)$/), code: expect.stringMatching(/^[a-z-]+\/[a-z0-9-]+$/), message: expect.any(String) };

describe('results', () => {
  it('inspect', async () => {
    const { code, document, stderr } = await json('inspect', 'demo/tiny:v1');
    expect([code, stderr]).toEqual([0, '']);
    expect(document).toMatchObject({
      format: 'modelpack',
      vintage: 'cncf',
      location: 'demo/tiny:v1',
      digest,
      modelHash: null,
      identity: { licenses: ['Apache-2.0'] },
      weights: { format: 'safetensors', parameters: 72, precision: 'float32', tensors: 2, paramSize: expect.any(String) },
      io: { inputs: [], outputs: [], selfTests: 0, examples: 0 },
      run: {},
      encrypted: false,
      extra: {},
      findings: [],
    });
    expect(document.parts).toHaveLength(Object.keys(tinyModel).length);
    for (const part of document.parts) expect(part).toEqual({ role: expect.any(String), path: expect.any(String), mediaType: expect.stringMatching(/^application\/vnd\.cncf\.model\./), size: expect.any(Number), digest: sha });
    expect(document).not.toHaveProperty('tensors');
    const { document: more } = await json('inspect', '--tensors', 'demo/tiny:v1');
    expect(more.tensors).toEqual(expect.arrayContaining([{ name: 'layer.weight', dtype: 'float32', shape: [8, 8], bytes: 256, offset: expect.any(Number), file: 'model.safetensors' }]));
  });

  it('inspect of a bare folder is what pack makes', async () => {
    const { document } = await json('inspect', './tiny');
    expect(document).toMatchObject({ format: 'folder', digest: null, weights: { parameters: 72 } });
    const { document: packed } = await json('inspect', 'demo/tiny:v1');
    // A ModelPack has no kind for what is nothing in particular: it becomes code.
    const toRole = ({ path, role, size }: any) => `${path} ${role === 'other' ? 'code' : role} ${size}`;
    expect(document.parts.map(toRole).sort()).toEqual(packed.parts.map(toRole).sort());
  });

  it('inspect of a folder whose ONNX data is missing names it', async () => {
    bench.write('onnx', { 'model.onnx': makeOnnx({ external: 'model.data', bytes: 64 }) });
    const { code, document } = await json('inspect', './onnx');
    expect([code, document.findings]).toMatchObject([0, [{ level: 'error', message: expect.stringContaining('model.data') }]]);
    expect(await json('pack', './onnx', '-t', 'demo/onnx:v1')).toMatchObject({ code: 1, document: { error: { message: expect.stringContaining('model.data') } } });
  });

  it('ls', async () => {
    const { document } = await json('ls', 'demo/tiny:v1');
    expect(document.files).toHaveLength(Object.keys(tinyModel).length);
    for (const file of document.files) expect(file).toEqual({ path: expect.any(String), role: expect.any(String), size: expect.any(Number), digest: sha, mode: expect.stringMatching(/^0[67][45][45]$/) });
  });

  it('validate', async () => {
    expect(await json('validate', 'demo/tiny:v1')).toMatchObject({ code: 0, document: { format: 'modelpack', vintage: 'cncf', valid: true, findings: [] } });
    const { code, document } = await json('validate', 'oci:broken:v1');
    expect([code, document.valid]).toEqual([1, false]);
    for (const each of document.findings) expect(each).toMatchObject({ ...finding, rule: expect.stringMatching(/^MP-/), where: expect.any(String) });
  });

  it('verify, of one and of all', async () => {
    expect(await json('verify', 'demo/tiny:v1')).toMatchObject({ code: 0, document: { ok: true, checked: { files: 11, bytes: expect.any(Number) }, problems: [], signatures: [] } });
    expect(await json('verify')).toMatchObject({ code: 0, document: { ok: true, problems: [] } });
    const { code, document } = await json('verify', 'oci:lying:v1');
    expect([code, document]).toMatchObject([1, { ok: false, problems: [{ ...finding, level: 'error' }] }]);
  });

  it('list', async () => {
    const { document } = await json('list');
    expect(document).toEqual({ packages: expect.any(Array), next: null });
    expect(document.packages.map(({ name }: any) => name)).toEqual(['demo/other:v1', 'demo/tiny:v1']);
    for (const each of document.packages) expect(each).toEqual({ name: expect.any(String), digest: sha, format: 'modelpack', vintage: 'cncf', size: expect.any(Number), createdAt: null });
    expect((await json('list', 'oci:layout')).document.packages.map(({ name }: any) => name)).toEqual(['v1', 'v2']);
  });

  it('pack, copy, convert and edit', async () => {
    const common = { digest: sha, bytes, lost: [] };
    expect((await json('pack', './tiny', '-t', 'demo/again:v1', '--set', 'licenses=Apache-2.0')).document).toMatchObject({ ...common, digest, name: 'demo/again:v1', path: null, format: 'modelpack', vintage: 'cncf', findings: expect.any(Array), parts: expect.any(Array) });
    expect((await json('copy', 'demo/tiny:v1', 'again.tar')).document).toMatchObject({ ...common, digest, name: 'demo/tiny:v1', path: bench.path('again.tar') });
    expect((await json('convert', 'demo/tiny:v1', 'demo/cnai:v1', '--vintage', 'cnai')).document).toMatchObject({ ...common, name: 'demo/cnai:v1', vintage: 'cnai', dryRun: false });
    expect((await json('edit', 'demo/tiny:v1', '-t', 'demo/edited:v1', '--set', 'version=2')).document).toMatchObject({ ...common, from: digest, name: 'demo/edited:v1', changed: ['set version'] });
    expect((await json('rm', 'demo/again:v1', 'demo/cnai:v1', 'demo/edited:v1')).document).toMatchObject({ removed: [{ name: 'demo/again:v1' }, { name: 'demo/cnai:v1' }, { name: 'demo/edited:v1' }] });
    expect((await json('prune')).document).toMatchObject({ dryRun: false, removed: expect.any(Array), freedBytes: expect.any(Number), kept: expect.any(Number) });
  });

  it('tag, unpack, init, doctor, version', async () => {
    expect((await json('tag', 'demo/tiny:v1', 'demo/tiny:v9')).document).toEqual({ name: 'demo/tiny:v9', digest, replaced: null });
    expect((await json('tag', 'demo/tiny:v1', 'demo/tiny:v9')).document).toMatchObject({ replaced: digest });
    await run('rm', 'demo/tiny:v9');
    expect((await json('unpack', 'demo/tiny:v1', '-o', './out')).document).toEqual({ path: bench.path('out'), files: 9, bytes: expect.any(Number), digest, findings: [] });
    expect((await json('init', './other', '-o', '-')).document).toMatchObject({ path: null, text: expect.stringContaining('[package]'), findings: [] });
    expect((await json('doctor')).document).toMatchObject({ ok: true, checks: expect.any(Array) });
    expect((await json('version')).document).toMatchObject({ modelport: expect.any(String) });
  });

  it('diff', async () => {
    expect(await json('diff', 'demo/tiny:v1', 'tiny.tar')).toMatchObject({ code: 0, document: { equal: true, metadata: [], files: { added: [], removed: [], changed: [], renamed: [] }, tensors: { added: [], removed: [], changed: [] } } });
    const { code, document } = await json('diff', 'demo/tiny:v1', 'demo/other:v1');
    expect([code, document]).toMatchObject([1, { equal: false, files: { changed: ['config.json'] }, metadata: [{ field: 'identity.family', a: 'tiny', b: 'other' }, { field: 'identity.licenses', a: ['Apache-2.0'], b: null }] }]);
  });

  it('an index lists its entries, and a digest reaches one', async () => {
    const layout = new HostileLayout(bench.path('index'));
    const manifests = [1, 2].map((value) => {
      const entry = { digest: writePackage(layout, { vintage: 'cncf', layers: [rawLayer('README.md', `${value}`)] }), size: 0 };
      const { size } = JSON.parse(readFileSync(bench.path('index/index.json'), 'utf8')).manifests[0];
      return { mediaType: 'application/vnd.oci.image.manifest.v1+json', ...entry, size };
    });
    layout.index({ mediaType: 'application/vnd.oci.image.index.v1+json', ...layout.put(JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests })) });
    const { document } = await json('inspect', 'oci:index:v1');
    expect(document).toMatchObject({ format: 'index', extra: { entries: manifests.map((each) => ({ digest: each.digest })) } });
    expect((await json('inspect', `oci:index@${manifests[1]?.digest}`)).document).toMatchObject({ format: 'modelpack', digest: manifests[1]?.digest });
    expect((await json('verify', 'oci:index:v1')).document).toMatchObject({ ok: true, checked: { files: 7 } });
  });
});

describe('refusals', () => {
  const errorCases: readonly (readonly [readonly string[], number, string])[] = [
    [['inspect', 'demo/none:v1'], 3, 'store/name-not-found'],
    [['inspect', './nowhere'], 3, 'bytes/not-found'],
    [['inspect', 'oci:layout'], 2, 'store/ambiguous'],
    [['inspect', 'oci:layout:v9'], 3, 'store/name-not-found'],
    [['inspect', 'oci:tiny'], 3, 'store/not-a-layout'],
    [['inspect'], 2, 'cli/usage'],
    [['inspect', '-'], 2, 'cli/usage'],
    [['inspect', ''], 2, 'cli/usage'],
    [['ls', 'demo/none:v1'], 3, 'store/name-not-found'],
    [['validate', './nowhere'], 3, 'bytes/not-found'],
    [['verify', './tiny'], 2, 'format/unsupported'],
    [['diff', 'demo/tiny:v1', 'demo/none:v1'], 3, 'store/name-not-found'],
    [['unpack', 'demo/tiny:v1'], 2, 'cli/usage'],
    [['unpack', 'demo/tiny:v1', '-o', './tiny'], 3, 'bytes/exists'],
    [['unpack', 'oci:broken:v1', '-o', './never'], 1, 'bytes/unsafe-path'],
    [['unpack', 'oci:lying:v1', '-o', './never'], 1, 'bytes/digest-mismatch'],
    [['unpack', 'demo/tiny:v1', '-o', './never', '--include', 'nothing*'], 3, 'ops/path-not-found'],
    [['copy', './tiny', 'never.tar'], 2, 'format/unsupported'],
    [['copy', 'oci:lying:v1', 'never.tar'], 1, 'bytes/digest-mismatch'],
    [['copy', 'demo/tiny:v1', 'tiny/README.md'], 3, 'bytes/exists'],
    [['pack', './tiny'], 2, 'cli/usage'],
    [['pack', './nowhere', '-t', 'demo/never:v1'], 3, 'bytes/not-found'],
    [['pack', './tiny', '-t', 'demo/never:v1', '--vintage', 'draft-2024', '--layers', 'raw'], 1, 'modelpack/cannot-write'],
    [['pack', './tiny', '-t', 'demo/never:v1', '--format', 'zip'], 1, 'format/unknown'],
    [['edit', 'demo/tiny:v1'], 2, 'ops/bad-option'],
    [['convert', 'demo/tiny:v1', 'demo/never:v1', '--format', 'zip'], 1, 'format/unknown'],
    [['tag', 'demo/none:v1', 'demo/never:v1'], 3, 'store/name-not-found'],
    [['tag', 'demo/tiny:v1', 'Demo/Never:v1'], 2, 'core/bad-reference'],
    [['rm', 'demo/none:v1'], 3, 'store/name-not-found'],
    [['rm', 'demo/tiny@sha256:12'], 2, 'core/bad-digest'],
    [['list', './tiny'], 3, 'store/not-a-layout'],
    [['inspct', 'x'], 2, 'cli/usage'],
    [['inspect', '--tensor', 'x'], 2, 'cli/usage'],
    [['list', '--concurrency', '0'], 2, 'cli/usage'],
  ];

  it.each(errorCases)('%j ends with %i: %s', async (args, status, code) => {
    const { code: ended, document, stderr } = await json(...args);
    expect({ ended, code: document.error.code, stderr }).toEqual({ ended: status, code, stderr: '' });
    expect(document.error).toMatchObject({ message: expect.stringMatching(/[^.]$/) });
    const { code: plainly, stdout, stderr: said } = await run(...args);
    expect([plainly, stdout]).toEqual([status, '']);
    expect(said).toMatch(/^modelport: /);
    expect(said).not.toMatch(/\n\s+at /);
    expect(existsSync(bench.path('never'))).toBe(false);
    expect(existsSync(bench.path('never.tar'))).toBe(false);
  });

  it('cat says what it did not find, and has no JSON', async () => {
    expect(await run('cat', 'demo/tiny:v1', 'licence')).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/^modelport: Cannot find .*licence/) });
    expect(await json('cat', 'demo/tiny:v1', 'README.md')).toMatchObject({ code: 2, document: { error: { code: 'cli/usage' } } });
  });

  it('warnings alone are 0, and 1 with --strict', async () => {
    await run('pack', './tiny', '-t', 'demo/gzipped:v1', '--layers', 'tar+gzip');
    expect(await json('validate', 'demo/gzipped:v1')).toMatchObject({ code: 0, document: { valid: true } });
    expect(await json('validate', 'demo/gzipped:v1', '--strict')).toMatchObject({ code: 1, document: { valid: false } });
    await run('rm', 'demo/gzipped:v1');
  });

  it('losses with --fail-on-loss are 1, and nothing is written', async () => {
    await run('pack', './tiny', '-t', 'demo/rich:v1', '--set', 'reasoning=true');
    const { code, document } = await json('convert', 'demo/rich:v1', 'demo/poor:v1', '--vintage', 'draft-2024', '--fail-on-loss');
    expect([code, document]).toMatchObject([1, { error: { code: 'ops/refused' } }]);
    expect((await json('inspect', 'demo/poor:v1')).code).toBe(3);
    await run('rm', 'demo/rich:v1');
  });
});

describe('places', () => {
  it('an existing path wins over a name, and -t is never a path', async () => {
    mkdirSync(bench.path('demo'));
    bench.write('demo/tiny:v1', { 'README.md': 'a folder of that name\n' });
    expect((await json('inspect', 'demo/tiny:v1')).document).toMatchObject({ format: 'folder' });
    expect((await json('inspect', `demo/tiny@${digest}`)).document).toMatchObject({ format: 'modelpack', from: 'store' });
    const { document } = await json('tag', `demo/tiny@${digest}`, 'tiny');
    expect(document.name).toBe('tiny:latest');
    expect((await json('inspect', 'tiny')).document.format).toBe('folder');
    expect((await json('inspect', 'tiny:latest')).document.format).toBe('modelpack');
    await run('rm', 'tiny');
    execFileSync('rm', ['-r', bench.path('demo')]);
  });

  it.each(['tiny.tar', './tiny.tar', 'oci-archive:tiny.tar', 'oci:layout:v1'])('%s', async (place) => {
    expect((await json('inspect', place)).document.digest).toBe(digest);
  });
});

describe('pipes', () => {
  it('cat into a reader that goes away is quiet', () => {
    bench.write('long', { 'data.csv': '1,2,3\n'.repeat(500_000) });
    const shell = (line: string) => execFileSync('bash', ['-c', `set -o pipefail; ${line}`], { cwd: bench.base, env: { PATH: process.env['PATH'], MODELPORT_HOME: bench.home, P: program }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    expect(shell('node "$P" pack ./long -t demo/long:v1 -q')).toMatch(/^sha256:/);
    expect(shell('node "$P" cat demo/long:v1 data.csv 2>&1 | head -c 5')).toBe('1,2,3');
    expect(shell('node "$P" cat demo/long:v1 data.csv | sha256sum')).toBe(shell('sha256sum < long/data.csv'));
  });

  it.each([['inspect', 'demo/tiny:v1'], ['list'], ['validate', 'oci:broken:v1'], ['--help'], ['diff', 'demo/tiny:v1', 'demo/other:v1'], ['inspect', 'demo/none:v1']])('no colours: %s', async (...args) => {
    const { stdout, stderr } = await run(...args);
    expect(`${stdout}${stderr}`).not.toContain('\u001b');
    expect(`${stdout}${stderr}`).not.toBe('');
  });

  it('colours when they are asked for', async () => {
    expect((await run('inspect', 'demo/tiny:v1', '--color', 'always')).stdout).toContain('\u001b[');
  });
});

describe('what a package says', () => {
  const evil = 'a\u001b[2J\u001b]0;title\u0007\u009b31m\u202eb\u2028\rc';

  it.each([['inspect'], ['ls'], ['ls', '--long'], ['validate'], ['verify'], ['list'], ['unpack', '-o', './never'], ['diff', 'demo/tiny:v1'], ['cat', 'x'], ['convert', 'demo/never:v1']])('reaches no terminal raw: %s', async (verb, ...rest) => {
    for (const vintage of ['cncf', 'draft'] as const) {
      const layout = new HostileLayout(bench.path(`evil-${vintage}`));
      const layers = vintage === 'cncf' ? [rawLayer(evil, evil, { [evil]: evil, 'org.opencontainers.image.title': evil })] : [tarLayer(vintage, rawTar({ name: evil, content: evil }))];
      writePackage(layout, { vintage, layers, editConfig: (config) => Object.assign(config, { [evil]: evil, descriptor: { name: evil, description: evil, licenses: [evil] } }), editManifest: (manifest) => (manifest.annotations = { [evil]: evil, 'org.cnai.model.name': evil }) });
      layout.index({ ...JSON.parse(readFileSync(bench.path(`evil-${vintage}/index.json`), 'utf8')).manifests[0], annotations: { 'org.opencontainers.image.ref.name': evil } });
      for (const format of [[], ['--json']]) {
        const { code, stdout, stderr } = await run(verb as string, `oci:evil-${vintage}`, ...rest, ...format);
        // eslint-disable-next-line no-control-regex
        expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029]/);
        expect([0, 1, 2, 3]).toContain(code);
        execFileSync('rm', ['-rf', bench.path('never')]);
      }
    }
  });
});
