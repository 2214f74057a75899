import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { noop, writeToMemory } from '../../../test/support/carton-write.js';
import { makeOnnx } from '../../../test/support/onnx-model.js';
import { packageOf, part } from '../../../test/support/parts.js';
import { defaultLimits } from '../../core/index.js';
import { parseTypedToml } from '../../text/index.js';

const toml = (text: string) => parseTypedToml(text, 'carton.toml', defaultLimits).value;

describe('writeCarton chooses the runner', () => {
  const runnerOf = async (...args: Parameters<typeof writeToMemory>) => toml((await writeToMemory(...args)).carton.text('carton.toml'))['runner'];
  const onnx = (path: string) => part(path, 'weights', makeOnnx({ external: 'data/w.bin', bytes: 8 }));
  const data = part('net/data/w.bin', 'weights', '12345678');

  it('by option, then [run], then [format.carton], then the files', async () => {
    const pkg = packageOf([onnx('net/a.onnx'), data]);
    const description = {
      run: { runtime: 'xla', version: '=0.5' },
      format: { carton: { runner_name: 'wasm', required_framework_version: '=0.0.1', runner_compat_version: 7 } },
    };
    expect(await runnerOf(pkg, description, noop)).toMatchObject({ runner_name: 'noop', required_framework_version: '=1.0.0' });
    expect(await runnerOf(pkg, description)).toMatchObject({ runner_name: 'xla', required_framework_version: '=0.0.1' });
    expect(await runnerOf(pkg, { format: description.format })).toMatchObject({ runner_name: 'wasm', runner_compat_version: 7n });
    expect(await runnerOf(pkg)).toMatchObject({ runner_name: 'modelport/onnx', required_framework_version: '*', runner_compat_version: 1n });
    expect(await runnerOf(pkg, {}, { runner: 'onnx', frameworkVersion: '>=1.14.0' })).toMatchObject({ runner_name: 'modelport/onnx' });
  });

  it('and lays ONNX out as it is loaded, its external data beside it, other weights left out and named', async () => {
    const others = [part('model.safetensors', 'weights'), part('config.json', 'config')];
    const { carton, findings } = await writeToMemory(packageOf([onnx('net/a.onnx'), data, ...others]));
    expect(carton.paths.slice(0, 3)).toEqual(['model/config.json', 'model/data/w.bin', 'model/model.onnx']);
    expect(findings.find(({ code }) => code === 'carton/left-out')?.message).toContain('"model.safetensors"');
  });

  it('or says that external data is missing, or which of several files it wants', async () => {
    await expect(writeToMemory(packageOf([onnx('net/a.onnx')]))).rejects.toMatchObject({
      message: expect.stringContaining('"data/w.bin"') as string,
    });
    const two = packageOf([onnx('net/a.onnx'), onnx('net/b.onnx'), data]);
    await expect(writeToMemory(two, {}, { runner: 'onnx' })).rejects.toMatchObject({
      message: expect.stringMatching(/"net\/a.onnx", "net\/b.onnx"/) as string,
    });
    const { carton, findings } = await writeToMemory(two, {}, { runner: 'onnx', model: './net/b.onnx' });
    expect(carton.paths.slice(0, 2)).toEqual(['model/data/w.bin', 'model/model.onnx']);
    expect(findings.find(({ code }) => code === 'carton/left-out')?.message).toContain('"net/a.onnx"');
    await expect(writeToMemory(two, {}, { runner: 'onnx', model: 'c.onnx' })).rejects.toMatchObject({ code: 'carton/cannot-write' });
  });

  it('or TorchScript, by what is in the archive', async () => {
    const archive = (member: string) => part('net.pt', 'weights', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from(member)]));
    const { carton } = await writeToMemory(packageOf([archive('net/constants.pkl')]));
    expect(carton.paths[0]).toBe('model/model.pt');
    await expect(writeToMemory(packageOf([archive('net/data.pkl')]))).rejects.toMatchObject({
      code: 'carton/cannot-write',
      hint: expect.stringMatching(/--runner.*--framework-version/) as string,
    });
  });

  it('which for Python has to say its version, and gets a lock that fits everywhere', async () => {
    const pkg = packageOf([part('main.py', 'code'), part('requirements.txt', 'environment', 'numpy==1.26\n')]);
    await expect(writeToMemory(pkg, {}, { runner: 'python' })).rejects.toMatchObject({
      hint: expect.stringContaining('--framework-version') as string,
    });
    const { carton, findings } = await writeToMemory(
      pkg,
      { run: { entrypoint: 'pkg.main:get_model' } },
      { runner: 'python', frameworkVersion: '>=3.9' },
    );
    expect(toml(carton.text('model/.carton/carton.lock'))).toEqual({
      orig_deps_hash: createHash('sha256').update('numpy==1.26\n').digest('hex'),
      lockfile: [{ locked_deps: [] }],
    });
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'carton/unpinned-environment', message: expect.stringContaining('numpy==1.26') as string }),
    );
    expect(toml(carton.text('carton.toml'))).toMatchObject({ runner: { opts: { entrypoint_package: 'pkg.main', entrypoint_fn: 'get_model' } } });
  });

  it.each([
    ['', 0],
    ['# nothing\n\n--index-url https://example.com\n', 0],
    ['numpy==1.26 \\\n    --hash=sha256:0123 \\\n    --hash=sha256:4567\n', 0],
    ['numpy==1.26 --hash=sha256:0123\nscipy\n', 1],
    ['-r other.txt\n', 1],
    ['-e .\n', 1],
  ])('and for the requirements %j gives %i warnings', async (text, warnings) => {
    const pkg = packageOf([part('main.py'), part('requirements.txt', 'environment', text)]);
    const { findings } = await writeToMemory(pkg, {}, { runner: 'python', frameworkVersion: '*' });
    expect(findings.filter(({ code }) => code === 'carton/unpinned-environment')).toHaveLength(warnings);
  });

  it('and keeps a lock that is there', async () => {
    const pkg = packageOf([part('main.py'), part('.carton/carton.lock', 'environment', 'mine'), part('requirements.txt', 'environment', 'numpy')]);
    const { carton, findings } = await writeToMemory(pkg, {}, { runner: 'python', frameworkVersion: '*' });
    expect(carton.text('model/.carton/carton.lock')).toBe('mine');
    expect(findings).toEqual([]);
  });

  it('and its options keep their types', async () => {
    const runnerOptions = { whole: 1n, float: 1, big: 9_223_372_036_854_775_807n };
    const { carton } = await writeToMemory(packageOf([part('m')]), { run: { options: { other: 1 } } }, { ...noop, runnerOptions });
    expect(carton.text('carton.toml')).toMatch(/\[runner\.opts\]\nwhole = 1\nfloat = 1\.0\nbig = 9223372036854775807\n$/);
  });
});
