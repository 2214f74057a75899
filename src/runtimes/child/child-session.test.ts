import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isToolkitError, type NamedTensors, type RuntimeSession, type Tensor } from '../../core/index.js';
import { type ChildStart, startChildSession } from './child-session.js';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'modelport-child-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process that speaks the protocol by itself, so that a mistake of ours cannot hide on both sides. `answer` is what it does about a frame. */
const program = (answer: string, hello = "send({ id: 0, type: 'hello', protocol: 1, runtime: 'fake', version: '1', frameworkVersion: '9.8.7' })") => `
const fs = require('node:fs');
function send(header, bytes = Buffer.alloc(0)) {
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.from('MPR1\\0\\0\\0\\0', 'latin1');
  prefix.writeUInt32LE(json.length, 4);
  write(Buffer.concat([prefix, json, Buffer.alloc(bytes.length === 0 ? 0 : (8 - (json.length % 8)) % 8), bytes]));
}
function write(bytes) { for (let at = 0; at < bytes.length; ) at += fs.writeSync(4, bytes, at); }
function take(length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) { const n = fs.readSync(3, bytes, at, length - at); if (n === 0) process.exit(0); at += n; }
  return bytes;
}
function receive() {
  const length = take(8).readUInt32LE(4);
  const header = JSON.parse(take(length));
  if (header.tensors?.[0].bytes === 0) take((8 - (length % 8)) % 8);
  return header;
}
const answer = (frame) => { ${answer} };
${hello};
for (;;) {
  const frame = receive();
  if (frame.type === 'close') process.exit(0);
  if (frame.type === 'load') send({ id: frame.id, type: 'end' });
  else answer(frame);
}`;

let programs = 0;
function describeStart(source: string, change: Partial<ChildStart> = {}): ChildStart {
  const file = join(folder, `child-${programs++}.cjs`);
  writeFileSync(file, source);
  return {
    location: 'the-model',
    program: { command: process.execPath, args: [file], cwd: folder, env: { PATH: process.env['PATH'] ?? '' } },
    load: {},
    findings: [],
    timeoutMs: 20_000,
    graceMs: 100,
    ...change,
  };
}

const start = (answer: string, change?: Partial<ChildStart>) => startChildSession(describeStart(program(answer), change));

async function invoke(session: RuntimeSession, timeoutMs = 20_000, signal?: AbortSignal, inputs: NamedTensors = new Map()): Promise<NamedTensors[]> {
  const results: NamedTensors[] = [];
  for await (const result of session.invoke(inputs, { timeoutMs, signal })) results.push(result);
  return results;
}

/** What one call throws, with the session closed. */
async function failureOf(answer: string, change?: Partial<ChildStart>, timeoutMs?: number): Promise<unknown> {
  const session = await start(answer, change);
  const failure = await invoke(session, timeoutMs).catch((error: unknown) => error);
  await session.close();
  return failure;
}

const empty: Tensor = { kind: 'numeric', dtype: 'uint8', shape: [0], bytes: new Uint8Array(0) };

const item = "send({ id: frame.id, type: 'item', tensors: [{ name: 'y', dtype: 'uint8', shape: [3], bytes: 3 }] }, Buffer.from([1, 2, 3]))";
const end = "send({ id: frame.id, type: 'end' })";

describe('a session with a child', () => {
  it('says the version of the hello, gives items in order, and many calls after each other', async () => {
    const session = await start(`${item}; ${item}; ${end}`);
    expect(session.version).toBe('9.8.7');
    for (let call = 0; call < 3; call++) {
      const results = await invoke(session);
      expect(results.map((result) => [...(result.get('y') as { bytes: Uint8Array }).bytes])).toEqual([
        [1, 2, 3],
        [1, 2, 3],
      ]);
    }
    await session.close();
    await session.close();
    await expect(invoke(session)).rejects.toMatchObject({ code: 'core/bug' });
  });

  it('keeps the model when it fails by itself, in its own words', async () => {
    const session = await start(
      `if (frame.tensors) { ${item}; ${end}; } else send({ id: frame.id, type: 'error', reason: 'model', message: 'bad\\u001b[31m luck', traceback: 'a\\nb' })`,
    );
    await expect(invoke(session)).rejects.toMatchObject({
      code: 'runtime/failed',
      message: 'Cannot run "the-model": bad\\u{1b}[31m luck',
      hint: expect.stringContaining('a\nb'),
    });
    expect(await invoke(session, 20_000, undefined, new Map<string, Tensor>([['x', empty]]))).toHaveLength(1);
    await session.close();
  });

  it.each([
    ['input', 'runtime/bad-input'],
    ['output', 'runtime/bad-output'],
    ['missing', 'runtime/not-available'],
    ['something else', 'runtime/failed'],
  ])('turns the reason %s into %s', async (reason, code) => {
    expect(await failureOf(`send({ id: frame.id, type: 'error', reason: '${reason}', message: 'so' })`)).toMatchObject({ code });
  });

  it.each([
    ['exit code', 'process.exit(7)', 'with exit code 7'],
    ['signal', "process.kill(process.pid, 'SIGKILL')", 'by the signal SIGKILL'],
  ])('names the %s and the last lines of a child that dies', async (_, death, how) => {
    const failure = await failureOf(`fs.writeSync(2, 'first\\nlast words\\n'); ${death}`);
    expect(failure).toMatchObject({ code: 'runtime/crashed', message: expect.stringContaining(how), hint: expect.stringContaining('  last words') });
  });

  it('gives no answer in time as a timeout, and every later call too', async () => {
    const session = await start('');
    await expect(invoke(session, 50)).rejects.toMatchObject({ code: 'runtime/timeout', message: expect.stringContaining('0.05 s') });
    await expect(invoke(session)).rejects.toMatchObject({ code: 'runtime/timeout' });
    await session.close();
  });

  it('is cancelled by the signal', async () => {
    const stop = new AbortController();
    const session = await start("fs.writeSync(1, 'at work\\n')", { onLog: () => stop.abort() });
    await expect(invoke(session, 20_000, stop.signal)).rejects.toMatchObject({ code: 'core/cancelled' });
    await session.close();
  });

  it('asks a child to stop when the caller wants no more, and goes on with it', async () => {
    const session = await start(`if (frame.type === 'cancel') { ${end} } else { ${item}; }`);
    for await (const result of session.invoke(new Map(), { timeoutMs: 20_000 })) {
      expect(result.size).toBe(1);
      break;
    }
    for await (const result of session.invoke(new Map(), { timeoutMs: 20_000 })) {
      expect(result.size).toBe(1);
      break;
    }
    await session.close();
  });

  it('kills one that ignores close and TERM, with what it started', async () => {
    const far = createServer().listen(0, '127.0.0.1');
    await once(far, 'listening');
    const { port } = far.address() as AddressInfo;
    const stubborn = `
      process.on('SIGTERM', () => {});
      const grandchild = 'process.on("SIGTERM", () => {}); require("node:net").connect(${port}, "127.0.0.1")';
      require('node:child_process').spawn(process.execPath, ['-e', grandchild], { stdio: 'inherit' });
      for (;;);`;
    const stop = new AbortController();
    const session = await start(stubborn);
    const failure = invoke(session, 20_000, stop.signal).catch((error: unknown) => error);
    const [grandchild] = (await once(far, 'connection')) as [Socket];
    grandchild.on('error', () => {});
    const gone = once(grandchild.resume(), 'close');
    stop.abort();
    expect(await failure).toMatchObject({ code: 'core/cancelled' });
    await session.close();
    // It never closes by itself.
    await gone;
    far.close();
  });

  it('lets a child end by itself when it is asked to', async () => {
    const session = await start('', { graceMs: 20_000 });
    const started = performance.now();
    await session.close();
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('does not stop or grow when a child floods stdout', async () => {
    const lines: number[] = [];
    const session = await start(
      `for (let n = 0; n < 400; n++) fs.writeSync(1, 'x'.repeat(65536)); fs.writeSync(1, '\\nthe end\\n'); ${item}; ${end}`,
      {
        onLog: (line) => lines.push(line.length),
      },
    );
    expect(await invoke(session)).toHaveLength(1);
    await session.close();
    expect(session.log()).toMatch(/x\nthe end\n$/);
    expect(session.log().length).toBeLessThanOrEqual(65_536);
    expect(Math.max(...lines)).toBeLessThan(3 * 65_536);
    expect(lines.reduce((sum, length) => sum + length, 0)).toBeGreaterThanOrEqual(400 * 65_536);
  });

  it.each([
    ['bad magic', "write(Buffer.from('hello world, this is no frame'))", 'begins with "hell"'],
    ['a header that is too long', "write(Buffer.from('MPR1\\xff\\xff\\xff\\x7f', 'latin1'))", 'at most 1048576'],
    ['no JSON', "write(Buffer.from('MPR1\\x02\\0\\0\\0{]', 'latin1'))", 'JSON'],
    ['a key twice', `write(Buffer.concat([Buffer.from('MPR1\\x0d\\0\\0\\0', 'latin1'), Buffer.from('{"id":1,"id":2}'.slice(0, 13))]))`, 'JSON'],
    ['an unknown type', "send({ id: frame.id, type: 'party' })", '"party"'],
    [
      'a wrong size',
      "send({ id: frame.id, type: 'item', tensors: [{ name: 'y', dtype: 'int32', shape: [3], bytes: 3 }] }, Buffer.alloc(3))",
      'has 12',
    ],
    ['too much', "send({ id: frame.id, type: 'item', tensors: [{ name: 'y', dtype: 'uint8', shape: [2e12], bytes: 2e12 }] })", 'at most'],
    [
      'an impossible shape',
      "send({ id: frame.id, type: 'item', tensors: [{ name: 'y', dtype: 'uint8', shape: [1e10, 1e10], bytes: 1 }] })",
      'counted',
    ],
    ['a negative shape', "send({ id: frame.id, type: 'item', tensors: [{ name: 'y', dtype: 'uint8', shape: [-1], bytes: 1 }] })", 'shape'],
    [
      'two of one name',
      "send({ id: frame.id, type: 'item', tensors: [0, 0].map(() => ({ name: 'y', dtype: 'uint8', shape: [0], bytes: 0 })) })",
      'same name',
    ],
    [
      'too few texts',
      "send({ id: frame.id, type: 'item', tensors: [{ name: 'y', dtype: 'string', shape: [2], bytes: 5 }] }, Buffer.from('[\"a\"]'))",
      '1 texts',
    ],
    ['another number', "send({ id: 99, type: 'end' })", 'answers 99'],
    ['the wrong type', "send({ id: frame.id, type: 'hello' })", 'answers "hello"'],
    ['half a frame', "write(Buffer.from('MPR1\\x09\\0\\0\\0{', 'latin1')); process.exit(0)", 'ends within a frame'],
    ['a closed channel', 'fs.closeSync(4)', 'closed the channel'],
  ])('refuses %s', async (_, answer, reason) => {
    expect(await failureOf(answer)).toMatchObject({ code: 'runtime/protocol', message: expect.stringContaining(reason) });
  });

  it('finds an answer that comes twice, at the next call', async () => {
    const session = await start(`${end}; ${end}`);
    expect(await invoke(session)).toEqual([]);
    await expect(invoke(session)).rejects.toMatchObject({ code: 'runtime/protocol', message: expect.stringContaining('answers 2 where 3') });
    await session.close();
  });

  it('sends a large tensor to a child that reads late, and gives up on one that never reads', async () => {
    const large = new Map<string, Tensor>([['x', { kind: 'numeric', dtype: 'uint8', shape: [20_000_000], bytes: new Uint8Array(20_000_000) }]]);
    const reading = await start(`take(20_000_000 + ((8 - ((8 + Buffer.byteLength(JSON.stringify(frame))) % 8)) % 8)); ${item}; ${end}`);
    expect(await invoke(reading, 20_000, undefined, large)).toHaveLength(1);
    await reading.close();
    const deaf = await start('for (;;);');
    await expect(invoke(deaf, 100, undefined, large)).rejects.toMatchObject({ code: 'runtime/timeout' });
    await deaf.close();
  });

  it('refuses two calls at a time', async () => {
    const session = await start(`${item}; ${end}`);
    for await (const result of session.invoke(new Map(), { timeoutMs: 20_000 })) {
      expect(result.size).toBe(1);
      await expect(invoke(session)).rejects.toMatchObject({ code: 'core/bug' });
    }
    await session.close();
  });
});

describe('starting a child', () => {
  const fail = (source: string, change?: Partial<ChildStart>) => startChildSession(describeStart(source, change)).catch((error: unknown) => error);

  it('says that a program is not there', async () => {
    const described = describeStart('');
    const failure = await startChildSession({ ...described, program: { ...described.program, command: join(folder, 'nothing') } }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'runtime/not-available', message: expect.stringContaining('does not start') });
  });

  it.each([
    [
      'another protocol',
      "send({ id: 0, type: 'hello', protocol: 2, frameworkVersion: '1' })",
      'runtime/protocol',
      'version 2 of the protocol, expected 1',
    ],
    ['no version', "send({ id: 0, type: 'hello', protocol: 1 })", 'runtime/protocol', 'which version'],
    [
      'an error instead of a hello',
      "send({ id: 0, type: 'error', reason: 'model', message: 'no torch' })",
      'runtime/failed',
      'Cannot load "the-model": no torch',
    ],
    ['an exit', 'process.exit(3)', 'runtime/crashed', 'exit code 3'],
  ])('refuses %s', async (_, hello, code, reason) => {
    expect(await fail(program('', hello))).toMatchObject({ code, message: expect.stringContaining(reason) });
  });

  it('does not wait longer than it is told', async () => {
    const failure = await fail('setInterval(() => {}, 1e6)', { timeoutMs: 200 });
    expect(failure).toMatchObject({ code: 'runtime/timeout', message: expect.stringContaining('Cannot load') });
  });

  it('leaves nothing when it is given up', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    const onLog = (line: string) => {
      lines.push(line);
      stop.abort();
    };
    const failure = await fail('console.log(process.pid); setInterval(() => {}, 1e6)', { onLog, signal: stop.signal });
    expect(failure).toMatchObject({ code: 'core/cancelled' });
    expect(() => process.kill(Number(lines[0]), 0)).toThrow('ESRCH');
  });

  it('does not start for a signal that has come', async () => {
    expect(isToolkitError(await fail(program(''), { signal: AbortSignal.abort() }), 'core/cancelled')).toBe(true);
  });
});
