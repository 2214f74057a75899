/** The program with its real verbs, in one process: what a new user would do, in a pipe. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryIo } from '../../test/support/memory-io.js';
import { runCli } from './run-cli.js';

let folder: string;
let digest: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-cli-'));
  const header = Buffer.from(JSON.stringify({ w: { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] } }).padEnd(64));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  mkdirSync(join(folder, 'model'));
  writeFileSync(join(folder, 'model/model.safetensors'), Buffer.concat([length, header, Buffer.alloc(16, 1)]));
  writeFileSync(join(folder, 'model/config.json'), '{"model_type":"mlp"}');
  writeFileSync(join(folder, 'model/README.md'), '# A model\n');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function call(...argv: string[]) {
  const io = createMemoryIo({ cwd: folder, env: { MODELPORT_HOME: join(folder, 'home') } });
  const status = await runCli(argv, io);
  return { status, out: io.stdout.text(), err: io.stderr.text() };
}

async function callJson(...argv: string[]) {
  const { status, out, err } = await call(...argv, '--json');
  return { status, err, result: JSON.parse(out) };
}

describe('a first session', () => {
  it('packs a folder', async () => {
    const { status, result, err } = await callJson('pack', './model', '-t', 'demo/x:v1');
    expect({ status, err, result }).toMatchObject({ status: 0, err: '', result: { format: 'modelpack', vintage: 'cncf', name: 'demo/x:v1' } });
    digest = result.digest;
  });

  it('packs it again to the same digest, and writes nothing', async () => {
    const { result } = await callJson('pack', './model', '-t', 'demo/x:again');
    expect(result).toMatchObject({ digest, bytes: { sent: 0 } });
    expect(await call('pack', './model', '-t', 'demo/x:again', '--quiet')).toEqual({ status: 0, out: `${digest}\n`, err: '' });
  });

  it('sees what it is', async () => {
    const { status, result } = await callJson('inspect', 'demo/x:v1', '--tensors');
    expect({ status, result }).toMatchObject({
      status: 0,
      result: { digest, from: 'store', weights: { format: 'safetensors', parameters: 4 }, tensors: [{ name: 'w' }] },
    });
    expect((await call('inspect', 'demo/x:v1')).out).toMatch(/^ {2}parameters +4\b/m);
  });

  it('lists and reads its files', async () => {
    expect(await call('ls', 'demo/x:v1')).toMatchObject({ status: 0, out: expect.stringContaining('model.safetensors\n') });
    expect(await call('cat', 'demo/x:v1', 'README.md')).toEqual({ status: 0, out: '# A model\n', err: '' });
  });

  it('finds it right', async () => {
    expect(await callJson('validate', 'demo/x:v1')).toMatchObject({ status: 0, result: { valid: true } });
    expect(await callJson('verify', 'demo/x:v1')).toMatchObject({ status: 0, result: { ok: true } });
  });

  it('takes it along as a file, and back', async () => {
    expect(await callJson('copy', 'demo/x:v1', 'x.tar')).toMatchObject({ status: 0, result: { digest } });
    expect(await callJson('copy', 'x.tar', 'demo/x:back')).toMatchObject({ status: 0, result: { digest, name: 'demo/x:back' } });
    expect(await callJson('unpack', 'x.tar', '-o', 'out')).toMatchObject({ status: 0, result: { files: 3 } });
    expect(readdirSync(join(folder, 'out')).sort()).toEqual(['README.md', 'config.json', 'model.safetensors']);
    expect(readFileSync(join(folder, 'out/model.safetensors'))).toEqual(readFileSync(join(folder, 'model/model.safetensors')));
    expect((await callJson('diff', 'demo/x:v1', './out')).result.files).toEqual({ added: [], removed: [], changed: [], renamed: [] });
  });

  it('changes a word, and sees that it did', async () => {
    const { status, result } = await callJson('edit', 'demo/x:v1', '-t', 'demo/x:v2', '--set', 'licenses=MIT');
    expect({ status, result }).toMatchObject({ status: 0, result: { from: digest, name: 'demo/x:v2' } });
    const { status: differs, out } = await call('diff', 'demo/x:v1', 'demo/x:v2');
    expect({ differs, out }).toMatchObject({ differs: 1, out: expect.stringContaining('+ identity.licenses: ["MIT"]') });
  });

  it('stamps it as another edition', async () => {
    expect(await callJson('convert', 'demo/x:v1', 'demo/x:cnai', '--vintage', 'cnai')).toMatchObject({
      status: 0,
      result: { vintage: 'cnai', bytes: { sent: 0 } },
    });
  });

  it('tidies up', async () => {
    expect(await callJson('tag', 'demo/x:v1', 'demo/x:keep')).toMatchObject({ status: 0, result: { digest } });
    expect(await callJson('rm', 'demo/x:v1', 'demo/x:again', 'demo/x:back', 'demo/x:v2', 'demo/x:cnai')).toMatchObject({ status: 0 });
    expect(await callJson('prune')).toMatchObject({ status: 0, result: { dryRun: false } });
    expect(await call('list', '--quiet')).toEqual({ status: 0, out: 'demo/x:keep\n', err: '' });
    expect(await callJson('verify', 'demo/x:keep')).toMatchObject({ status: 0, result: { ok: true } });
  });

  it('looks after the store as a registry would', async () => {
    expect(await callJson('registry', 'gc')).toMatchObject({ status: 0, result: { dryRun: false, removed: [], untagged: [], uploads: 0 } });
    expect(await callJson('registry', 'scrub')).toMatchObject({ status: 0, result: { ok: true, bad: [], missing: [], affected: [] } });
    expect((await call('registry', 'scrub')).out).toMatch(/^Good: \d+ blobs, /);
  });

  it('describes the folder', async () => {
    expect(await call('init', './model', '-o', '-')).toMatchObject({ status: 0, out: expect.stringContaining('[package]') });
    expect(await callJson('doctor')).toMatchObject({ status: 0, result: { ok: true } });
  });
});

describe('what is not there', () => {
  it.each([
    [['inspect', 'demo/none:v1'], 'store/name-not-found'],
    [['verify', './none'], 'bytes/not-found'],
    [['copy', 'demo/none:v1', 'none.tar'], 'store/name-not-found'],
  ])('%j is the world', async (argv, code) => {
    expect(await callJson(...argv)).toMatchObject({ status: 3, err: '', result: { error: { code } } });
  });

  it('is named, with the nearest that is there', async () => {
    const { status, out, err } = await call('cat', 'demo/x:keep', 'readme.md');
    expect({ status, out, err }).toEqual({ status: 3, out: '', err: expect.stringContaining('hint: Did you mean "README.md"?') });
  });
});
