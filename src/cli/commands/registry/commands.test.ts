/** The commands of a registry: options → one call of a verb, its result → the terminal. */
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createMemoryIo } from '../../../../test/support/memory-io.js';
import { createCounters, createError } from '../../../core/index.js';
import type { Ops } from '../../cli.js';
import { runCli } from '../../run-cli.js';

const digest = `sha256:${'a'.repeat(64)}` as const;
const serving = {
  address: '127.0.0.1:5000',
  url: 'http://127.0.0.1:5000',
  dir: '/store',
  readOnly: false,
  mirror: null,
  auth: 'none',
  repository: null,
};
const collected = { dir: '/store', dryRun: false, removed: [], freedBytes: 0, kept: 3, untagged: [], uploads: 0 };
const scrubbed = { dir: '/store', dryRun: false, ok: true, checked: 1, bytes: 1, bad: [], missing: [], affected: [] };
const warmed = { packages: [{ name: 'team/x:v1', digest, blobs: 3, bytes: 10, skipped: 0 }] };

async function call(line: string, verb: keyof Ops, answer: (options: unknown) => unknown) {
  const io = createMemoryIo();
  const asked: unknown[] = [];
  const act = async (options: unknown) => {
    asked.push(options);
    return answer(options);
  };
  const createContext = () => ({ counters: createCounters(), close: async () => {} });
  const load = async () => ({ escapeForDisplay: (text: string) => text, createContext, [verb]: act }) as unknown as Ops;
  const status = runCli(line.split(' '), io, load);
  return { status: await status, asked, io, out: io.stdout.text(), err: io.stderr.text() };
}

describe('options', () => {
  const plain = { listen: '127.0.0.1:5000', gcInterval: '1h', uploadTtl: '7d' };
  it.each<[line: string, verb: keyof Ops, result: unknown, options: object]>([
    ['registry serve', 'serveRegistry', serving, plain],
    [
      'registry serve --dir d --listen :0 --port-file p --read-only --serve-host a --serve-host b --allow-host c --mirror https://h',
      'serveRegistry',
      serving,
      { ...plain, dir: 'd', listen: ':0', portFile: 'p', readOnly: true, serveHosts: ['a', 'b'], allowHosts: ['c'], mirror: 'https://h' },
    ],
    [
      'registry serve --tmp --htpasswd h --token-file t --anonymous-pull --tls-cert c --tls-key k --gc-interval off --upload-ttl 1d --untagged-ttl 30d --access-log l',
      'serveRegistry',
      serving,
      {
        ...plain,
        tmp: true,
        htpasswd: 'h',
        tokenFile: 't',
        anonymousPull: true,
        tlsCert: 'c',
        tlsKey: 'k',
        gcInterval: 'off',
        uploadTtl: '1d',
        untaggedTtl: '30d',
        accessLog: 'l',
      },
    ],
    ['registry serve --insecure-no-auth', 'serveRegistry', serving, { ...plain, insecureNoAuth: true }],
    ['registry gc', 'collectRegistry', collected, { olderThan: '1h' }],
    ['registry gc --dir d -n --untagged --older-than 7d', 'collectRegistry', collected, { dir: 'd', dryRun: true, untagged: true, olderThan: '7d' }],
    ['registry scrub --dir d -n --rate 5MB', 'scrubRegistry', scrubbed, { dir: 'd', dryRun: true, rate: '5MB' }],
    ['registry warm --dir d a.b/x:1 a.b/y:1', 'warmRegistry', warmed, { dir: 'd', names: ['a.b/x:1', 'a.b/y:1'] }],
    [
      'registry warm --dir d --from f.tar --include a --include b a.b/x:1',
      'warmRegistry',
      warmed,
      { dir: 'd', names: ['a.b/x:1'], from: 'f.tar', include: ['a', 'b'] },
    ],
  ])('%s', async (line, verb, result, options) => {
    const { status, asked, err } = await call(line, verb, () => (verb === 'serveRegistry' ? { started: result, ended: Promise.resolve() } : result));
    expect({ status, err, asked }).toEqual({ status: 0, err: '', asked: [options] });
  });

  it('the access log goes to standard output by -', async () => {
    const { asked, io } = await call('registry serve --access-log -', 'serveRegistry', () => ({ started: serving, ended: Promise.resolve() }));
    expect(asked).toEqual([{ ...plain, accessLog: io.stdout }]);
  });
});

describe('a server', () => {
  it('says where it is at once, and the command ends when it does', async () => {
    let end = () => {};
    let say = (_text: string) => {};
    const said = new Promise<string>((resolve) => (say = resolve));
    const ended = new Promise<void>((resolve) => (end = resolve));
    const write = (chunk: Buffer, _encoding: string, done: () => void) => {
      say(chunk.toString());
      done();
    };
    const stdout = Object.assign(new Writable({ write }), { text: () => '' });
    const ops = {
      escapeForDisplay: (text: string) => text,
      createContext: () => ({ close: async () => {} }),
      serveRegistry: async () => ({ started: serving, ended }),
    };
    const running = runCli(['registry', 'serve', '--json'], createMemoryIo({ stdout }), async () => ops as unknown as Ops);
    expect(JSON.parse(await said)).toEqual(serving);
    expect(await Promise.race([running, Promise.resolve('goes on')])).toBe('goes on');
    end();
    expect(await running).toBe(0);
  });

  it('that fails later says so', async () => {
    const failure = createError('bytes/disk-full', { message: 'Cannot go on: the disk is full' });
    const { status, out, err } = await call('registry serve', 'serveRegistry', () => ({ started: serving, ended: Promise.reject(failure) }));
    expect({ status, out, err }).toEqual({
      status: 3,
      out: 'Listening on http://127.0.0.1:5000 (store /store)\n',
      err: 'modelport: Cannot go on: the disk is full\n',
    });
  });
});

describe('exit status', () => {
  it.each([
    [true, 0],
    [false, 1],
  ])('of a scrub that found all well (%s) is %i', async (ok, status) => {
    expect(await call('registry scrub', 'scrubRegistry', () => ({ ...scrubbed, ok }))).toMatchObject({ status });
  });
});
