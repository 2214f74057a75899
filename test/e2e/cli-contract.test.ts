/** What scripts rely on: statuses, one document on standard output for mistakes too, and that nothing of a package reaches the terminal raw. */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliBench, createCliBench } from '../support/cli-bench.js';
import { HostileLayout } from '../support/hostile-layout.js';
import { rawLayer, tarLayer, writePackage } from '../support/hostile-package.js';
import { rawTar } from '../support/raw-tar.js';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

let bench: CliBench;
beforeAll(async () => {
  bench = await createCliBench();
});
afterAll(() => bench.close());

const run = (...args: string[]) => bench.run(...args);
const json = (...args: string[]) => bench.json(...args);

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
    expect({ ended, code: document.error['code'], stderr }).toEqual({ ended: status, code, stderr: '' });
    expect(document.error).toMatchObject({ message: expect.stringMatching(/[^.]$/) });
    const { code: plainly, stdout, stderr: said } = await run(...args);
    expect([plainly, stdout]).toEqual([status, '']);
    expect(said).toMatch(/^modelport: /);
    expect(said).not.toMatch(/\n\s+at /);
    expect(existsSync(bench.path('never'))).toBe(false);
    expect(existsSync(bench.path('never.tar'))).toBe(false);
  });

  it('cat says what it did not find, and has no JSON', async () => {
    expect(await run('cat', 'demo/tiny:v1', 'licence')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^modelport: Cannot find .*licence/),
    });
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
    bench.write('demo/tiny:v1', { 'README.md': 'a folder of that name\n' });
    expect((await json('inspect', 'demo/tiny:v1')).document).toMatchObject({ format: 'folder' });
    expect((await json('inspect', `demo/tiny@${bench.digest}`)).document).toMatchObject({ format: 'modelpack', from: 'store' });
    const { document } = await json('tag', `demo/tiny@${bench.digest}`, 'tiny');
    expect(document['name']).toBe('tiny:latest');
    expect((await json('inspect', 'tiny')).document['format']).toBe('folder');
    expect((await json('inspect', 'tiny:latest')).document['format']).toBe('modelpack');
    await run('rm', 'tiny');
    rmSync(bench.path('demo'), { recursive: true });
  });

  it.each(['tiny.tar', './tiny.tar', 'oci-archive:tiny.tar', 'oci:layout:v1'])('%s', async (place) => {
    expect((await json('inspect', place)).document.digest).toBe(bench.digest);
  });
});

describe('pipes', () => {
  it('cat into a reader that goes away is quiet', () => {
    bench.write('long', { 'data.csv': '1,2,3\n'.repeat(500_000) });
    const shell = (line: string) =>
      execFileSync('bash', ['-c', `set -o pipefail; ${line}`], {
        cwd: bench.base,
        env: { PATH: process.env['PATH'], MODELPORT_HOME: bench.home, P: program },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    expect(shell('node "$P" pack ./long -t demo/long:v1 -q')).toMatch(/^sha256:/);
    expect(shell('node "$P" cat demo/long:v1 data.csv 2>&1 | head -c 5')).toBe('1,2,3');
    expect(shell('node "$P" cat demo/long:v1 data.csv | sha256sum')).toBe(shell('sha256sum < long/data.csv'));
  });

  it.each([
    ['inspect', 'demo/tiny:v1'],
    ['list'],
    ['validate', 'oci:broken:v1'],
    ['--help'],
    ['diff', 'demo/tiny:v1', 'demo/other:v1'],
    ['inspect', 'demo/none:v1'],
  ])('no colours: %s', async (...args) => {
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

  it.each([
    ['inspect'],
    ['ls'],
    ['ls', '--long'],
    ['validate'],
    ['verify'],
    ['list'],
    ['unpack', '-o', './never'],
    ['diff', 'demo/tiny:v1'],
    ['cat', 'x'],
    ['convert', 'demo/never:v1'],
  ])('reaches no terminal raw: %s', async (verb, ...rest) => {
    for (const vintage of ['cncf', 'draft'] as const) {
      const layout = new HostileLayout(bench.path(`evil-${vintage}`));
      const layers =
        vintage === 'cncf'
          ? [rawLayer(evil, evil, { [evil]: evil, 'org.opencontainers.image.title': evil })]
          : [tarLayer(vintage, rawTar({ name: evil, content: evil }))];
      const root = writePackage(layout, {
        vintage,
        layers,
        editConfig: (config) => Object.assign(config, { [evil]: evil, descriptor: { name: evil, description: evil, licenses: [evil] } }),
        editManifest: (manifest) => Object.assign(manifest, { annotations: { [evil]: evil, 'org.cnai.model.name': evil } }),
      });
      layout.index({ digest: root, size: statSync(layout.blobPath(root)).size, annotations: { 'org.opencontainers.image.ref.name': evil } });
      for (const format of [[], ['--json']]) {
        const { code, stdout, stderr } = await run(verb, `oci:evil-${vintage}`, ...rest, ...format);
        expect(`${stdout}${stderr}`).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2028\u2029]/u);
        expect([0, 1, 2, 3]).toContain(code);
        rmSync(bench.path('never'), { recursive: true, force: true });
      }
    }
  });
});
