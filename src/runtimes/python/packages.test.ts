import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../core/index.js';
import { lockName, readPackages } from './packages.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'modelport-packages-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const hash = 'a'.repeat(64);
const interpreter = { path: '/python', prefix: '/', version: '3.11.7', markers: { sys_platform: 'linux', python_version: '3.11' } };
const read = (limits = defaultLimits) => readPackages(folder, interpreter, 'the-model', limits);

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
const wheel = (fields: string) => `[[lockfile.locked_deps]]\n${fields}\n`;
const url = 'https://example.com/w/numpy-1.0-py3-none-any.whl';

describe('packages of a Python model', () => {
  it('are none without files, and with an empty lock', async () => {
    const none = { wheels: [], requirements: [], bringsNumpy: false, findings: [] };
    expect(await read()).toMatchObject(none);
    write(lockName, 'orig_deps_hash = "x"\nlockfile = []\n');
    write('requirements.txt', 'numpy\n');
    expect(await read()).toMatchObject(none);
  });

  it('are those of the first entry whose markers all fit', async () => {
    const other = `[[lockfile]]\nsys_platform = "linux"\npython_version = "3.10"\n${wheel(`sha256 = "${hash}"\nurl = "https://example.com/other-1.0-py3-none-any.whl"`)}`;
    const bundled = wheel(`sha256 = "${hash.toUpperCase()}"\nbundled_whl_path = ".carton/bundled_wheels/x/b-1.0-py3-none-any.whl"`);
    write(lockName, `${other}[[lockfile]]\npython_version = "3.11"\n${wheel(`sha256 = "${hash}"\nurl = "${url}"`)}${bundled}`);
    expect(await read()).toMatchObject({
      bringsNumpy: true,
      wheels: [
        { kind: 'url', url, sha256: hash, fileName: 'numpy-1.0-py3-none-any.whl' },
        { kind: 'file', path: '.carton/bundled_wheels/x/b-1.0-py3-none-any.whl', sha256: hash },
      ],
    });
    write(lockName, other);
    await expect(read()).rejects.toMatchObject({
      code: 'runtime/not-available',
      message: expect.stringContaining('3.11.7'),
      hint: expect.stringContaining('linux 3.10'),
    });
  });

  it.each([
    ['no hash', `url = "${url}"`, 'sha256'],
    ['a short hash', `sha256 = "abc"\nurl = "${url}"`, '64 hex digits'],
    ['no place', `sha256 = "${hash}"`, 'expected url or bundled_whl_path'],
    ['a file URL', `sha256 = "${hash}"\nurl = "file:///etc/passwd.whl"`, 'http'],
    ['a URL with an option of pip', `sha256 = "${hash}"\nurl = "https://example.com/a.whl --index-url x"`, 'http'],
    ['a source archive', `sha256 = "${hash}"\nurl = "https://example.com/a-1.0.tar.gz"`, 'wheel'],
    ['a path that leads out', `sha256 = "${hash}"\nbundled_whl_path = "../a.whl"`, "path in the model's folder"],
    ['a path with blanks', `sha256 = "${hash}"\nbundled_whl_path = "a --no-deps.whl"`, 'blanks'],
  ])('are refused with %s', async (_, fields, reason) => {
    write(lockName, `[[lockfile]]\n${wheel(fields)}`);
    const failure = await read().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'runtime/failed', where: expect.stringContaining('lockfile[0].locked_deps[0]') });
    expect(`${(failure as Error).message} ${(failure as { where: string }).where}`).toContain(reason);
  });

  it('are refused from a lock that is no TOML or too large', async () => {
    write(lockName, 'lockfile = 1');
    await expect(read()).rejects.toMatchObject({ code: 'runtime/failed' });
    write(lockName, '[[[');
    await expect(read()).rejects.toMatchObject({ code: 'buildfile/syntax' });
    await expect(read({ ...defaultLimits, configBytes: 2 })).rejects.toMatchObject({ code: 'bytes/limit' });
  });

  it('are those of hashed requirements when there is no lock', async () => {
    write('requirements.txt', `# all\nnumpy==1.0 \\\n    --hash=sha256:${hash} \\\n  --hash=sha256:${hash}\nother==2 --hash=sha256:${hash}  # why\n`);
    const { requirements, bringsNumpy } = await read();
    expect(requirements.map((line) => line.split(/\s+/)[0])).toEqual(['numpy==1.0', 'other==2']);
    expect(bringsNumpy).toBe(true);
  });

  it.each(['numpy', `-r other.txt --hash=sha256:${hash}`, `a==1 --hash=md5:${hash}`])('are not installed from "%s", with a warning', async (line) => {
    write('requirements.txt', `${line}\nb==1 --hash=sha256:${hash}\n`);
    expect(await read()).toMatchObject({ requirements: [], findings: [{ level: 'warning', code: 'runtime/not-installed' }] });
  });
});
