/** The runtimes that are written in Python, with real interpreters: one with NumPy, one with torch. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { NamedTensors, NumericTensor, RunnableModel, RuntimeEnvironment, RuntimeSession, Tensor } from '../../src/core/index.js';
import { findRuntime } from '../../src/runtimes/index.js';
import { makeFolder, removeFolder, sha256OfFile } from './support/folders.js';

const scratch = makeFolder();
afterAll(() => removeFolder(scratch));

const python = findRuntime('python')!;
const torchscript = findRuntime('torchscript')!;
const numpyPython = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'modelport-interop/python/bin/python');
const torchPython = '/usr/bin/python3';
const timeoutMs = 60_000;
let folders = 0;

function environment(change: Partial<RuntimeEnvironment> = {}, interpreter = numpyPython): RuntimeEnvironment {
  const env = { PATH: '/usr/bin:/bin', HOME: join(scratch, 'home'), MODELPORT_PYTHON: interpreter, SECRET_TOKEN: 'secret', PYTHONPATH: '/nowhere' };
  return { env, home: join(scratch, 'runtimes'), ...change };
}

function model(change: Partial<RunnableModel> = {}): RunnableModel {
  return { location: 'the-model', runtime: 'python', options: {}, inputs: [], outputs: [], ...change };
}

function writeModel(files: Record<string, string>): string {
  const folder = join(scratch, `model-${folders++}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const start = (files: Record<string, string>, change: Partial<RunnableModel> = {}, surroundings: Partial<RuntimeEnvironment> = {}) =>
  python.start(model(change), writeModel(files), environment(surroundings), timeoutMs);

async function invoke(session: RuntimeSession, inputs: NamedTensors): Promise<NamedTensors[]> {
  const results: NamedTensors[] = [];
  for await (const result of session.invoke(inputs, { timeoutMs })) results.push(result);
  return results;
}

/** Starts, asks once, closes. */
async function ask(files: Record<string, string>, inputs: NamedTensors = new Map(), change: Partial<RunnableModel> = {}): Promise<NamedTensors[]> {
  const session = await start(files, change);
  try {
    return await invoke(session, inputs);
  } finally {
    await session.close();
  }
}

const numeric = (dtype: NumericTensor['dtype'], shape: readonly number[], values: ArrayBufferView): NumericTensor => ({
  kind: 'numeric',
  dtype,
  shape,
  bytes: Buffer.from(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength),
});
const int32 = (...values: number[]): Tensor => numeric('int32', [values.length], Int32Array.from(values));
const text = (...values: string[]): Tensor => ({ kind: 'string', shape: [values.length], values });
const scalarText = (value: string): Tensor => ({ kind: 'string', shape: [], values: [value] });

/** Bytes compare by content, whatever holds them. */
const plain = (tensors: NamedTensors | undefined) =>
  Object.fromEntries([...(tensors ?? new Map<string, Tensor>())].map(([name, tensor]) => [name, plainTensor(tensor)]));
function plainTensor(tensor: Tensor): unknown {
  if (tensor.kind === 'nested') return tensor.inner.map(plainTensor);
  return tensor.kind === 'string' ? tensor : { ...tensor, bytes: [...tensor.bytes] };
}

const echo = 'class Model:\n  def infer_with_tensors(self, inputs):\n    return inputs\n\ndef get_model():\n  return Model()\n';

/** A model whose inference is this body, of `inputs`. */
const body = (...lines: string[]) =>
  `import numpy as np\nclass Model:\n  def infer_with_tensors(self, inputs):\n${lines.map((line) => `    ${line}\n`).join('')}\ndef get_model():\n  return Model()\n`;

describe('python', () => {
  it('gives every dtype of Carton back as it came: 0-d, empty, texts, nested', async () => {
    const inputs = new Map<string, Tensor>([
      ['f32', numeric('float32', [2, 2], Float32Array.of(1, -2, NaN, Infinity))],
      ['f64', numeric('float64', [], Float64Array.of(0.1))],
      ['i8', numeric('int8', [1], Int8Array.of(-128))],
      ['i16', numeric('int16', [1], Int16Array.of(-32768))],
      ['i32', int32(1, 2, 3)],
      ['i64', numeric('int64', [1], BigInt64Array.of(-(2n ** 63n)))],
      ['u8', numeric('uint8', [0, 3], new Uint8Array())],
      ['u16', numeric('uint16', [1], Uint16Array.of(65535))],
      ['u32', numeric('uint32', [1], Uint32Array.of(2 ** 32 - 1))],
      ['u64', numeric('uint64', [1], BigUint64Array.of(2n ** 64n - 1n))],
      ['text', text('', 'grüße 🙂', 'a b')],
      ['scalar', scalarText('one')],
      ['empty', { kind: 'string', shape: [2, 0], values: [] }],
      ['ragged', { kind: 'nested', inner: [int32(1), int32(2, 3), text('x')] as never }],
      ['__proto__', int32(7)],
    ]);
    const [outputs] = await ask({ 'main.py': echo }, inputs);
    expect(plain(outputs)).toEqual(plain(inputs));
  });

  it('runs in its folder, with relative and plain imports, keyword options with their types, and no secrets', async () => {
    const files = {
      'data.txt': 'data\n',
      'sub/start.py': [
        'import os, sys, json',
        'import numpy as np',
        'from . import beside',
        'from ..top import word',
        'import top',
        'def make(*, number, big, part, flag, name):',
        '  class Model:',
        '    async def infer_with_tensors(self, inputs):',
        '      said = [open("data.txt").read(), beside.word, word, top.word, repr((number, big, part, flag, name)), __name__,',
        '              os.environ.get("SECRET_TOKEN", "none"), os.environ.get("PYTHONPATH", "none"), repr(os.environ["CUDA_VISIBLE_DEVICES"])]',
        '      return {"said": np.array(said)}',
        '  return Model()',
      ].join('\n'),
      'sub/beside.py': 'word = "beside"\n',
      'top.py': 'word = "top"\n',
    };
    const options = {
      entrypoint_package: 'sub.start',
      entrypoint_fn: 'make',
      'model.number': 3,
      'model.big': 2n ** 63n - 1n,
      'model.part': 0.5,
      'model.flag': true,
      'model.name': 'a "b"',
    };
    const [outputs] = await ask(files, new Map(), { options });
    expect(outputs?.get('said')).toMatchObject({
      values: [
        'data\n',
        'beside',
        'top',
        'top',
        '(3, 9223372036854775807, 0.5, True, \'a "b"\')',
        '_carton_model_module.sub.start',
        'none',
        'none',
        "''",
      ],
    });
  });

  it('finds the entry point without options: main, else the only module that has it, else it says how to name it', async () => {
    const other = echo.replace('return inputs', 'return {}');
    expect((await ask({ 'main.py': echo, 'other.py': other }, new Map([['a', int32(1)]])))[0]?.size).toBe(1);
    expect((await ask({ 'main.py': 'x = 1', 'only.py': echo }, new Map([['a', int32(1)]])))[0]?.size).toBe(1);
    expect((await ask({ 'pack/__init__.py': echo, 'broken.py': 'def (' }, new Map([['a', int32(1)]])))[0]?.size).toBe(1);
    const unclear = {
      code: 'runtime/failed',
      message: expect.stringContaining('a, b'),
      hint: expect.stringMatching(/entrypoint_package.*entrypoint_fn/),
    };
    await expect(start({ 'a.py': echo, 'b.py': echo })).rejects.toMatchObject(unclear);
    await expect(start({ 'a.py': 'x = 1' })).rejects.toMatchObject({
      code: 'runtime/failed',
      message: expect.stringContaining('no top-level module'),
    });
    await expect(start({ 'main.py': echo }, { options: { entrypoint_fn: 'nothing', entrypoint_package: 'main' } })).rejects.toMatchObject({
      message: expect.stringContaining('main has no function nothing'),
    });
  });

  it('asks a model that only seals, and an async entry point', async () => {
    const sealed = [
      'class Model:',
      '  def __init__(self):',
      '    self.kept = {}',
      '  def seal(self, inputs):',
      '    self.kept[7] = inputs',
      '    return 7',
      '  async def infer_with_handle(self, handle):',
      '    return self.kept.pop(handle)',
      'async def get_model():',
      '  return Model()',
    ];
    const inputs = new Map([['a', int32(5)]]);
    expect(plain((await ask({ 'main.py': sealed.join('\n') }, inputs))[0])).toEqual(plain(inputs));
  });

  it('gives every result of an async generator, and goes on after a caller has had enough', async () => {
    const session = await start({
      'main.py': body('yield {"n": np.int32(0)}', 'for n in range(1, 5):', '  yield {"n": np.array([n] * n, dtype=np.int32)}').replace(
        '  def infer',
        '  async def infer',
      ),
    });
    const shapes = (await invoke(session, new Map())).map((result) => (result.get('n') as NumericTensor).shape);
    expect(shapes).toEqual([[], [1], [2], [3], [4]]);
    for await (const result of session.invoke(new Map(), { timeoutMs })) {
      expect(result.size).toBe(1);
      break;
    }
    expect(await invoke(session, new Map())).toHaveLength(5);
    await session.close();
  });

  it('says the words of Python and the place in the model, and lives on', async () => {
    const session = await start({ 'main.py': body('if "a" in inputs:', '  raise ValueError("no \\u0001 good")', 'return inputs') });
    await expect(invoke(session, new Map([['a', int32(1)]]))).rejects.toMatchObject({
      code: 'runtime/failed',
      message: 'Cannot run "the-model": ValueError: no \\u{1} good (main.py:5 in infer_with_tensors)',
      hint: expect.stringContaining('File "main.py", line 5, in infer_with_tensors'),
    });
    expect(await invoke(session, new Map([['b', int32(1)]]))).toHaveLength(1);
    await session.close();
  });

  it.each([
    ['bool', 'return {"y": np.array([True])}', /its output "y" has the dtype bool/],
    ['float16', 'return {"y": np.zeros(2, dtype=np.float16)}', /its output "y" has the dtype float16/],
    ['object', 'return {"y": np.array([None])}', /its output "y" has the dtype object/],
    ['no array', 'return {"y": 1.5}', /its output "y" is float, expected a NumPy array/],
    ['no dictionary', 'return [1]', /it gives list, expected a dictionary/],
    ['no text as name', 'return {1: np.array(1)}', /an output whose name is int/],
  ])('refuses an output that is %s', async (_, line, message) => {
    await expect(ask({ 'main.py': body(line) })).rejects.toMatchObject({ code: 'runtime/bad-output', message: expect.stringMatching(message) });
  });

  it('gives big-endian, strided and fixed-width arrays as they are meant', async () => {
    const line =
      'return {"big": np.arange(3, dtype=">i4"), "strided": np.arange(6, dtype="i2").reshape(2, 3).T, "pair": [np.array("x"), np.array([1], dtype="u1")]}';
    const [outputs] = await ask({ 'main.py': body(line) });
    expect(plain(outputs)).toEqual({
      big: plainTensor(int32(0, 1, 2)),
      strided: plainTensor(numeric('int16', [3, 2], Int16Array.of(0, 3, 1, 4, 2, 5))),
      pair: [plainTensor(scalarText('x')), plainTensor(numeric('uint8', [1], Uint8Array.of(1)))],
    });
  });

  it('sends and takes more than a pipe holds', async () => {
    const large = numeric(
      'uint8',
      [40_000_000],
      new Uint8Array(40_000_000).map((_, index) => index % 251),
    );
    const [outputs] = await ask(
      { 'main.py': echo },
      new Map<string, Tensor>([
        ['a', int32(1)],
        ['large', large],
      ]),
    );
    expect(Buffer.compare((outputs?.get('large') as NumericTensor).bytes, large.bytes)).toBe(0);
  });

  it('keeps what the model prints, and a crash names the signal and the last lines', async () => {
    const session = await start({ 'main.py': body('import os, signal', 'print("going", flush=True)', 'os.kill(os.getpid(), signal.SIGSEGV)') });
    await expect(invoke(session, new Map())).rejects.toMatchObject({
      code: 'runtime/crashed',
      message: expect.stringContaining('SIGSEGV'),
      hint: expect.stringContaining('going'),
    });
    expect(session.log()).toContain('going');
    await session.close();
  });

  it('ends a model that computes for ever, with what it started', async () => {
    const session = await start({ 'main.py': body('import subprocess', 'subprocess.Popen(["sleep", "4711.25"])', 'while True: pass') });
    await expect(invoke2(session, 700)).rejects.toMatchObject({ code: 'runtime/timeout' });
    await session.close();
    expect(() => execFileSync('pgrep', ['-f', 'sleep 4711.25'])).toThrow();
  });

  it('says what a failing import lacks', async () => {
    await expect(start({ 'main.py': 'import not_there\n' + echo })).rejects.toMatchObject({
      code: 'runtime/failed',
      message: expect.stringContaining("ModuleNotFoundError: No module named 'not_there' (main.py:1 in <module>)"),
    });
  });

  it('leaves the folder of the model and of the interpreter as they were', async () => {
    const folder = writeModel({
      'main.py': 'import os, sys\nfrom . import beside\n' + echo.replace('return inputs', 'raise KeyError(sys.prefix)'),
      'beside.py': '',
    });
    const session = await python.start(model(), folder, environment(), timeoutMs);
    await expect(invoke(session, new Map())).rejects.toMatchObject({ message: expect.stringContaining(join(scratch, 'runtimes/python')) });
    await session.close();
    expect(execFileSync('find', [folder, '-type', 'f', '-printf', '%f\n']).toString().split('\n').sort()).toEqual(['', 'beside.py', 'main.py']);
  });
});

async function invoke2(session: RuntimeSession, limitMs: number): Promise<void> {
  for await (const result of session.invoke(new Map(), { timeoutMs: limitMs })) expect(result).toBeUndefined();
}

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
    const folder = writeModel({ 'main.py': importing });
    const { path, sha256 } = writeWheel(folder, 'brought', 'word = "from the wheel"\n');
    const wrong = lock('python_version = "2.7"', `sha256 = "${'0'.repeat(64)}"\nurl = "https://example.com/a-1.0-py3-none-any.whl"`);
    writeFileSync(
      join(folder, '.carton/carton.lock'),
      wrong + lock(here, `sha256 = "${sha256}"\nbundled_whl_path = "${path}"`).split('\n').slice(1).join('\n'),
    );
    for (let time = 0; time < 2; time++) {
      const session = await python.start(model(), folder, environment({ offline: true }), timeoutMs);
      expect((await invoke(session, new Map()))[0]?.get('said')).toEqual(scalarText('from the wheel'));
      await session.close();
    }
  });

  it('are refused when a bundled wheel is another one, and nothing is left of the environment', async () => {
    const folder = writeModel({ 'main.py': importing });
    const { path } = writeWheel(folder, 'brought', 'word = "other"\n');
    writeFileSync(join(folder, '.carton/carton.lock'), lock(here, `sha256 = "${'1'.repeat(64)}"\nbundled_whl_path = "${path}"`));
    const home = join(scratch, 'refused');
    await expect(python.start(model(), folder, environment({ home }), timeoutMs)).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect(readdirSync(join(home, 'python'))).toEqual([]);
  });

  it('are not fetched offline, and the packages are named', async () => {
    const url = 'https://example.com/brought-1.0-py3-none-any.whl';
    const folder = writeModel({ 'main.py': importing, '.carton/carton.lock': lock(here, `sha256 = "${'1'.repeat(64)}"\nurl = "${url}"`) });
    const failure = { code: 'http/offline', message: expect.stringContaining(url) };
    await expect(python.start(model(), folder, environment({ offline: true }), timeoutMs)).rejects.toMatchObject(failure);
  });

  it('are fetched by their URL and checked by their hash', async () => {
    const folder = writeModel({ 'main.py': importing });
    const { path, sha256 } = writeWheel(folder, 'brought', 'word = "fetched"\n');
    const server = createServer((_, response) => response.end(readFileSync(join(folder, path)))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/brought-1.0-py3-none-any.whl`;
    try {
      writeFileSync(join(folder, '.carton/carton.lock'), lock(here, `sha256 = "${'1'.repeat(64)}"\nurl = "${url}"`));
      await expect(python.start(model(), folder, environment(), timeoutMs)).rejects.toMatchObject({
        code: 'runtime/not-available',
        hint: expect.stringMatching(/hash/i),
      });
      writeFileSync(join(folder, '.carton/carton.lock'), lock(here, `sha256 = "${sha256}"\nurl = "${url}"`));
      const session = await python.start(model(), folder, environment(), timeoutMs);
      expect((await invoke(session, new Map()))[0]?.get('said')).toEqual(scalarText('fetched'));
      await session.close();
    } finally {
      server.close();
    }
  });

  it('of the user are not seen, only NumPy', async () => {
    const found = execFileSync(numpyPython, ['-c', 'import cartonml']).toString();
    expect(found).toBe('');
    await expect(start({ 'main.py': `import cartonml\n${echo}` })).rejects.toMatchObject({
      message: expect.stringContaining("No module named 'cartonml'"),
    });
  });
});

describe('accepting a python model', () => {
  it('wants the Python that the model asks for, or any with a warning', async () => {
    expect(await python.accepts(model({ version: '=3.11' }), environment())).toMatchObject({
      yes: true,
      version: expect.stringMatching(/^3\.11\./),
      findings: [],
    });
    expect(await python.accepts(model({ version: '=3.7' }), environment())).toMatchObject({
      yes: false,
      reason: expect.stringContaining('Python "=3.7", and here'),
    });
    const any = await python.accepts(model({ version: '=3.7' }), environment({ anyVersion: true }));
    expect(any).toMatchObject({ yes: true, findings: [{ level: 'warning', code: 'runtime/other-version' }] });
    expect(await python.accepts(model({ layoutVersion: 2 }), environment())).toMatchObject({ yes: false });
  });
});

const torchModel = (source: string): string => {
  const folder = writeModel({ 'make.py': source });
  execFileSync(torchPython, ['make.py'], { cwd: folder });
  return folder;
};
const module_ = (signature: string, ...lines: string[]) =>
  [
    'import torch',
    'from typing import Dict, List, Tuple',
    'class Model(torch.nn.Module):',
    `  def forward(self, ${signature}:`,
    ...lines.map((line) => `    ${line}`),
    'torch.jit.save(torch.jit.script(Model()), "model.pt")',
  ].join('\n');

describe('torchscript', () => {
  const surroundings = environment({}, torchPython);
  const spec = (name: string) => ({ name });
  async function askTorch(source: string, inputs: NamedTensors, change: Partial<RunnableModel> = {}): Promise<NamedTensors | undefined> {
    const session = await torchscript.start(model({ runtime: 'torchscript', ...change }), torchModel(source), surroundings, timeoutMs);
    expect(session.version).toMatch(/^1\.13\./);
    try {
      return (await invoke(session, inputs))[0];
    } finally {
      await session.close();
    }
  }

  it('gives a dictionary and takes one', async () => {
    const source = module_(
      'x: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]',
      'return {"sum": x["a"] + x["b"], "wide": x["a"].to(torch.int64)}',
    );
    const outputs = await askTorch(
      source,
      new Map([
        ['a', int32(1, 2)],
        ['b', int32(10, 20)],
      ]),
      { options: { num_threads: 1, num_interop_threads: 1 } },
    );
    expect(plain(outputs)).toEqual({ sum: plainTensor(int32(11, 22)), wide: plainTensor(numeric('int64', [2], BigInt64Array.of(1n, 2n))) });
  });

  it('gives and takes texts', async () => {
    const source = module_('x: Dict[str, List[str]]) -> Dict[str, List[str]]', 'return {"y": x["a"] + ["!"]}');
    expect(plain(await askTorch(source, new Map([['a', text('a', 'ü')]])))).toEqual({ y: text('a', 'ü', '!') });
    const scalar = module_('x: Dict[str, str]) -> Dict[str, str]', 'return {"y": x["a"] + "!"}');
    expect(plain(await askTorch(scalar, new Map([['a', scalarText('a')]])))).toEqual({ y: scalarText('a!') });
  });

  it('takes bare tensors, and names what comes back by the declared order', async () => {
    const one = module_('x: torch.Tensor) -> torch.Tensor', 'return x * 2');
    expect(plain(await askTorch(one, new Map([['x', int32(2)]]), { outputs: [spec('y')] }))).toEqual({ y: plainTensor(int32(4)) });
    const two = module_('a: torch.Tensor, b: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]', 'return a - b, b');
    const declared = { inputs: [spec('first'), spec('second')], outputs: [spec('p'), spec('q')] };
    const inputs = new Map([
      ['second', int32(1)],
      ['first', int32(5)],
    ]);
    expect(plain(await askTorch(two, inputs, declared))).toEqual({ p: plainTensor(int32(4)), q: plainTensor(int32(1)) });
    await expect(askTorch(one, inputs, declared)).rejects.toMatchObject({
      code: 'runtime/bad-input',
      message: expect.stringContaining('takes 1 tensors, and 2'),
    });
  });

  it('names an output or input that Carton or TorchScript does not have', async () => {
    const bool = module_('x: torch.Tensor) -> torch.Tensor', 'return x > 1');
    await expect(askTorch(bool, new Map([['x', int32(2)]]))).rejects.toMatchObject({
      code: 'runtime/bad-output',
      message: expect.stringContaining('its output "output" has the dtype bool'),
    });
    const unsigned = numeric('uint16', [1], Uint16Array.of(1));
    await expect(askTorch(bool, new Map([['x', unsigned]]))).rejects.toMatchObject({
      code: 'runtime/bad-input',
      message: expect.stringContaining('uint16'),
    });
  });

  it('says the words of torch', async () => {
    const source = module_('x: torch.Tensor) -> torch.Tensor', 'raise ValueError("no good")', 'return x');
    await expect(askTorch(source, new Map([['x', int32(2)]]))).rejects.toMatchObject({
      code: 'runtime/failed',
      message: expect.stringContaining('no good'),
    });
    const folder = writeModel({ 'model.pt': 'no model' });
    await expect(torchscript.start(model(), folder, surroundings, timeoutMs)).rejects.toMatchObject({ code: 'runtime/failed' });
    await expect(torchscript.start(model(), writeModel({ x: '' }), surroundings, timeoutMs)).rejects.toMatchObject({
      message: expect.stringContaining('model.pt'),
    });
  });

  it('asks several Pythons for torch, and compares its version', async () => {
    const both = environment({}, numpyPython);
    expect(await torchscript.accepts(model(), both)).toMatchObject({ yes: true, version: expect.stringMatching(/^1\.13\./) });
    expect(await torchscript.accepts(model({ version: '=2.0' }), both)).toMatchObject({
      yes: false,
      reason: expect.stringContaining('torch "=2.0", and here is 1.13'),
    });
    const nowhere = environment({ env: { MODELPORT_PYTHON: numpyPython } });
    expect(await torchscript.accepts(model(), nowhere)).toMatchObject({
      yes: false,
      reason: 'no torch is on this machine',
      hint: expect.stringContaining('pip install torch'),
    });
  });
});
