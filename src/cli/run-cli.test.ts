import { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createMemoryIo, createMemoryStream } from '../../test/support/memory-io.js';
import { createCounters, createError } from '../core/index.js';
import type { OpsContext } from '../ops/index.js';
import type { Ops } from './cli.js';
import { runCli } from './run-cli.js';

const digest = `sha256:${'a'.repeat(64)}` as const;
const bytes = { total: 10, sent: 10, skipped: 0 };
const packed = { format: 'modelpack', vintage: 'cncf', digest, name: 'demo/x:v1', path: null, bytes, lost: [], findings: [], parts: [] };
const moved = { digest, name: 'demo/x:v1', path: null, bytes, lost: [], copied: [] };
const escapeForDisplay = (text: string) => text.replaceAll('\u001b', '\\u{1b}');

/** Verbs that note how they were called and give back what they are told to. */
function fakeOps(results: Partial<Record<keyof Ops, unknown>>) {
  const calls: { verb: string; options: unknown; context: OpsContext }[] = [];
  const verbs = Object.entries(results).map(([verb, result]) => [
    verb,
    async (options: unknown, context: OpsContext) => {
      calls.push({ verb, options, context });
      if (result instanceof Error) throw result;
      return typeof result === 'function' ? (result(context) as unknown) : result;
    },
  ]);
  const createContext = (given: Partial<OpsContext>) => ({ counters: createCounters(), close: async () => {}, ...given });
  const load = async () => ({ escapeForDisplay, createContext, ...Object.fromEntries(verbs) }) as Ops;
  return { load, calls };
}

async function call(line: readonly string[], results: Partial<Record<keyof Ops, unknown>> = {}, given: Parameters<typeof createMemoryIo>[0] = {}) {
  const io = createMemoryIo(given);
  const { load, calls } = fakeOps(results);
  const status = await runCli(line, io, load);
  return { status, calls, out: io.stdout.text(), err: io.stderr.text() };
}

describe('options', () => {
  const inspected = {
    format: 'modelpack',
    location: 'x',
    digest,
    modelHash: null,
    identity: {},
    weights: {},
    parts: [],
    io: { inputs: [], outputs: [], selfTests: 0, examples: 0 },
    run: {},
    encrypted: false,
    extra: {},
    findings: [],
  };
  const equal = {
    equal: true,
    metadata: [],
    files: { added: [], removed: [], changed: [], renamed: [] },
    tensors: { added: [], removed: [], changed: [] },
  };
  const pushed = { host: 'h:1', repository: 'x', tag: 'latest' };
  const cases: [verb: keyof Ops, line: string, result: unknown, options: unknown][] = [
    ['init', 'init', { path: 'modelport.toml', text: '', findings: [] }, { dir: '.' }],
    ['init', 'init ./m --force -o m.toml', { path: 'm.toml', text: '', findings: [] }, { dir: './m', force: true, output: 'm.toml' }],
    ['init', 'init -y', { path: 'modelport.toml', text: '', findings: [] }, { dir: '.', force: true }],
    ['pack', 'pack -t demo/x:v1', packed, { dir: '.', format: 'modelpack', name: 'demo/x:v1' }],
    [
      'pack',
      'pack ./m -o m.tar --vintage cnai --layers raw --layers doc=tar --hybrid -f Modelfile --set a=b --set c=d',
      packed,
      {
        dir: './m',
        format: 'modelpack',
        output: 'm.tar',
        vintage: 'cnai',
        layers: ['raw', 'doc=tar'],
        hybrid: true,
        file: 'Modelfile',
        set: ['a=b', 'c=d'],
      },
    ],
    ['inspect', 'inspect x --tensors --digest --local', inspected, { location: 'x', tensors: true, digest: true }],
    ['ls', 'ls x', { files: [], findings: [] }, { location: 'x' }],
    ['ls', 'ls -l x --digests', { files: [], findings: [] }, { location: 'x', digests: true }],
    ['validate', 'validate x --strict', { format: 'modelpack', valid: true, findings: [] }, { location: 'x', strict: true }],
    ['verify', 'verify x', { ok: true, checked: { files: 1, bytes: 1 }, problems: [], signatures: [] }, { location: 'x' }],
    [
      'unpack',
      'unpack x -o d --include a --include b --exclude c -f --same-owner',
      { path: 'd', files: 1, bytes: 1, digest, findings: [] },
      { location: 'x', output: 'd', include: ['a', 'b'], exclude: ['c'], overwrite: true, sameOwner: true },
    ],
    ['unpack', 'unpack x -o d --shared', { path: 'd', files: 1, bytes: 1, digest, findings: [] }, { location: 'x', output: 'd', shared: true }],
    ['copy', 'copy --all --referrers a b', moved, { source: 'a', destination: 'b', all: true, referrers: true }],
    ['push', 'push a', { ...moved, pushed }, { source: 'a' }],
    [
      'push',
      'push ./m h:1/x --vintage cnai --layers raw --hybrid -f Kitfile --set a=b --referrers',
      { ...moved, pushed },
      { source: './m', destination: 'h:1/x', vintage: 'cnai', layers: ['raw'], hybrid: true, file: 'Kitfile', set: ['a=b'], referrers: true },
    ],
    ['pull', 'pull h:1/x --referrers', { ...moved, findings: [] }, { name: 'h:1/x', referrers: true }],
    [
      'pull',
      'pull h:1/x -o d --include a --exclude b -f --same-owner --shared',
      { ...moved, path: 'd', files: 1, findings: [] },
      { name: 'h:1/x', output: 'd', include: ['a'], exclude: ['b'], overwrite: true, sameOwner: true, shared: true },
    ],
    ['logout', 'logout h:1', { host: 'h:1', removed: true }, { host: 'h:1' }],
    [
      'convert',
      'convert a b --vintage cnai --dry-run --fail-on-loss',
      { ...moved, format: 'modelpack', dryRun: true, findings: [] },
      { source: 'a', destination: 'b', format: 'modelpack', vintage: 'cnai', dryRun: true, failOnLoss: true },
    ],
    [
      'convert',
      'convert a -o b.tar',
      { ...moved, format: 'modelpack', dryRun: false, findings: [] },
      { source: 'a', destination: 'b.tar', format: 'modelpack' },
    ],
    [
      'edit',
      'edit x -t demo/x:v2 --set a=b --add N:doc --remove old',
      { ...moved, from: digest, changed: [], findings: [] },
      { location: 'x', name: 'demo/x:v2', set: ['a=b'], add: ['N:doc'], remove: ['old'] },
    ],
    ['diff', 'diff a b --values', equal, { a: 'a', b: 'b', values: true }],
    ['list', 'list', { packages: [], next: null }, {}],
    ['list', 'list oci:d', { packages: [], next: null }, { location: 'oci:d' }],
    ['tag', 'tag a b', { name: 'b', digest, replaced: null }, { source: 'a', name: 'b' }],
    ['rm', 'rm -y a b', { removed: [] }, { names: ['a', 'b'] }],
    ['rm', 'rm --remote --yes h:1/a', { removed: [] }, { names: ['h:1/a'] }],
    ['prune', 'prune -n', { dryRun: true, removed: [], freedBytes: 0, kept: 0 }, { dryRun: true }],
    ['doctor', 'doctor', { ok: true, checks: [] }, {}],
  ];

  it.each(cases)('%s: %s', async (verb, line, result, options) => {
    const { status, calls, err } = await call(line.split(' '), { [verb]: result });
    expect({ status, err, verbs: calls.map((each) => [each.verb, each.options]) }).toEqual({
      status: 0,
      err: expect.not.stringContaining('modelport:'),
      verbs: [[verb, options]],
    });
  });

  it('become the context that the verb works in', async () => {
    const { calls } = await call(
      ['ls', 'x', '--concurrency', '3'],
      { ls: { files: [], findings: [] } },
      { cwd: '/some/where', env: { MODELPORT_HOME: '/home' } },
    );
    expect(calls[0]?.context).toMatchObject({ concurrency: 3, cwd: '/some/where', env: { MODELPORT_HOME: '/home' } });
  });

  it.each([
    ['', { names: 'auto' }],
    ['--local', { names: 'local' }],
    ['--remote --plain-http --insecure', { names: 'remote', plainHttp: true, insecure: true }],
    ['--ca-file a --cert b --key c', { names: 'auto', caFile: 'a', cert: 'b', key: 'c' }],
    ['--mirror a --mirror http://b/c', { names: 'auto', mirrors: ['a', 'http://b/c'] }],
  ])('say how registries are spoken to: %j', async (options, network) => {
    const words = options.split(' ').filter((word) => word !== '');
    const { calls } = await call(['ls', 'x', ...words], { ls: { files: [], findings: [] } });
    expect(calls[0]?.context.network).toEqual(network);
  });

  it('a login is read from standard input, and handed to the verb alone', async () => {
    const login = { host: 'h:1', username: 'u', where: 'f', encrypted: true, asked: true };
    const { status, calls, out, err } = await call(
      ['login', 'h:1', '-u', 'u', '--password-stdin'],
      { login },
      { stdin: Readable.from([Buffer.from('word\n')]) },
    );
    expect([status, calls[0]?.options]).toEqual([0, { host: 'h:1', username: 'u', password: 'word' }]);
    expect(out + err).not.toContain('word');
  });
});

describe('--json', () => {
  it('prints the result as it is, and nothing else', async () => {
    const { status, out, err } = await call(['pack', '-t', 'x', '--json'], {
      pack: { ...packed, findings: [{ level: 'warning', code: 'a/b', message: 'm' }] },
    });
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(JSON.parse(out)).toEqual({ ...packed, findings: [{ level: 'warning', code: 'a/b', message: 'm' }] });
  });

  it('prints an error as one document, with its findings', async () => {
    const finding = { level: 'error', code: 'a/b', message: 'm' } as const;
    const error = createError('ops/refused', { message: 'Cannot pack "x": no', hint: 'Do', where: 'x', findings: [finding] });
    const { status, out, err } = await call(['pack', '-t', 'x', '--json'], { pack: error });
    expect({ status, err }).toEqual({ status: 1, err: '' });
    expect(JSON.parse(out)).toEqual({ error: { code: 'ops/refused', message: 'Cannot pack "x": no', hint: 'Do', where: 'x' }, findings: [finding] });
  });

  it.each([
    ['inspect --json'],
    ['inspect x --nope --json'],
    ['nope --json'],
    ['pack --json'],
    ['inspect - --json'],
    ['cat x y --json'],
    ['unpack x --json'],
  ])('says wrong usage in one document: %s', async (line) => {
    const { status, out, err } = await call(line.split(' '));
    expect({ status, err }).toEqual({ status: 2, err: '' });
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'cli/usage' } });
  });

  it('after -- is a word like any other', async () => {
    const { out, err } = await call(['inspect', '--', '--json', 'y']);
    expect(out).toBe('');
    expect(err).toContain('Too many arguments');
  });

  it('holds no character that a terminal would obey', async () => {
    const { out } = await call(['ls', 'x', '--json'], {
      ls: { files: [{ path: 'a\u009b31m\u202eb', role: 'doc', size: 1, digest: null, mode: null }] },
    });
    expect(out).not.toMatch(/[\u007f-\u009f\u202e]/);
    expect(JSON.parse(out)).toMatchObject({ files: [{ path: 'a\u009b31m\u202eb' }] });
  });
});

describe('exit status', () => {
  const bad = { level: 'error', code: 'a/b', message: 'm' };
  const odd = { level: 'warning', code: 'a/b', message: 'm' };
  const cases: [line: string, result: unknown, status: number][] = [
    ['validate x', { format: 'f', valid: false, findings: [bad] }, 1],
    ['validate x', { format: 'f', valid: true, findings: [odd] }, 0],
    ['validate x --strict', { format: 'f', valid: true, findings: [odd] }, 1],
    ['verify x', { ok: false, checked: { files: 1, bytes: 1 }, problems: [bad], signatures: [] }, 1],
    [
      'diff a b',
      {
        equal: false,
        metadata: [],
        files: { added: ['n'], removed: [], changed: [], renamed: [] },
        tensors: { added: [], removed: [], changed: [] },
      },
      1,
    ],
    ['doctor', { ok: false, checks: [{ name: 'node', status: 'error', message: 'too old' }] }, 3],
    ['ls x', createError('bytes/not-found', { message: 'm' }), 3],
    ['ls x', createError('store/ambiguous', { message: 'm' }), 2],
    ['ls x', Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', syscall: 'open', path: 'x' }), 3],
    ['ls x', new TypeError('x is not a function'), 70],
  ];
  it.each(cases)('%s, %j → %i', async (line, result, status) => {
    expect(await call(line.split(' '), { [line.split(' ')[0] as keyof Ops]: result })).toMatchObject({ status });
  });

  it('is 130 when a person interrupted, whatever the verb threw', async () => {
    const signal = AbortSignal.abort();
    const { status, err } = await call(['ls', 'x'], { ls: new Error('aborted') }, { signal });
    expect({ status, err }).toEqual({ status: 130, err: 'modelport: Interrupted\n' });
  });

  it('stays what it is when nobody reads the result', async () => {
    const stdout = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('gone'), { code: 'EPIPE' })) }), {
      text: () => '',
    });
    stdout.on('error', () => {});
    const { status, err } = await call(['validate', 'x'], { validate: { format: 'f', valid: false, findings: [bad] } }, { stdout });
    expect({ status, err }).toEqual({ status: 1, err: '' });
  });
});

describe('messages', () => {
  it('stand on standard error: cause, place, advice', async () => {
    const { out, err } = await call(['ls', 'x'], {
      ls: createError('store/name-not-found', { message: 'Cannot find "x": no such name', where: 'store', hint: 'See `modelport list`' }),
    });
    expect(out).toBe('');
    expect(err).toBe('modelport: Cannot find "x": no such name\n  where: store\n  hint: See `modelport list`\n');
  });

  it('never carry a control character of a package to the terminal', async () => {
    const { err } = await call(['ls', 'x'], { ls: createError('bytes/unsafe-path', { message: 'Cannot use "\u001b[2J"', where: '\u001b]0;x' }) });
    expect(err).not.toContain('\u001b');
  });

  it('ask for a report of a bug, and show its stack only when wanted', async () => {
    const quiet = await call(['ls', 'x'], { ls: new TypeError('odd') });
    expect(quiet.err).toContain('This is a bug of modelport: TypeError: odd');
    expect(quiet.err).toContain('MODELPORT_DEBUG=1');
    expect(quiet.err).not.toContain('    at ');
    const loud = await call(['ls', 'x'], { ls: new TypeError('odd') }, { env: { MODELPORT_DEBUG: '1' } });
    expect(loud.err).toContain('    at ');
  });

  it('still come when the verbs cannot be loaded', async () => {
    const io = createMemoryIo();
    const status = await runCli(['ls', 'x'], io, () => Promise.reject(new Error('dist is broken')));
    expect(status).toBe(70);
    expect(io.stderr.text()).toContain('dist is broken');
  });
});

describe('output', () => {
  const withRemarks = { ...packed, findings: [{ level: 'note', code: 'ops/role', message: 'took a.bin for weights' }] };

  it('keeps remarks away from standard output', async () => {
    const { out, err } = await call(['pack', '-t', 'x'], { pack: withRemarks });
    expect(out).not.toContain('a.bin');
    expect(err).toBe('note ops/role: took a.bin for weights\n');
  });

  it('is the digest alone with --quiet', async () => {
    expect(await call(['pack', '-t', 'x', '--quiet'], { pack: withRemarks })).toMatchObject({ out: `${digest}\n`, err: '' });
  });

  it('ends with the counters with --verbose, after an error, too', async () => {
    const count = (context: OpsContext) => {
      context.counters.read = 1234;
      throw createError('bytes/io', { message: 'no' });
    };
    const { err } = await call(['ls', 'x', '--verbose'], { ls: count });
    expect(err).toMatch(/^bytes read +1234 +1\.23 kB$/m);
    expect(err).toContain('modelport: no');
  });

  it('has colours at a terminal, unless told otherwise', async () => {
    const terminal = () => ({ stdout: createMemoryStream({}) });
    const at = async (line: string[], given: Parameters<typeof createMemoryIo>[0]) =>
      (await call(['tag', 'a', 'b', ...line], { tag: { name: 'b', digest, replaced: null } }, given)).out;
    expect(await at([], terminal())).toContain('\u001b[32m');
    expect(await at([], { ...terminal(), env: { NO_COLOR: '1' } })).not.toContain('\u001b');
    expect(await at([], { ...terminal(), env: { TERM: 'dumb' } })).not.toContain('\u001b');
    expect(await at(['--color', 'never'], terminal())).not.toContain('\u001b');
    expect(await at([], {})).not.toContain('\u001b');
    expect(await at(['--color=always'], {})).toContain('\u001b[32m');
  });

  it('of cat is the file, byte for byte', async () => {
    const content = { size: 3, open: async () => [Uint8Array.of(0, 27), Uint8Array.of(255)] };
    const chunks: Buffer[] = [];
    const stdout = Object.assign(new Writable({ write: (chunk: Buffer, _encoding, done) => (chunks.push(Buffer.from(chunk)), done()) }), {
      text: () => '',
    });
    expect((await call(['cat', 'x', 'a.bin'], { cat: content }, { stdout })).status).toBe(0);
    expect(Buffer.concat(chunks)).toEqual(Buffer.of(0, 27, 255));
  });

  it('of init -o - is the text, exactly in a pipe and harmless at a terminal', async () => {
    const result = { path: null, text: 'a = 1\nb = "\u001b"\n', findings: [] };
    expect((await call(['init', '-o', '-'], { init: result })).out).toBe('a = 1\nb = "\u001b"\n');
    expect((await call(['init', '-o', '-'], { init: result }, { stdout: createMemoryStream({}) })).out).toBe('a = 1\nb = "\\u{1b}"\n');
  });
});

describe('init', () => {
  it('asks nobody without a terminal when a file is in the way', async () => {
    const { status, calls, err } = await call(['init'], { init: createError('buildfile/exists', { message: 'Cannot write', hint: 'Use --force' }) });
    expect({ status, calls: calls.length, err }).toEqual({ status: 3, calls: 1, err: 'modelport: Cannot write\n  hint: Use --force\n' });
  });
});

describe('version', () => {
  it.each([['version'], ['--version'], ['-V']])('%s', async (word) => {
    const { status, out } = await call([word]);
    expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(/^modelport \d+\.\d+\.\d+\S* \(node v\d+\.\d+\.\d+, \w+-\w+\)\n$/) });
  });

  it('as JSON', async () => {
    expect(JSON.parse((await call(['version', '--json'])).out)).toEqual({
      modelport: expect.any(String),
      node: process.version,
      platform: expect.any(String),
    });
  });
});
