/** What a Python model brings along, installed by a real pip into an environment of its own. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256OfFile } from './support/folders.js';
import { invoke, ModelScene, numpyPython, scalarText } from './support/python-models.js';

const scene = new ModelScene('python', numpyPython);
afterAll(() => scene.close());

/** A wheel made here, of one module. */
function writeWheel(folder: string, name: string, source: string): { readonly path: string; readonly sha256: string } {
  const path = `.carton/bundled_wheels/${name}-1.0-py3-none-any.whl`;
  const script = [
    'import sys, zipfile, os',
    'path, name, source = sys.argv[1:]',
    'os.makedirs(os.path.dirname(path), exist_ok=True)',
    'info = f"{name}-1.0.dist-info"',
    'with zipfile.ZipFile(path, "w") as wheel:',
    '  wheel.writestr(f"{name}.py", source)',
    '  wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n")',
    '  wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")',
    '  wheel.writestr(f"{info}/RECORD", "")',
  ].join('\n');
  execFileSync(numpyPython, ['-c', script, join(folder, path), name, source]);
  return { path, sha256: sha256OfFile(join(folder, path)) };
}

const importing =
  'import brought\nimport numpy as np\nclass Model:\n  def infer_with_tensors(self, inputs):\n    return {"said": np.array(brought.word)}\ndef get_model():\n  return Model()\n';

describe('packages of a python model', () => {
  const lock = (markers: string, wheel: string) => `orig_deps_hash = "x"\n[[lockfile]]\n${markers}\n[[lockfile.locked_deps]]\n${wheel}\n`;
  const here = 'sys_platform = "linux"\npython_version = "3.11"';

  it('are installed from bundled wheels of the entry for this machine, offline, and kept', async () => {
    const folder = scene.write({ 'main.py': importing });
    const { path, sha256 } = writeWheel(folder, 'brought', 'word = "from the wheel"\n');
    const wrong = lock('python_version = "2.7"', `sha256 = "${'0'.repeat(64)}"\nurl = "https://example.com/a-1.0-py3-none-any.whl"`);
    writeFileSync(
      join(folder, '.carton/carton.lock'),
      wrong + lock(here, `sha256 = "${sha256}"\nbundled_whl_path = "${path}"`).split('\n').slice(1).join('\n'),
    );
    for (let time = 0; time < 2; time++) {
      const session = await scene.start(folder, {}, { offline: true });
      expect((await invoke(session, new Map()))[0]?.get('said')).toEqual(scalarText('from the wheel'));
      await session.close();
    }
  });

  it('are refused when a bundled wheel is another one, and nothing is left of the environment', async () => {
    const folder = scene.write({ 'main.py': importing });
    const { path } = writeWheel(folder, 'brought', 'word = "other"\n');
    writeFileSync(join(folder, '.carton/carton.lock'), lock(here, `sha256 = "${'1'.repeat(64)}"\nbundled_whl_path = "${path}"`));
    const home = join(scene.folder, 'refused');
    await expect(scene.start(folder, {}, { home })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect(readdirSync(join(home, 'python'))).toEqual([]);
  });

  it('are not fetched offline, and the packages are named', async () => {
    const url = 'https://example.com/brought-1.0-py3-none-any.whl';
    const folder = scene.write({ 'main.py': importing, '.carton/carton.lock': lock(here, `sha256 = "${'1'.repeat(64)}"\nurl = "${url}"`) });
    const failure = { code: 'http/offline', message: expect.stringContaining(url) };
    await expect(scene.start(folder, {}, { offline: true })).rejects.toMatchObject(failure);
  });

  it('are fetched by their URL and checked by their hash', async () => {
    const folder = scene.write({ 'main.py': importing });
    const { path, sha256 } = writeWheel(folder, 'brought', 'word = "fetched"\n');
    const server = createServer((_, response) => response.end(readFileSync(join(folder, path)))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/brought-1.0-py3-none-any.whl`;
    try {
      writeFileSync(join(folder, '.carton/carton.lock'), lock(here, `sha256 = "${'1'.repeat(64)}"\nurl = "${url}"`));
      await expect(scene.start(folder)).rejects.toMatchObject({
        code: 'runtime/not-available',
        hint: expect.stringMatching(/hash/i),
      });
      writeFileSync(join(folder, '.carton/carton.lock'), lock(here, `sha256 = "${sha256}"\nurl = "${url}"`));
      const session = await scene.start(folder);
      expect((await invoke(session, new Map()))[0]?.get('said')).toEqual(scalarText('fetched'));
      await session.close();
    } finally {
      server.close();
    }
  });

  it('of the user are not seen, only NumPy', async () => {
    const found = execFileSync(numpyPython, ['-c', 'import cartonml']).toString();
    expect(found).toBe('');
    await expect(scene.start(scene.write({ 'main.py': 'import cartonml\ndef get_model(): pass\n' }))).rejects.toMatchObject({
      message: expect.stringContaining("No module named 'cartonml'"),
    });
  });
});
