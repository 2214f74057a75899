import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunnableModel, RuntimeEnvironment } from '../../core/index.js';
import { torchscriptRuntime } from '../torchscript/torchscript.js';
import { listInterpreters } from './list-interpreters.js';
import { pythonRuntime } from './python.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-pythons-'));
  writePython('bin/python3', '3.9.1', { numpy: '1.20.0' });
  writePython('bin/python3.12', '3.12.4', {});
  writePython('other/python3', '3.9.1', { numpy: '1.20.0' }, 'bin/python3');
  writePython('env/bin/python', '3.12.4', { numpy: '2.0.0', torch: '2.1.0' });
  writeProgram('broken/python3', 'echo "{}" >&4');
  writeProgram('broken/python', 'exit 1');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writeProgram(path: string, script: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** A program that answers as a Python does when it is asked what it is. */
function writePython(path: string, version: string, packages: Record<string, string>, prefix = path): void {
  const found = Object.fromEntries(Object.entries(packages).map(([name, has]) => [name, { version: has, folder: '/packages' }]));
  const answer = { path: join(folder, path), prefix, version, markers: {}, numpy: null, torch: null, ...found };
  writeProgram(path, `printf '%s' '${JSON.stringify(answer)}' >&4`);
}

const environment = (env: Record<string, string>, change: Partial<RuntimeEnvironment> = {}): RuntimeEnvironment => ({
  env: { PATH: `${join(folder, 'broken')}:${join(folder, 'bin')}:${join(folder, 'other')}`, ...env },
  home: folder,
  ...change,
});
const asking = (version?: string): RunnableModel => ({
  location: 'the-model',
  runtime: 'python',
  options: {},
  inputs: [],
  outputs: [],
  ...(version !== undefined && { version }),
});

describe('the Pythons of a machine', () => {
  it('are listed in the order in which they are asked, each program once', () => {
    const env = {
      MODELPORT_PYTHON: join(folder, 'env/bin/python'),
      MODELPORT_PYTHONS: `${join(folder, 'env')}:${join(folder, 'nothing')}`,
      PATH: `relative:${join(folder, 'bin')}:/nowhere`,
    };
    expect(listInterpreters(env)).toEqual(['env/bin/python', 'bin/python3', 'bin/python3.12'].map((path) => join(folder, path)));
    expect(listInterpreters({ PATH: join(folder, 'bin'), MODELPORT_PYTHON: 'python3.12' })[0]).toBe(join(folder, 'bin/python3.12'));
    expect(listInterpreters({})).toEqual([]);
  });

  it('are taken as they come, what is none left out', async () => {
    expect(await pythonRuntime.accepts(asking(), environment({}))).toEqual({ yes: true, version: '3.9.1', findings: [] });
  });

  it('are asked on until one has the version, with NumPy rather than without', async () => {
    expect(await pythonRuntime.accepts(asking('=3.12'), environment({}))).toMatchObject({
      yes: true,
      version: '3.12.4',
      findings: [{ code: 'runtime/no-numpy', hint: expect.stringContaining('python3.12" -m pip install numpy') }],
    });
    const both = environment({ MODELPORT_PYTHONS: join(folder, 'env') });
    expect(await pythonRuntime.accepts(asking('=3.12'), both)).toEqual({ yes: true, version: '3.12.4', findings: [] });
  });

  it('are named when none fits, or one is taken with a warning', async () => {
    const none = await pythonRuntime.accepts(asking('=3.8'), environment({}));
    expect(none).toMatchObject({
      yes: false,
      reason: 'it asks for Python "=3.8", and here are 3.9.1, 3.12.4',
      hint: expect.stringContaining('MODELPORT_PYTHONS'),
    });
    const any = await pythonRuntime.accepts(asking('=3.8'), environment({}, { anyVersion: true }));
    expect(any).toMatchObject({ yes: true, version: '3.9.1', findings: [{ level: 'warning', code: 'runtime/other-version' }] });
    expect(await pythonRuntime.accepts(asking('1 || 2'), environment({}))).toMatchObject({ yes: false, reason: expect.stringContaining('"1 || 2"') });
    expect(await pythonRuntime.accepts(asking(), { env: {}, home: folder })).toMatchObject({ yes: false, reason: 'no Python is on this machine' });
  });

  it('are searched for torch, whose version counts', async () => {
    const env = { MODELPORT_PYTHONS: join(folder, 'env') };
    expect(await torchscriptRuntime.accepts(asking('=2.1'), environment(env))).toEqual({ yes: true, version: '2.1.0', findings: [] });
    expect(await torchscriptRuntime.accepts(asking('=2.0'), environment(env))).toMatchObject({
      yes: false,
      reason: expect.stringContaining('torch "=2.0"'),
    });
    expect(await torchscriptRuntime.accepts(asking(), environment({}))).toMatchObject({ yes: false, reason: 'no torch is on this machine' });
  });

  it('are taken at their release where torch was built from sources, and not where it is a pre-release', async () => {
    writePython('built/bin/python', '3.11.2', { numpy: '1.24.2', torch: '1.13.0a0+gitunknown' });
    const built = environment({ MODELPORT_PYTHONS: join(folder, 'built') });
    expect(await torchscriptRuntime.accepts(asking('>=1.9, <3'), built)).toEqual({ yes: true, version: '1.13.0', findings: [] });
    writePython('early/bin/python', '3.11.2', { numpy: '1.24.2', torch: '2.1.0.dev20230815+cpu' });
    const early = environment({ MODELPORT_PYTHONS: join(folder, 'early') });
    expect(await torchscriptRuntime.accepts(asking('>=1.9, <3'), early)).toMatchObject({ yes: false });
  });
});
