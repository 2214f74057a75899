/** The runtime for Python models, with a real Python that has NumPy. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { NamedTensors, NumericTensor, RunnableModel, Tensor } from '../../src/core/index.js';
import { encodeFrame } from '../../src/runtimes/protocol/encode-frame.js';
import { findInterpreters, type Interpreter } from '../../src/runtimes/python/interpreter.js';
import { pythonWireFile } from '../../src/runtimes/protocol/python-wire.js';
import {
  describeModel,
  int32,
  invoke,
  ModelScene,
  numeric,
  numpyPython,
  plain,
  plainTensor,
  scalarText,
  text,
  timeoutMs,
} from './support/python-models.js';

const scene = new ModelScene('python', numpyPython);
afterAll(() => scene.close());

const start = (files: Record<string, string>, change: Partial<RunnableModel> = {}) => scene.start(scene.write(files), change);
const ask = (files: Record<string, string>, inputs: NamedTensors = new Map(), change: Partial<RunnableModel> = {}) =>
  scene.ask(scene.write(files), inputs, change);

const echo = 'class Model:\n  def infer_with_tensors(self, inputs):\n    return inputs\n\ndef get_model():\n  return Model()\n';

/** A model whose inference is this body, of `inputs`. */
const body = (...lines: string[]) =>
  `import numpy as np\nclass Model:\n  def infer_with_tensors(self, inputs):\n${lines.map((line) => `    ${line}\n`).join('')}\ndef get_model():\n  return Model()\n`;

/** Lines that start a process which is connected to here as long as it lives. */
async function listenForProcess(): Promise<{ readonly far: Server; readonly lines: readonly string[] }> {
  const far = createServer().listen(0, '127.0.0.1');
  await once(far, 'listening');
  const { port } = far.address() as AddressInfo;
  const program = `import socket, time; connection = socket.create_connection(("127.0.0.1", ${port})); time.sleep(1000)`;
  return { far, lines: ['import subprocess, sys', `subprocess.Popen([sys.executable, "-c", ${JSON.stringify(program)}])`] };
}

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
        'def make(*, number, whole, big, part, flag, name):',
        '  class Model:',
        '    async def infer_with_tensors(self, inputs):',
        '      said = [open("data.txt").read(), beside.word, word, top.word, repr((number, whole, big, part, flag, name)), __name__,',
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
      'model.number': 3n,
      'model.whole': 3,
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
        '(3, 3.0, 9223372036854775807, 0.5, True, \'a "b"\')',
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
    const inputs = new Map<string, Tensor>([
      ['a', int32(1)],
      ['large', large],
    ]);
    const outputs = (await ask({ 'main.py': echo }, inputs))[0]!;
    expect(Buffer.compare((outputs.get('large') as NumericTensor).bytes, large.bytes)).toBe(0);
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
    const { far, lines } = await listenForProcess();
    const session = await start({ 'main.py': body(...lines, 'while True: pass') });
    const failure = invoke(session, new Map(), 3000).catch((error: unknown) => error);
    const [socket] = (await once(far, 'connection')) as [Socket];
    const gone = once(socket.on('error', () => {}).resume(), 'close');
    expect(await failure).toMatchObject({ code: 'runtime/timeout' });
    await session.close();
    await gone;
    far.close();
  });

  it.each([
    ['computes', 'while True: pass'],
    ['lets no thread of Python run', 'sum(range(10 ** 15))'],
  ])('ends itself and what it started when modelport dies while it %s', async (_, work) => {
    const { far, lines } = await listenForProcess();
    const folder = scene.write({ 'main.py': body(...lines, work) });
    const { numpy } = (await findInterpreters(scene.environment()).next()).value as Interpreter;
    const frames = [
      { id: 1, type: 'load' as const, fields: { folder, options: [], numpy: numpy?.folder }, tensors: new Map() },
      { id: 2, type: 'infer' as const, fields: {}, tensors: new Map() },
    ];
    // In the place of modelport: starts the runner, asks it, and is killed.
    const parent = `const child = require('node:child_process').spawn(${JSON.stringify(numpyPython)}, ['-I', ...process.argv.slice(2)],
        { cwd: ${JSON.stringify(folder)}, stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'], detached: true });
      child.stdio[3].write(Buffer.from(process.argv[1], 'base64'));`;
    const asked = Buffer.concat(frames.flatMap(encodeFrame)).toString('base64');
    const runner = fileURLToPath(new URL('../../src/runtimes/python/runner.py', import.meta.url));
    const running = spawn(process.execPath, ['-e', parent, asked, runner, pythonWireFile], { stdio: ['ignore', 'ignore', 'pipe'] });
    // The pipe ends when the last process that holds it is gone: the model's own, too.
    const allGone = once(running.stderr.resume(), 'end');
    const [socket] = (await once(far, 'connection')) as [Socket];
    const gone = once(socket.on('error', () => {}).resume(), 'close');
    running.kill('SIGKILL');
    await Promise.all([gone, allGone]);
    expect(running.stderr.readableEnded).toBe(true);
    far.close();
  });

  it('says what a failing import lacks', async () => {
    await expect(start({ 'main.py': 'import not_there\n' + echo })).rejects.toMatchObject({
      code: 'runtime/failed',
      message: expect.stringContaining("ModuleNotFoundError: No module named 'not_there' (main.py:1 in <module>)"),
    });
  });

  it('leaves the folder of the model and of the interpreter as they were', async () => {
    const folder = scene.write({
      'main.py': 'import os, sys\nfrom . import beside\n' + echo.replace('return inputs', 'raise KeyError(sys.prefix)'),
      'beside.py': '',
    });
    const session = await scene.start(folder);
    await expect(invoke(session, new Map())).rejects.toMatchObject({ message: expect.stringContaining(join(scene.folder, 'runtimes/python')) });
    await session.close();
    expect(execFileSync('find', [folder, '-type', 'f', '-printf', '%f\n']).toString().split('\n').sort()).toEqual(['', 'beside.py', 'main.py']);
  });
});

describe('accepting a python model', () => {
  it('asks a real Python which version it is', async () => {
    const { runtime } = scene;
    expect(await runtime.accepts(describeModel({ version: '=3.11' }), scene.environment())).toMatchObject({
      yes: true,
      version: expect.stringMatching(/^3\.11\./),
      findings: [],
    });
    expect(await runtime.accepts(describeModel({ version: '=3.7' }), scene.environment())).toMatchObject({
      yes: false,
      reason: expect.stringContaining('Python "=3.7", and here'),
    });
  });
});
