/** `run --record`, `test --record` and `test --update` as a person calls them. */
import { readFileSync, rmSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryIo, createMemoryStream } from '../../test/support/memory-io.js';
import { createWorkbench, readTree, type Workbench } from '../../test/support/workbench.js';
import { runCli } from './run-cli.js';

const declared = ['input', 'output'].map((side) => `[[${side}]]\nname = "x"\ndtype = "float32"\nshape = ["batch"]\n`).join('\n');
const toml = `${declared}
[[self_test]]
name = "old\\u001b"
inputs = { x = "tests/in.json" }
expected = { x = "tests/out.json" }

[run]
runtime = "noop"
version = "=1.0.0"
`;

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
  bench.write('model', { 'modelport.toml': toml, 'model.bin': 'weights', 'tests/in.json': '[1, 2]', 'tests/out.json': '[1, 5]' });
});
afterEach(() => {
  bench.close();
});

/** `keys` are typed by somebody at a terminal. */
async function call(line: readonly string[], keys?: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const terminal = keys === undefined ? {} : { stdin, stderr: createMemoryStream({}) };
  const io = createMemoryIo({ cwd: bench.base, env: { MODELPORT_HOME: bench.home, NO_COLOR: '1' }, ...terminal });
  if (keys !== undefined) stdin.write(keys);
  const status = await runCli(line, io);
  return { status, out: io.stdout.text(), err: io.stderr.text() };
}

describe('run --record', () => {
  it('says what was recorded where', async () => {
    const { status, out, err } = await call(['run', './model', '[3]', '--record', 'three', '--as', 'example']);
    expect({ status, err }).toEqual({
      status: 0,
      err: `Recorded the example "three" in ${bench.path('model/modelport.toml')} (2 files)\n`,
    });
    expect(JSON.parse(out)).toMatchObject({ outputs: [{ name: 'x', data: [3] }] });
  });

  it('knows two kinds', async () => {
    expect(await call(['run', './model', '[3]', '--record', 'three', '--as', 'thing'])).toMatchObject({ status: 2 });
  });
});

describe('test --update', () => {
  it('is refused where nobody can be asked, and nothing runs', async () => {
    const before = readTree(bench.path('model'));
    const { status, err } = await call(['test', './model', '--update']);
    expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining('Cannot update: nobody is there to be asked') });
    expect(err).toContain('hint: Add -y');
    expect(readTree(bench.path('model'))).toEqual(before);
  });

  it('shows the difference and replaces it with -y', async () => {
    const { status, out } = await call(['test', './model', '--update', '-y']);
    expect(status).toBe(0);
    expect(out).toMatch(/^failed {2}old\\u\{1b\} · expected from now on\n.*most at \[1\]: expected 5, found 2/);
    expect(out).toContain(`Recorded the self test "old\\u{1b}" in ${bench.path('model/modelport.toml')} (1 file)\n`);
    expect(await call(['test', './model'])).toMatchObject({ status: 0 });
  });

  it('asks at a terminal after the difference was shown', async () => {
    const { status, err } = await call(['test', './model', '--update'], 'y');
    expect({ status, err }).toEqual({
      status: 0,
      err: expect.stringMatching(/failed {2}old\\u\{1b\}\n.*expected 5, found 2[^]*Shall 1 self test expect this/),
    });
    expect(readFileSync(bench.path('model/tests/out.json'), 'utf8')).toContain('"data": [1, 2]');
  });

  it('takes no for an answer', async () => {
    const before = readTree(bench.path('model'));
    const { status, err } = await call(['test', './model', '--update'], 'n');
    expect({ status, err }).toEqual({ status: 1, err: expect.stringContaining('Nothing was changed') });
    expect(readTree(bench.path('model'))).toEqual(before);
  });
});

describe('test --record', () => {
  it('keeps failing while something fails', async () => {
    rmSync(bench.path('model/tests/out.json'));
    expect(await call(['test', './model', '--record'])).toMatchObject({ status: 1 });
  });
});

describe('inspect', () => {
  it('says whether a carton fits this machine', async () => {
    bench.write('model', { 'modelport.toml': `${toml}\n[format.carton]\nrequired_platforms = ["wasm32-wasi"]\n` });
    expect(await call(['pack', './model', '--format', 'carton', '-o', 'far.carton'])).toMatchObject({ status: 0 });
    const { status, out } = await call(['inspect', 'far.carton', '--json']);
    const result = JSON.parse(out) as { platform: object; findings: readonly { code: string }[] };
    expect({ status, result }).toMatchObject({
      status: 0,
      result: { platform: { required: ['wasm32-wasi'], fits: false, host: expect.any(String) } },
    });
    expect(result.findings.map(({ code }) => code)).toContain('runtime/wrong-platform');
    expect((await call(['inspect', 'far.carton'])).out).toMatch(/^ {2}platforms +wasm32-wasi \(this is \S+, which does not fit\)$/m);
    expect(JSON.parse((await call(['inspect', './model', '--json'])).out)).not.toHaveProperty('platform');
  });
});
