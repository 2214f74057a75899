/** The bundled program as a process of its own: what only a process can show. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-e2e-'));
  mkdirSync(join(folder, 'many'));
  for (let at = 0; at < 3000; at++) writeFileSync(join(folder, `many/a-name-that-fills-the-pipe-sooner-${at}.md`), `${at}\n`);
  mkdirSync(join(folder, 'large'));
  writeFileSync(join(folder, 'large/model.bin'), '');
  truncateSync(join(folder, 'large/model.bin'), 2 ** 31);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(argv: readonly string[]): ChildProcess {
  const env = { ...process.env, MODELPORT_HOME: join(folder, 'home'), TMPDIR: join(folder, 'tmp') };
  mkdirSync(env.TMPDIR, { recursive: true });
  return spawn(process.execPath, [program, ...argv], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

function finish(child: ChildProcess): Promise<Ended> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve, reject) => child.on('error', reject).on('close', (code) => resolve({ code, out, err })));
}

const run = (...argv: string[]) => finish(start(argv));

function listFiles(place: string): string[] {
  return readdirSync(join(folder, place), { recursive: true, encoding: 'utf8' });
}

describe('the program', () => {
  it('starts', async () => {
    expect(await run('version')).toEqual({ code: 0, out: expect.stringMatching(/^modelport \d/), err: '' });
  });

  it('ends although a thread was started and had nothing to do', async () => {
    mkdirSync(join(folder, 'medium'));
    writeFileSync(join(folder, 'medium/model.bin'), Buffer.alloc(9_000_000, 'weights'));
    writeFileSync(join(folder, 'medium/README.md'), '# medium\n');
    expect(await run('pack', './medium', '-t', 'medium:v1')).toMatchObject({ code: 0 });
    expect(await run('unpack', 'medium:v1', '-o', 'readme', '--include', 'README.md')).toMatchObject({ code: 0 });
  });

  it('tells mistakes by status, and says them on standard error', async () => {
    expect(await run('pakc')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Did you mean pack?') });
  });

  it('says nothing when its reader goes away', async () => {
    expect(await run('pack', './many', '-t', 'many:v1')).toMatchObject({ code: 0 });
    const child = start(['ls', '--json', 'many:v1']);
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await finish(child)).toMatchObject({ code: 0, err: '' });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('cleans up after %s and ends with %i', async (signal, status) => {
    const before = listFiles('home/blobs').sort();
    const child = start(['pack', './large', '-t', 'large:v1', '--progress', 'json']);
    const hasBegun = (chunk: Buffer) => void (chunk.includes('"event":"progress"') && child.kill(signal));
    child.stderr?.on('data', hasBegun);
    const { code, out, err } = await finish(child);
    expect({ code, out }).toEqual({ code: status, out: '' });
    expect(err).toMatch(/modelport: Interrupted\n$/);
    expect(listFiles('home/blobs').sort()).toEqual(before);
    expect(listFiles('home').filter((file) => file.includes('.tmp') || /ingest\/./.test(file))).toEqual([]);
    expect(listFiles('tmp')).toEqual([]);
  });
});
