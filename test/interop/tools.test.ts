import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFolder } from './support/folders.js';
import { Podman } from './support/podman.js';
import { execute, findTool, onnxruntime, orThrow, pythons, run, type Tool } from './support/tools.js';

const versions: readonly (readonly [Tool, readonly string[], RegExp])[] = [
  ['skopeo', ['--version'], /skopeo version 1\./],
  ['umoci', ['--version'], /umoci version 0\./],
  ['podman', ['--version'], /podman version [45]\./],
  ['runc', ['--version'], /runc version 1\./],
  ['containerd', ['--version'], /containerd .+ v?[12]\.\d+\./],
  ['ctr', ['--version'], /ctr .+ v?[12]\.\d+\./],
  ['oras', ['version'], /1\.3\.3/],
  ['crane', ['version'], /0\.21\.0/],
  ['modctl', ['version'], /Version/],
  ['docker-registry', ['--version'], /docker-registry .+ v?2\.8\./],
  ['htpasswd', ['-nbB', 'name', 'no secret'], /^name:\$2y\$/],
  ['curl', ['--version'], /curl [78]\./],
  ['openssl', ['version'], /OpenSSL [13]\./],
  ['tar', ['--version'], /GNU tar/],
  ['gzip', ['--version'], /gzip 1\./],
  ['zstd', ['--version'], /Zstandard CLI/],
  ['zip', ['-v'], /Zip 3\./],
  ['unzip', ['-v'], /UnZip 6\./],
  ['python3', ['--version'], /Python 3\./],
  ['busybox', [], /BusyBox v1\./],
];

describe('the tools', () => {
  it.each(versions)('%s answers', (tool, args, expected) => {
    const { code, stdout, stderr } = run(tool, args);
    expect(`${stdout}${stderr}`).toMatch(expected);
    expect(code).toBe(0);
  });

  it('busybox needs no library, so that it runs in an empty container', () => {
    expect(run('python3', ['-c', `import sys; sys.exit(b'/ld-' in open(${JSON.stringify(findTool('busybox'))}, 'rb').read(8192))`]).code).toBe(0);
  });

  it('Carton has its library, NumPy and torch', () => {
    const ask = (python: string, what: string) => orThrow(python, ['-c', what], execute(python, ['-I', '-c', what], {}));
    const program = 'from importlib.metadata import version; import numpy, cartonml; print(numpy.__version__, version("cartonml-nightly"))';
    expect(ask(pythons.numpy, program)).toBe('2.4.6 0.0.1.dev20231020\n');
    expect(ask(pythons.torch, 'import numpy, torch; print(torch.__version__)')).toMatch(/^[12]\.\d+/);
  });

  it('ONNX has its engine', () => {
    const { version } = JSON.parse(readFileSync(join(onnxruntime, 'node_modules/onnxruntime-node/package.json'), 'utf8')) as { version: string };
    expect(version).toBe('1.30.0');
  });

  it('podman starts from an empty store', () =>
    withFolder((folder) => {
      expect(new Podman(folder).must(['images', '--quiet'])).toBe('');
    }));
});
